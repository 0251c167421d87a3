// From the posts and completions of a bandwidth test to rates.
#pragma once
#include <optional>
#include <vector>

#include "models/transfer.hpp"

namespace sim {

// What one direction of a bandwidth test achieved.
struct Rates {
  uint64_t messages = 0, bytes = 0;
  hw::Picoseconds first_post = 0, last_completion = 0;
  // Completed after the instant in which the completions reach 10 % of the bytes, up to that of 90 % (of messages
  // without bytes: of the messages).
  struct Steady {
    uint64_t messages, bytes;
    hw::Picoseconds time;
  };
  std::optional<Steady> steady;  // nothing: the window holds too little to tell
  uint64_t peak_messages = 0, peak_bytes = 0;  // the fastest messages in a row
  hw::Picoseconds peak_time = 0;
  // Bytes completed in the middle 80 % of the time by the QP with the fewest, and by the one with the most.
  uint64_t least_qp_bytes = 0, most_qp_bytes = 0;

  hw::Picoseconds time() const { return last_completion - first_post; }
};

// What the line can carry for one initiator.
struct LineLimit {
  uint32_t gbps;  // of all directions in which its data goes
  uint32_t pmtu_bytes;

  // Bytes that a message takes on the line, preamble and gap included; no more than it does.
  uint64_t bytes_of(uint64_t message_bytes) const;
};

// Posts in order; messages in the order of their completions.
Rates rates_of(const std::vector<hw::Picoseconds>& posts, const std::vector<models::DoneMessage>& messages,
               const LineLimit& line);
// `count` in `time`, a second; 0 when there was no time.
double per_second(uint64_t count, hw::Picoseconds time);

}  // namespace sim
