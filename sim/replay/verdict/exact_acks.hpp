// ACKs and NAKs one by one, in order, with syndrome and credits.
#pragma once
#include <vector>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

// Where the two part, they are aligned again at the nearest ACK that both have; what lies between is different pair by
// pair, then missing or extra.
class ExactAcks {
 public:
  void add(Side side, const Sighting& ack, VerdictCounts& counts);
  void give_up(VerdictCounts& counts, const char* reason);
  void finish(VerdictCounts& counts);

 private:
  void match_fronts(VerdictCounts& counts);
  void align(VerdictCounts& counts);
  bool find_common(size_t& captured, size_t& simulated) const;
  void drop(size_t captured, size_t simulated);

  std::vector<Sighting> waiting_[2];  // per side, in order
};

}  // namespace sim
