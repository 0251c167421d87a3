#include "sim/diff/run_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hw/timing.hpp"
#include "sim/config/error.hpp"
#include "sim/config/load.hpp"
#include "sim/report/run_folder.hpp"

namespace sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void add_parameters(const toml::table& table, const std::string& group, Leaves& leaves) {
  for (const auto& [name, node] : table) {
    const std::string key = group + std::string(name.str());
    node.visit([&](const auto& value) {
      if constexpr (toml::is_table<decltype(value)>) {
        add_parameters(value, key + ".", leaves);
      } else if constexpr (toml::is_boolean<decltype(value)> || toml::is_number<decltype(value)> ||
                           toml::is_string<decltype(value)>) {
        leaves.emplace_back(key, value.get());
      }
    });
  }
}

Json read_result(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(file + ": cannot be read; must be the result.json of a run folder");
  try {
    Json result = Json::parse(stream);
    if (result.is_object() && result.contains("command")) return result;
  } catch (const Json::exception& error) {
    throw InputError(file + ": " + error.what());
  }
  throw InputError(file + ": has no `command`; must be the result.json of a run folder");
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

// A cell that is a number as a number, any other as text.
Json cell_value(const std::string& cell) {
  const Json value = Json::parse(cell, nullptr, false);
  return value.is_number() ? value : Json(cell);
}

// Columns `stage`, then any: those of hw/synth/area.py.
std::optional<Leaves> read_area(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) return {};
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> heading = cells_of(line);
  Leaves leaves;
  for (size_t row = 2; std::getline(stream, line); row++) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != heading.size())
      throw InputError(file + ":" + std::to_string(row) + ": " + std::to_string(cells.size()) + " columns; must be " +
                       std::to_string(heading.size()) + ", as in the heading");
    for (size_t i = 1; i < cells.size(); i++) leaves.emplace_back(cells[0] + "." + heading[i], cell_value(cells[i]));
  }
  return leaves;
}

// What else somebody has put there is no business of a comparison.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!is_run_file(entry.path().filename().string())) continue;
    if (!entry.is_regular_file()) throw InputError(entry.path().string() + ": is no regular file");
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::vector<std::string> captures_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files)
    if (fs::path(file).extension() == ".pcap") names.push_back(file);
  std::sort(names.begin(), names.end(), [](const std::string& x, const std::string& y) {
    return std::make_pair(x.size(), x) < std::make_pair(y.size(), y);
  });
  return names;
}

const Json* find(const Leaves& leaves, const std::string& path) {
  const auto found = std::find_if(leaves.begin(), leaves.end(), [&path](const auto& l) { return l.first == path; });
  return found == leaves.end() ? nullptr : &found->second;
}

hw::Clock clock_of(const RunFiles& run) {
  const Json* hertz = find(run.parameters, "nic.clock_hz");
  if (!hertz || !hertz->is_number_integer() || hertz->get<int64_t>() <= 0)
    throw InputError(run.file("config.toml") + ": nic.clock_hz: missing; must be the clock of the NIC in Hz");
  return hw::Clock(hertz->get<uint64_t>());
}

// timing.STAGE = 0 stands for the depths of hw/timing.hpp: those are what the run used, "3/4" where outputs differ.
void show_depths(RunFiles& run) {
  const std::string group = "timing.";
  const Json* bits = find(run.parameters, "nic.width");
  const unsigned width = bits && bits->is_number_integer() ? bits->get<unsigned>() : 0;
  for (auto& [key, value] : run.parameters) {
    if (key.rfind(group, 0) != 0 || value != 0) continue;
    const std::string stage = key.substr(group.size());
    value = hw::stage_depth(stage.c_str(), width, 0);
    const unsigned second = hw::stage_depth(stage.c_str(), width, 1);
    const bool listed = std::any_of(std::begin(hw::kStageDepths), std::end(hw::kStageDepths),
                                    [&](const hw::StageDepth& d) { return stage == d.stage && d.output == 1; });
    if (listed && value != second) value = value.dump() + "/" + std::to_string(second);
  }
}

// What makes two runs comparable.
Leaves work_of(const RunFiles& run) {
  constexpr const char* kKeys[] = {"test", "size_bytes", "iterations", "qps", "tx_depth"};
  const Json& command = run.result["command"];
  Leaves leaves = {{"schema_version", run.result.value("schema_version", Json())}, {"command", command}};
  const auto workloads = workloads_of(run.result);
  leaves.emplace_back("number of results", workloads.size());
  for (size_t i = 0; i < workloads.size(); i++)
    for (const char* key : kKeys)
      if (workloads[i]->contains(key)) leaves.emplace_back(key, (*workloads[i])[key]);
  for (const auto& parameter : run.parameters)
    if (command != "replay" && parameter.first.rfind("workload.", 0) == 0) leaves.push_back(parameter);
  return leaves;
}

}  // namespace

RunFiles read_run(const std::string& folder) {
  if (!fs::is_directory(folder)) throw InputError(folder + ": no such folder; must be a run folder, which -o leaves");
  RunFiles run;
  run.folder = folder;
  run.result = read_result(run.file("result.json"));
  add_parameters(parse_toml_file(run.file("config.toml")), "", run.parameters);
  show_depths(run);
  run.area = read_area(run.file("area.csv"));
  run.names = files_in(folder);
  run.captures = captures_of(run.names);
  run.nic_clock = clock_of(run);
  return run;
}

std::vector<const Json*> workloads_of(const Json& result) {
  if (result.contains("result")) return {&result["result"]};
  if (!result.contains("results")) return {&result};
  std::vector<const Json*> list;
  for (const Json& workload : result["results"]) list.push_back(&workload);
  return list;
}

void require_same_workload(const RunFiles& a, const RunFiles& b) {
  for (const Change& change : changes(work_of(a), work_of(b))) {
    // A revision that does not know a kind of workload does not do it either.
    if (change.a.is_null() || change.b.is_null()) continue;
    throw InputError(a.folder + " and " + b.folder + ": different workloads: " + change.path + " is " +
                     change.a.dump() + " in one and " + change.b.dump() + " in the other; must be the same");
  }
}

}  // namespace sim
