// Replay of a capture: the simulated NIC takes the place of one endpoint, gets what that endpoint got, and its
// acknowledgements are compared with those in the capture.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/config/parameters.hpp"
#include "sim/testbed/testbed.hpp"
#include "traces/flows.hpp"

namespace sim {

// What is compared of an acknowledgement.
struct AckFields {
  uint8_t opcode = 0;
  uint32_t psn = 0;
  uint8_t syndrome = 0;
  uint32_t msn = 0;
  friend bool operator==(const AckFields& a, const AckFields& b) {
    return a.opcode == b.opcode && a.psn == b.psn && a.syndrome == b.syndrome && a.msn == b.msn;
  }
};

// "PSN 8831574 ACK (0x1f) MSN 1"
std::string to_string(const AckFields& fields);

struct AckComparison {
  uint64_t matched = 0, different = 0, missing = 0, extra = 0;
  std::vector<std::string> examples;  // the first few that do not match, in full

  bool all_match() const { return different == 0 && missing == 0 && extra == 0; }
};

// Compares in order. Where the two part, they are aligned again at the nearest acknowledgement that both have; what
// lies between is `different` pair by pair, then missing (captured only) or extra (simulated only).
AckComparison compare_acks(const std::vector<AckFields>& captured, const std::vector<AckFields>& simulated);

struct FlowVerdict {
  traces::ReplayFlow flow;
  AckComparison acks;
};

struct ReplayResult {
  Outcome outcome;
  std::vector<FlowVerdict> flows;
  uint64_t frames_fed = 0, frames_cut = 0;  // given to the NIC; left out because the capture does not hold them whole
  traces::ReplayCapture capture;
  std::vector<CounterValue> counters;

  // Why the verdict is not "every ACK matches", a line each; empty when it is.
  std::vector<std::string> failures() const;
};

struct ReplayRun {
  std::string file;
  traces::IpAddress as;
  std::string pcap_folder;  // empty: no capture of the simulation
  bool show_progress = false;
};

// Throws InputError and traces::InputError for a capture that cannot be replayed.
ReplayResult replay(const Config& config, const ReplayRun& run);

nlohmann::ordered_json to_json(const ReplayResult& result);

}  // namespace sim
