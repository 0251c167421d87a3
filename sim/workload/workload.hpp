// One workload between two nodes, run: what `perf` and `run` have in common.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "models/link.hpp"
#include "sim/config/parameters.hpp"
#include "sim/report/perftest_table.hpp"
#include "sim/testbed/testbed.hpp"
#include "sim/workload/rates.hpp"

namespace sim {

using NodeCounters = std::vector<std::pair<std::string, std::vector<CounterValue>>>;

struct WorkloadResult {
  Outcome outcome;
  std::vector<Rates> directions;  // of a bandwidth test: from node 0, and from node 1 when bidirectional
  uint64_t messages = 0, errors = 0;
  std::string first_error;  // ibv_wc_status of the first failed completion
  bool memory_equal = false;
  // Sorted. Bandwidth tests and READ latency: from post to completion; WRITE and SEND latency: half of each round trip.
  std::vector<hw::Picoseconds> samples;
  std::vector<PerftestAddress> addresses;
  NodeCounters counters;
  uint64_t link_frames = 0, link_dropped = 0;

  // What is wrong with the run, a line each; failed work requests and memory that differs included.
  std::vector<std::string> problems() const;
};

struct ConnectionPlan;

struct WorkloadRun {
  const std::vector<ConnectionPlan>* connections = nullptr;  // with listed work, in place of config.workload
  models::FaultPlan forward, backward;                       // of the link from node 0 to node 1, and back
  std::string pcap_folder;                                   // empty: no captures
  bool show_progress = false;
  std::function<void(const NodeCounters&)> check_counters = nullptr;  // called before the run, with their first values
};

bool is_latency_test(const WorkloadConfig& workload);
// Throws InputError for a workload that the rest of the configuration cannot hold, or that perftest does not know.
void check_workload(const Config& config);
// Runs config.workload, which must pass that check, or the connections of `run`, which must pass theirs.
WorkloadResult run_workload(const Config& config, const WorkloadRun& run);

}  // namespace sim
