// The requests of one host on a connection, and the answers to them, packet by packet.
#pragma once
#include <deque>
#include <map>
#include <vector>

#include "sim/extract/observed.hpp"
#include "sim/replay/held_packet.hpp"

namespace sim {

class Conversation {
 public:
  // `line_was_idle`: since the host's last request on the connection.
  void request(const HeldPacket& packet, bool line_was_idle);
  void answer(const HeldPacket& packet);

  // In the order of PSNs.
  std::vector<ObservedMessage> messages() const;
  const std::vector<ObservedLoss>& losses() const { return losses_; }
  uint64_t incomplete() const { return incomplete_; }  // messages whose end is not captured

 private:
  static constexpr size_t kReads = 256;  // more than a requester has under way

  struct Read {
    uint32_t psn, psns, next;  // next: response that is due
  };

  void begin(const HeldPacket& packet, bool line_was_idle);
  void note_end(const HeldPacket& packet);
  void note_late(const HeldPacket& packet);
  void retry(const HeldPacket& packet);
  void lose(LostKind kind, uint32_t psn, bool ahead);
  void read_response(const HeldPacket& packet);
  void complete(int64_t time_ns);
  bool is_complete(const ObservedMessage& m) const;
  Read* read_with(uint32_t psn);

  std::vector<ObservedMessage> messages_;  // as they were seen
  size_t completed_ = 0;                   // of them, the first so many
  std::vector<ObservedLoss> losses_;
  std::map<std::pair<LostKind, uint32_t>, uint32_t> copies_;  // lost so far
  std::deque<Read> reads_;       // the last kReads: one may be asked for again when the tap has seen all of it
  std::vector<uint32_t> asked_;  // last PSNs of messages that asked for an ACK and have none
  bool begun_ = false, answered_ = false;
  uint32_t first_ = 0, next_ = 0;    // first PSN; behind the newest request
  uint32_t last_ = 0;                // PSN behind the packet before
  uint32_t acknowledged_ = 0;        // once answered_
  std::optional<uint32_t> refused_;  // by a NAK, and not sent again
  // By the last RNR NAK: soft-RoCE sends sequence NAKs of that PSN too, which tell of no loss.
  std::optional<uint32_t> not_ready_;
  bool after_timeout_ = false;  // the run of retransmissions under way began with a time-out
  uint64_t incomplete_ = 0;
};

}  // namespace sim
