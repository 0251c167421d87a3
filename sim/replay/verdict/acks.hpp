// Positive acknowledgements: what counts is the MSN at each PSN that is acknowledged. How many there are, and where, is
// free.
#pragma once
#include <memory>

#include "sim/replay/verdict/counts.hpp"
#include "sim/replay/verdict/fifo.hpp"

namespace sim {

class AckJudge {
 public:
  // Both sides stand behind the PSN before `psn`; the second where the MSN is not known.
  void restart(uint32_t psn, uint32_t msn);
  void start(uint32_t psn);
  // A request that was fed.
  void request(uint32_t psn, uint32_t psns, bool ack_request, bool again);
  // An ACK, or the ACK of an atomic, of which the MSN alone is judged.
  void acknowledge(Side side, const Sighting& ack, VerdictCounts& counts);
  // An answer of another kind acknowledges all up to `psn`.
  void cover(Side side, uint32_t psn, VerdictCounts& counts);
  // The endpoint refused `psn`: the NIC's ACKs from there on are wrong. How many of them waited.
  size_t refuse(uint32_t psn, const Sighting& nak, VerdictCounts& counts);
  // The ACKs that wait for a counterpart cannot be judged.
  void give_up(VerdictCounts& counts, const char* reason);
  void finish(Peer peer, VerdictCounts& counts);

  // The last PSN that the side acknowledged.
  uint32_t covered(Side side) const { return covered_[side]; }

 private:
  // ACKs of what was sent again, by its own PSN (or that of its message's end) instead of the one completed last.
  struct Reacks {
    uint64_t own_psn[2] = {0, 0};
    Sighting first[2];
    bool completed_psn[2] = {false, false};
  };

  void atomic(Side side, const Sighting& ack, VerdictCounts& counts);
  void repeat(Side side, const Sighting& ack, VerdictCounts& counts);
  bool meet(Side side, const Sighting& ack, VerdictCounts& counts);
  void cover_one(const Sighting& ack, VerdictCounts& counts);
  void lie_between(Side side, const Sighting& ack, VerdictCounts& counts);
  void wait(Side side, const Sighting& ack, VerdictCounts& counts);
  void finish_reacks(Peer peer, VerdictCounts& counts);
  bool is_plausible(uint32_t psn, uint32_t msn) const;
  bool waits_for(Side side) const { return !waiting_.empty() && ahead_ != side; }
  bool is_sent_again(uint32_t psn) const;
  void agree(const Sighting& ack);
  Reacks& reacks();

  Fifo<Sighting> waiting_;  // of the side that is ahead, in the order of PSNs
  std::unique_ptr<Reacks> reacks_;
  uint32_t covered_[2] = {0, 0};
  uint32_t agreed_psn_ = 0, agreed_msn_ = 0;   // the last that is right on both sides
  uint32_t due_ = 0;                           // last PSN that asked for an ACK
  uint32_t again_first_ = 0, again_last_ = 0;  // PSNs that were last sent again
  bool has_agreed_ = false, is_due_ = false, is_again_ = false;
  Side ahead_ = kCaptured;
};

}  // namespace sim
