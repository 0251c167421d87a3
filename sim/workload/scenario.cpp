#include "sim/workload/scenario.hpp"

#include <fmt/format.h>

#include "sim/config/load.hpp"

namespace sim {

namespace {

std::string place_of(const std::string& file, const toml::source_position& at) {
  return fmt::format("{}:{}:{}: ", file, at.line, at.column);
}

[[noreturn]] void refuse(const std::string& file, const toml::source_position& at, const std::string& what) {
  throw InputError(place_of(file, at) + what);
}

// One table of a scenario, whose keys are all taken or refused.
class Reader {
 public:
  Reader(const std::string& file, std::string name, const toml::table& table, const std::set<std::string>& known)
      : file_(file), name_(std::move(name)), table_(table) {
    std::string list;
    for (const std::string& key : known) list += (list.empty() ? "" : ", ") + key;
    for (const auto& [key, node] : table)
      if (known.count(std::string(key.str())) == 0)
        refuse(file, key.source().begin, fmt::format("{}.{}: no such key; there are {}", name_, key.str(), list));
  }

  std::optional<uint64_t> count(const std::string& key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value_exact<int64_t>();
    if (!value || *value < 0)
      refuse(file_, node->source().begin, name_ + "." + key + ": must be a whole number from 0");
    return uint64_t(*value);
  }
  std::optional<bool> truth(const std::string& key) const {
    const toml::node* node = table_.get(key);
    if (!node) return std::nullopt;
    const auto value = node->value_exact<bool>();
    if (!value) refuse(file_, node->source().begin, name_ + "." + key + ": must be true or false");
    return *value;
  }
  // One of `choices`; the key must be there.
  std::string choice(const std::string& key, const std::set<std::string>& choices) const {
    const toml::node* node = table_.get(key);
    const auto value = node ? node->value_exact<std::string>() : std::nullopt;
    if (value && choices.count(*value) != 0) return *value;
    std::string list;
    for (const std::string& c : choices) list += (list.empty() ? "\"" : ", \"") + c + "\"";
    refuse(file_, (node ? node->source() : table_.source()).begin, name_ + "." + key + ": must be one of " + list);
  }

 private:
  const std::string& file_;
  std::string name_;
  const toml::table& table_;
};

void read_fault(const std::string& file, const toml::table& table, Scenario& scenario) {
  const Reader fault(file, "fault", table, {"link", "frame", "type"});
  const std::string link = fault.choice("link", {"nic0-nic1", "nic1-nic0"});
  fault.choice("type", {"drop"});
  const auto frame = fault.count("frame");
  if (!frame || *frame == 0) refuse(file, table.source().begin, "fault.frame: must be there, and count from 1");
  (link == "nic0-nic1" ? scenario.forward : scenario.backward).drop(*frame);
}

void read_expectations(const std::string& file, const toml::table& table, Expectations& expect) {
  const Reader reader(file, "expect", table, {"messages", "errors", "memory_equal", "counters"});
  expect.messages = reader.count("messages");
  expect.errors = reader.count("errors");
  expect.memory_equal = reader.truth("memory_equal");
  const toml::node* counters = table.get("counters");
  if (!counters) return;
  if (!counters->is_table()) refuse(file, counters->source().begin, "expect.counters: must be a table");
  std::set<std::string> names;
  for (const auto& [key, node] : *counters->as_table()) names.insert(std::string(key.str()));
  const Reader values(file, "expect.counters", *counters->as_table(), names);
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
  static const std::set<std::string> sections = {"fault", "expect"};
  return sections;
}

Scenario read_scenario(const std::string& file) {
  const toml::table root = parse_toml_file(file);
  Scenario scenario;
  if (const toml::node* faults = root.get("fault")) {
    if (!faults->is_array_of_tables()) refuse(file, faults->source().begin, "fault: must be written as [[fault]]");
    for (const toml::node& fault : *faults->as_array()) read_fault(file, *fault.as_table(), scenario);
  }
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
