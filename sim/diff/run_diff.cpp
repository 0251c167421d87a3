#include "sim/diff/run_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

// A path that holds `part` tells of `topic`; the first that fits counts. The account stands first, since it has rows
// of any name.
struct Rule {
  const char* part;
  Topic topic;
};
constexpr Rule kRules[] = {{"account.", Topic::account},
                           {"counters.", Topic::counter},
                           {"frames", Topic::counter},
                           {"latency_ps.", Topic::latency},
                           {"messages_per_s", Topic::message_rate},
                           {"gbps", Topic::throughput},
                           {"_ps", Topic::time}};

Topic topic_of(const std::string& path) {
  for (const Rule& rule : kRules)
    if (path.find(rule.part) != std::string::npos) return rule.topic;
  return Topic::outcome;
}

// Behind the one name that all paths of the topic begin with.
std::string shown_path(const std::string& path, Topic topic) {
  const bool has_group = topic == Topic::account || topic == Topic::counter;
  return has_group ? path.substr(path.find('.') + 1) : path;
}

std::string workload_name(const Json& workload) {
  if (!workload.contains("test")) return "replay";
  return fmt::format("{}, {} bytes", workload["test"].get<std::string>(), workload.value("size_bytes", uint64_t(0)));
}

// Without what says nothing of the run: who simulated it. The header's seed is a parameter too.
Leaves results_of(const Json& workload) {
  static const std::set<std::string> kHeader = {"schema_version", "version", "seed", "command"};
  Leaves leaves = leaves_of(workload);
  leaves.erase(std::remove_if(leaves.begin(), leaves.end(), [](const auto& l) { return kHeader.count(l.first) != 0; }),
               leaves.end());
  return leaves;
}

WorkloadDiff compare(const Json& a, const Json& b) {
  WorkloadDiff diff;
  diff.workload = workload_name(a);
  const bool both_accounts = a.contains("account") && b.contains("account");
  for (const Change& change : changes(results_of(a), results_of(b))) {
    const Topic topic = topic_of(change.path);
    if (topic == Topic::account && !both_accounts) continue;
    // A run too short to have a steady state is compared by its averages.
    if (change.path.find("steady_") != std::string::npos && (change.a.is_null() || change.b.is_null())) continue;
    diff.changes[size_t(topic)].push_back({shown_path(change.path, topic), change.a, change.b});
  }
  for (const Topic topic : {Topic::counter, Topic::account}) sort_by_size(diff.changes[size_t(topic)]);
  return diff;
}

// Tells of what only one of them has.
void note_absent(const std::string& what, bool in_a, bool in_b, std::vector<std::string>& notes) {
  if (in_a != in_b) notes.push_back(fmt::format("{}: only {} has it; not compared", what, in_a ? "A" : "B"));
}

// What neither has, of files that every run can leave.
void note_missing(const RunFiles& a, const RunFiles& b, bool accounts, std::vector<std::string>& notes) {
  const auto neither = [&a, &b](const std::string& start) {
    const auto fits = [&start](const std::string& name) { return name.rfind(start, 0) == 0; };
    return std::none_of(a.names.begin(), a.names.end(), fits) && std::none_of(b.names.begin(), b.names.end(), fits);
  };
  if (a.captures.empty() && b.captures.empty())
    notes.push_back("packets: neither run has captures, which --pcap leaves; not compared");
  if (neither("counters.txt")) notes.push_back("counters.txt: neither run has it; not compared");
  if (accounts && neither("latency"))
    notes.push_back("latency.csv: neither run has it, though both have accounts; not compared");
}

bool above(const Change& change, double percent) {
  return std::abs(change.percent()) > percent;
}

}  // namespace

const char* name_of(Topic topic) {
  constexpr const char* kNames[kTopics] = {"latency", "throughput", "message rate", "outcome",
                                           "time",    "counters",   "account"};
  return kNames[size_t(topic)];
}

RunDiff compare_runs(const std::string& folder_a, const std::string& folder_b) {
  const RunFiles a = read_run(folder_a), b = read_run(folder_b);
  require_same_workload(a, b);
  RunDiff diff;
  diff.folder_a = folder_a;
  diff.folder_b = folder_b;
  diff.parameters = changes(a.parameters, b.parameters);
  diff.senders = compare_captures(a, b);
  diff.files = compare_files(a, b);
  const auto of_a = workloads_of(a.result), of_b = workloads_of(b.result);
  for (size_t i = 0; i < of_a.size(); i++) {
    diff.workloads.push_back(compare(*of_a[i], *of_b[i]));
    note_absent("account of " + diff.workloads.back().workload, of_a[i]->contains("account"),
                of_b[i]->contains("account"), diff.notes);
  }
  if (a.area && b.area) diff.area = changes(*a.area, *b.area);
  const bool accounts = !of_a.empty() && of_a[0]->contains("account") && of_b[0]->contains("account");
  note_missing(a, b, accounts, diff.notes);
  return diff;
}

bool RunDiff::differ() const {
  const auto moved = [](const WorkloadDiff& w) {
    return std::any_of(w.changes.begin(), w.changes.end(), [](const auto& list) { return !list.empty(); });
  };
  return earliest(senders) || !area.empty() || !files.empty() || std::any_of(workloads.begin(), workloads.end(), moved);
}

bool RunDiff::moved_above(double percent) const {
  for (const WorkloadDiff& w : workloads) {
    if (!w.changes[size_t(Topic::outcome)].empty()) return true;
    for (const Topic topic : {Topic::latency, Topic::throughput, Topic::message_rate})
      for (const Change& change : w.changes[size_t(topic)])
        if (above(change, percent)) return true;
  }
  return false;
}

}  // namespace sim
