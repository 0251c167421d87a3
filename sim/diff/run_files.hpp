// What `balboa diff` reads of a run folder, apart from the captures, which are streamed.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hw/bus/clock.hpp"
#include "sim/diff/leaves.hpp"

namespace sim {

struct RunFiles {
  std::string folder;
  Leaves parameters;                  // config.toml: "nic.pmtu"
  nlohmann::ordered_json result;      // result.json
  std::optional<Leaves> area;         // area.csv: "rx_bth.LUT"
  std::vector<std::string> names;     // of all its files
  std::vector<std::string> captures;  // of these, nic2.pcap before nic10.pcap
  hw::Clock nic_clock = hw::Clock(1);

  std::string file(const std::string& name) const { return folder + "/" + name; }
};

/// Throws InputError when the folder, its config.toml or its result.json is missing or cannot be read.
RunFiles read_run(const std::string& folder);

/// The workloads of a result: those of `perf`, that of `run`, or the whole of a `replay`.
std::vector<const nlohmann::ordered_json*> workloads_of(const nlohmann::ordered_json& result);

/// Throws InputError unless both runs did the same: command, schema of the result, and workload.
void require_same_workload(const RunFiles& a, const RunFiles& b);

}  // namespace sim
