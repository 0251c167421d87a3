// The NIC as requester: what one captured endpoint asked for, compared by meaning with what the simulated NIC in its
// place sends for the same work.
#pragma once
#include <memory>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

// Of one connection. Calls come in the order of the capture; what the NIC sends may come any number of packets earlier
// or later than its counterpart. Memory beyond the object itself is taken only while something is outstanding.
class RequestVerdict {
 public:
  // `verdicts` outlives the object; several may share it.
  RequestVerdict(const VerdictOptions& options, Verdicts& verdicts);
  RequestVerdict(RequestVerdict&&) noexcept;
  ~RequestVerdict();

  // A request of the endpoint, or of the NIC, that uses `psns` PSNs (of a READ: its responses). `first_sight`: the
  // capture did not show the packet before.
  void captured(const TransportPacket& packet, uint32_t psns, bool first_sight, uint64_t index, int64_t time_ns);
  void simulated(const TransportPacket& packet, uint32_t psns);
  // An answer that was fed to the NIC.
  void answered(const TransportPacket& packet);
  // Requests that the capture does not hold.
  void not_fed(uint32_t psn, uint32_t count);
  // The NIC sends from `psn` on. What is outstanding is compared no more.
  void restart(uint32_t psn);
  void finish();

 private:
  struct Outstanding;

  void begin(uint32_t psn);
  void went_on(Side side, uint32_t psn, uint32_t psns);
  void sent_again(Side side, const Sighting& sighting, uint32_t psns);
  Outstanding& outstanding();

  Verdicts* verdicts_;
  std::unique_ptr<Outstanding> outstanding_;
  uint64_t index_ = 0;                   // of the captured packet last seen
  uint32_t next_[2] = {0, 0};            // per side: behind its last new request
  uint32_t again_[2] = {0, 0};           // per side: behind the last packet sent again
  bool going_back_[2] = {false, false};  // per side: since its last new request
  uint32_t acknowledged_ = 0;            // last PSN that a fed answer acknowledges
  bool started_ = false;
  VerdictOptions options_;
};

}  // namespace sim
