// [[fault]] of a scenario: what the links between nic0 and nic1 lose.
//
//   link = "nic0-nic1"  type = "drop"  frame = 3                      the third frame of that direction; or
//   link = "nic0-nic1"  type = "drop"  connection = "a"  kind = "request"  psn = 0x139  turn = "due"  copy = 1
#pragma once
#include <toml++/toml.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/link.hpp"
#include "sim/workload/connection_plan.hpp"

namespace sim {

// A packet that is lost, as the file names it.
struct NamedFault {
  std::string place;                      // in the file: "run.toml:9:1: "
  unsigned direction = 0;                 // 0: from nic0 to nic1
  std::optional<std::string> connection;  // nothing: the first
  bool counted = false;                   // fault.psn counts packets from 1, and is no PSN
  models::PacketFault fault;
};

struct ScenarioFaults {
  std::array<std::set<uint64_t>, 2> frames;  // by direction
  std::vector<NamedFault> packets;

  uint64_t planned() const { return frames[0].size() + frames[1].size() + packets.size(); }
};

// The faults of a scenario's root table; throws InputError with file, line and column.
ScenarioFaults read_faults(const std::string& file, const toml::table& root);
// The plans of both links for a workload with these connections, or with `config.workload.qps` where there are none.
// Throws InputError for a fault of a connection that is not there.
std::array<models::FaultPlan, 2> fault_plans(const ScenarioFaults& faults,
                                             const std::vector<ConnectionPlan>& connections, const Config& config);

}  // namespace sim
