// A workload's result for people and programs: rows of perftest's tables, result.json, counters.txt.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/workload/workload.hpp"

namespace sim {

// perftest's name of the test: write_bw, read_lat, ...
std::string test_name(const WorkloadConfig& workload);

// Both directions of a bidirectional test together, as perftest has it.
BandwidthRow bandwidth_row_of(const WorkloadConfig& workload, const WorkloadResult& result);
LatencyRow latency_row_of(const WorkloadConfig& workload, const WorkloadResult& result);
nlohmann::ordered_json to_json(const WorkloadConfig& workload, const WorkloadResult& result);
// The same of a scenario that lists its work, which has no size nor depth of its own: for programs, and for people.
nlohmann::ordered_json listed_json(size_t connections, const WorkloadResult& result);
std::string listed_table(const WorkloadResult& result);
// "nic0.rx.bth.packets 12", a counter a line.
std::string counters_text(const WorkloadResult& result);

}  // namespace sim
