// Negative acknowledgements, RNR NAKs among them: PSN, kind and MSN agree; the RNR timer is the endpoint's choice.
#pragma once
#include <vector>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

// Upper bits of the syndrome and, of a NAK, its code.
bool is_positive(uint8_t syndrome);
bool is_rnr(uint8_t syndrome);
bool is_fatal(uint8_t syndrome);

class NakJudge {
 public:
  explicit NakJudge(Peer peer) : peer_(peer) {}

  // The requester went back to these PSNs.
  void went_back(uint32_t psn, uint32_t psns);
  // `other_covered`: the last PSN that the other side has acknowledged.
  void nak(Side side, const Sighting& nak, uint32_t other_covered, VerdictCounts& counts);
  // The side acknowledged all up to `psn`.
  void cover(Side side, uint32_t psn, VerdictCounts& counts);
  // Takes a NAK out: it is judged with what the other side sent instead. False where none waits.
  bool withdraw(Side side, uint32_t psn, uint8_t syndrome);
  void give_up(VerdictCounts& counts, const char* reason);
  void finish(VerdictCounts& counts);

 private:
  struct Waiting {
    Sighting nak;
    Side side = kCaptured;
    bool retried = false;    // the requester went back to it
    bool after_rnr = false;  // the same side refused the PSN with an RNR NAK before
  };
  struct Return {
    uint32_t first, end;  // PSNs that were sent again
  };

  bool pair(Side side, const Sighting& nak, VerdictCounts& counts);
  void resolve(size_t i, VerdictCounts& counts);
  void resolve_captured(const Waiting& w, VerdictCounts& counts);
  void resolve_simulated(const Waiting& w, VerdictCounts& counts);
  void contradict(const Waiting& a, const Waiting& b, VerdictCounts& counts);
  size_t find_partner(size_t i) const;
  bool was_retried(uint32_t psn) const;

  Peer peer_;
  std::vector<Waiting> waiting_;
  std::vector<Return> returns_;  // of the requester, the last ones
  uint32_t rnr_psn_ = 0;         // of the endpoint's last RNR NAK
  bool has_rnr_ = false;
};

}  // namespace sim
