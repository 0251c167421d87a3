// The NIC as responder: what one captured endpoint answered, compared by meaning with what the simulated NIC in its
// place answers to the same requests.
#pragma once
#include <memory>

#include "sim/replay/verdict/acks.hpp"
#include "sim/replay/verdict/counts.hpp"

namespace sim {

// Of one connection. Calls come in the order of the capture; what the NIC sends may come any number of packets earlier
// or later than its counterpart. Memory beyond the object itself is taken only while something is outstanding.
class AnswerVerdict {
 public:
  // `verdicts` outlives the object; several may share it.
  AnswerVerdict(const VerdictOptions& options, Verdicts& verdicts);
  AnswerVerdict(AnswerVerdict&&) noexcept;
  ~AnswerVerdict();

  // A request that was fed to the NIC: `psns` PSNs (of a READ: its responses) from `psn`. `again`: the requester went
  // back to it.
  void request(uint32_t psn, uint32_t psns, uint8_t opcode, bool ack_request, bool again, uint64_t index);
  // An answer of the endpoint, or of the NIC.
  void captured(const TransportPacket& packet, uint64_t index, int64_t time_ns);
  void simulated(const TransportPacket& packet);
  // The capture does not hold these requests: answers to them and to what follows cannot be compared, until they are
  // fed after all or the NIC's state is set anew.
  void not_fed(uint32_t psn, uint32_t count);
  // The NIC expects `psn` from here on, having completed `msn` messages. Answers before it are compared no more.
  void restart(uint32_t psn, uint32_t msn);
  // `other_direction_captured`: the capture holds the endpoint's answers at all.
  void finish(bool other_direction_captured);

 private:
  struct Outstanding;

  void answer(Side side, const Sighting& sighting);
  void judge(Side side, const Sighting& sighting);
  void judge_nak(Side side, const Sighting& sighting);
  bool refuse(const Sighting& nak);
  bool serves_beyond_limit(uint32_t psn);
  void end(Quirk quirk, const Sighting* captured, const Sighting* simulated);
  bool is_refused(Side side, const Sighting& sighting);
  const char* why_not_comparable(Side side, uint32_t psn) const;
  void cover(Side side, uint32_t psn);
  void fill_hole(uint32_t psn, uint32_t psns);
  void give_up(const char* reason);
  Outstanding& outstanding();

  Verdicts* verdicts_;
  std::unique_ptr<Outstanding> outstanding_;
  AckJudge acks_;
  uint64_t index_ = 0;       // of the captured packet last seen
  uint32_t next_psn_ = 0;    // behind the last new request
  uint32_t floor_ = 0;       // PSNs before it belong to another state of the NIC
  uint32_t hole_ = 0;        // first PSN that the NIC was not fed
  uint32_t hole_psns_ = 0;   // 0: all were fed
  uint32_t invalidate_ = 0;  // PSN of the last SEND with Invalidate
  uint32_t refused_ = 0;     // PSN of the endpoint's fatal NAK
  bool started_ = false, is_refused_ = false, invalidates_ = false;
  VerdictOptions options_;
};

}  // namespace sim
