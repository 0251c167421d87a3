#include "sim/workload/scenario.hpp"

#include <fmt/format.h>

#include "sim/config/load.hpp"
#include "sim/workload/table_reader.hpp"

namespace sim {

namespace {

void read_expectations(const std::string& file, const toml::table& table, Expectations& expect) {
  const TableReader reader(file, "expect", table, {"messages", "errors", "memory_equal", "counters"});
  expect.messages = reader.count("messages");
  expect.errors = reader.count("errors");
  expect.memory_equal = reader.truth("memory_equal");
  const toml::node* counters = table.get("counters");
  if (!counters) return;
  if (!counters->is_table()) refuse(file, counters->source().begin, "expect.counters: must be a table");
  std::set<std::string> names;
  for (const auto& [key, node] : *counters->as_table()) names.insert(std::string(key.str()));
  const TableReader values(file, "expect.counters", *counters->as_table(), names);
  for (const auto& [key, node] : *counters->as_table())
    expect.counters[std::string(key.str())] = {*values.count(std::string(key.str())),
                                               place_of(file, key.source().begin)};
}

template <class T>
void compare(std::vector<std::string>& lines, const char* what, const std::optional<T>& expected, T got) {
  if (expected && *expected != got) lines.push_back(fmt::format("expected {} {}, got {}", what, *expected, got));
}

}  // namespace

const std::set<std::string>& scenario_sections() {
  static const std::set<std::string> sections = {"connection", "fault", "expect"};
  return sections;
}

Scenario read_scenario(const std::string& file) {
  const toml::table root = parse_toml_file(file);
  Scenario scenario;
  scenario.connections = read_connections(file, root);
  scenario.faults = read_faults(file, root);
  if (const toml::node* expect = root.get("expect")) {
    if (!expect->is_table()) refuse(file, expect->source().begin, "expect: must be a table");
    read_expectations(file, *expect->as_table(), scenario.expect);
  }
  return scenario;
}

void check_counters(const Expectations& expect, const NodeCounters& counters) {
  std::set<std::string> names;
  for (const auto& node : counters)
    for (const CounterValue& c : node.second) names.insert(node.first + "." + c.name);
  for (const auto& [name, expected] : expect.counters) {
    if (names.count(name) != 0) continue;
    const auto meant = nearest({names.begin(), names.end()}, name);
    throw InputError(expected.place + "expect.counters." + name + ": no such counter; " +
                     (meant ? "did you mean " + *meant + "?" : "counters.txt of a run lists all"));
  }
}

std::vector<std::string> failed_expectations(const Expectations& expect, const WorkloadResult& r) {
  std::vector<std::string> lines;
  compare(lines, "messages", expect.messages, r.messages);
  compare(lines, "errors", expect.errors, r.errors);
  compare(lines, "memory_equal", expect.memory_equal, r.memory_equal);
  std::map<std::string, uint64_t> got;
  for (const auto& node : r.counters)
    for (const CounterValue& c : node.second) got[node.first + "." + c.name] = c.value;
  for (const auto& [name, expected] : expect.counters)
    if (got.at(name) != expected.value)
      lines.push_back(fmt::format("expected {} {}, got {}", name, expected.value, got.at(name)));
  return lines;
}

}  // namespace sim
