// One WRITE workload between two nodes, from configuration to numbers: what `perf` and `run` have in common.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/link.hpp"
#include "sim/config/parameters.hpp"
#include "sim/report/perftest_table.hpp"
#include "sim/testbed/testbed.hpp"

namespace sim {

struct WorkloadResult {
  Outcome outcome;
  uint64_t messages = 0, errors = 0;
  std::string first_error;  // ibv_wc_status of the first failed completion
  bool memory_equal = false;
  hw::Picoseconds first_post = 0, last_completion = 0;
  hw::Picoseconds steady_first = 0, steady_last = 0;  // completions at 10 % and 90 % of the messages
  uint64_t steady_messages = 0;                       // between them
  uint64_t peak_messages = 0;                         // the fastest messages in a row, and the time they took
  hw::Picoseconds peak_time = 0;
  std::vector<hw::Picoseconds> samples;  // latency test: half of each round trip, sorted
  std::vector<PerftestAddress> addresses;
  std::vector<std::pair<std::string, std::vector<CounterValue>>> counters;  // by node
  uint64_t link_frames = 0, link_dropped = 0;

  // What is wrong with the run, a line each; failed work requests and memory that differs included.
  std::vector<std::string> problems() const;
  double steady_messages_per_s() const;
};

struct WorkloadRun {
  models::FaultPlan forward, backward;  // of the link from node 0 to node 1, and back
  std::string pcap_folder;              // empty: no captures
  bool show_progress = false;
};

// Throws InputError for a workload that the rest of the configuration cannot hold.
void check_workload(const Config& config);
// Runs config.workload, which must pass that check.
WorkloadResult run_write_workload(const Config& config, const WorkloadRun& run);
bool is_latency_test(const WorkloadConfig& workload);

BandwidthRow bandwidth_row_of(const WorkloadConfig& workload, const WorkloadResult& result);
LatencyRow latency_row_of(const WorkloadConfig& workload, const WorkloadResult& result);
nlohmann::ordered_json to_json(const WorkloadConfig& workload, const WorkloadResult& result);
// "nic0.rx.bth.packets 12", a counter a line.
std::string counters_text(const WorkloadResult& result);

}  // namespace sim
