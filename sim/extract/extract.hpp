// A capture as a closed-loop scenario: work requests with what they wait for, and the losses of the wire.
#pragma once
#include <string>

#include "sim/extract/observed.hpp"

namespace sim {

// What a message waits for, and how long its host thinks then.
struct Trigger {
  uint32_t depth = 0;     // the completion of the message that many before it; 0: none
  uint64_t received = 0;  // that many messages of the peer; 0: none
  int64_t think_ns = 0;
};

// Of one host's messages on a connection, in order. `start_ns`: the begin of the capture.
std::vector<Trigger> triggers_of(const ObservedConnection& connection, unsigned host, int64_t start_ns);

// The scenario, as `balboa run` reads it.
std::string scenario_text(const Observed& observed);

}  // namespace sim
