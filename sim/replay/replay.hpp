// Replay of a capture: the simulated NIC takes the place of an endpoint, gets what that endpoint got and posts what it
// posted; what it sends is compared, by meaning, with what the endpoint sent.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/parameters.hpp"
#include "sim/replay/clocked_nic.hpp"
#include "sim/replay/director.hpp"

namespace sim {

struct ReplayRun {
  std::vector<std::string> files;  // "-" is standard input
  std::string as;                  // EndpointFilter
  bool functional = false;         // without the clock, the line and memory
  Pace pace;
  VerdictOptions verdict;
  uint32_t path_mtu = 0;                                             // bytes; 0: inferred
  std::string mr_table;                                              // CSV file; empty: none
  std::vector<std::pair<traces::IpAddress, std::string>> qp_tables;  // host and the output of `rdma res show qp -j`
  std::optional<uint32_t> qpn;
  std::optional<double> from_s, to_s;
  std::string pcap_folder;  // empty: no capture of the simulation
  bool show_progress = false;
};

struct ConnectionResult {
  Binding binding;
  uint32_t life = 0;
  uint32_t capture_qpn = 0;  // of the endpoint
  ReplayTally tally;
  Verdicts verdicts;
  std::string ambiguous;  // why the endpoint's own packets are not known; else empty
  std::vector<std::string> assumptions;
};

struct ReplayResult {
  Outcome outcome;
  std::vector<ConnectionResult> connections;
  Verdicts verdicts;  // of all
  ReplayTally tally;  // of all
  traces::Census census;
  LookAheadCounts capture;
  uint64_t unpaired_requests = 0, unpaired_answers = 0;  // of the endpoint, on lanes that belong to no connection
  std::vector<std::string> notes;                        // clocks of several files
  std::string input_error;                               // a damaged file, of which what came before was replayed
  std::vector<CounterValue> counters;

  // Whether anything was compared at all.
  bool compared() const;
  // Why the NIC does not act as the endpoint did, a line each; empty when it does.
  std::vector<std::string> failures() const;
};

// Throws InputError and traces::InputError for what cannot be replayed.
ReplayResult replay(const Config& config, const ReplayRun& run);

// The connections that fail, or all where they are few; and the verdict.
std::string replay_text(const ReplayResult& result);

nlohmann::ordered_json replay_json(const ReplayResult& result);

}  // namespace sim
