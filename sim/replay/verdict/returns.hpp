// Where each side went back to a PSN that it had sent before, and whether it was told to.
#pragma once
#include <optional>
#include <vector>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

class ReturnJudge {
 public:
  explicit ReturnJudge(Peer peer) : peer_(peer) {}

  // A sequence NAK or an RNR NAK of `psn` was fed.
  void told(uint32_t psn, VerdictCounts& counts);
  // A side sends again from a PSN on.
  void went_back(Side side, const Sighting& first, VerdictCounts& counts);
  // An answer that was fed acknowledges all up to `psn`; before it, the answers from `first` on were skipped.
  void acknowledge(uint32_t psn, uint32_t first);
  void give_up(VerdictCounts& counts, const char* reason);
  void finish(VerdictCounts& counts);

 private:
  struct Return {
    uint32_t psn = 0;
    bool told = false;
    bool acknowledged = false;  // later on
    bool skipped = false;       // answers were, at its PSN or before: READs are to be asked for again
    std::optional<Sighting> by[2];
  };

  void compare(const Return& r, VerdictCounts& counts);
  void resolve(const Return& r, VerdictCounts& counts);
  void add(const Return& r, VerdictCounts& counts);

  bool follows_skip(uint32_t psn) const;
  bool goes_over(Side side, uint32_t psn) const;

  Peer peer_;
  std::vector<uint32_t> back_to_[2];  // where each side went back to lately
  std::vector<uint32_t> skips_;       // first PSNs of the answers that were skipped last
  std::vector<Return> returns_;
};

}  // namespace sim
