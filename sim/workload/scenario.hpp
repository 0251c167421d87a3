// A scenario file: parameters and workload (the schema), or connections with their work requests one by one; faults on
// the links; and what the run is expected to give.
//
//   [workload]          size = 4096  iterations = 8            (balboa config schema lists all)
//   [[connection]]      in place of [workload]              (connection_plan.hpp)
//   [[fault]]           link = "nic0-nic1"  frame = 3  type = "drop"             (fault_plan.hpp)
//   [expect]            messages = 8  errors = 0  memory_equal = true
//   [expect.counters]   "nic0.tables.retransmit.retransmitted" = 6
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/workload/connection_plan.hpp"
#include "sim/workload/fault_plan.hpp"
#include "sim/workload/workload.hpp"

namespace sim {

struct Expectations {
  std::optional<uint64_t> messages, errors;
  std::optional<bool> memory_equal;
  struct Counter {
    uint64_t value;
    std::string place;  // in the file: "run.toml:9:1: "
  };
  std::map<std::string, Counter> counters;
};

struct Scenario {
  std::vector<ConnectionPlan> connections;  // none: the workload of the configuration
  ScenarioFaults faults;
  Expectations expect;
};

// The sections of a scenario file that hold no parameters.
const std::set<std::string>& scenario_sections();
// Reads those sections. Errors name file, line and column; throws InputError.
Scenario read_scenario(const std::string& file);
// Throws InputError for the first expected counter that is none of `counters`, a list for each node.
void check_counters(const Expectations& expect, const NodeCounters& counters);
// What differs from the expectations, a line each.
std::vector<std::string> failed_expectations(const Expectations& expect, const WorkloadResult& result);

}  // namespace sim
