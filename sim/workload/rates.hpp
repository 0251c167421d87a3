// From the posts and completions of a bandwidth test to rates.
#pragma once
#include <vector>

#include "models/transfer.hpp"

namespace sim {

// What one direction of a bandwidth test achieved.
struct Rates {
  size_t from = 0;  // the node that posted
  uint64_t messages = 0, bytes = 0;
  hw::Picoseconds first_post = 0, last_completion = 0;
  uint64_t steady_messages = 0, steady_bytes = 0;  // in the middle of the run; 0 where it is too short for one
  hw::Picoseconds steady_time = 0;
  uint64_t peak_messages = 0, peak_bytes = 0;  // the fastest messages in a row
  hw::Picoseconds peak_time = 0;
  // Bytes completed in the middle 80 % of the time by the QP with the fewest, and by the one with the most.
  uint64_t least_qp_bytes = 0, most_qp_bytes = 0;

  hw::Picoseconds time() const { return last_completion - first_post; }
};

// Posts in order; messages in the order of their completions.
Rates rates_of(const std::vector<hw::Picoseconds>& posts, const std::vector<models::DoneMessage>& messages);
// `count` in `time`, a second; 0 when there was no time.
double per_second(uint64_t count, hw::Picoseconds time);

}  // namespace sim
