// balboa run: a scenario file in, its expectations checked.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "sim/cli/commands.hpp"
#include "sim/cli/run_report.hpp"
#include "sim/config/resolve.hpp"
#include "sim/workload/scenario.hpp"
#include "sim/workload/workload_report.hpp"

namespace sim {

namespace {

void print(const WorkloadConfig& workload, bool listed, const WorkloadResult& r) {
  if (listed)
    fmt::print("{}", listed_table(r));
  else if (is_latency_test(workload))
    fmt::print("{}{}", latency_heading(), latency_row(latency_row_of(workload, r)));
  else
    fmt::print("{}{}", bandwidth_heading(RateUnit::gigabits),
               bandwidth_row(bandwidth_row_of(workload, r), RateUnit::gigabits));
  fmt::print("{} messages, {} errors, memory {}, {} frames sent, {} lost, {:.3f} us simulated\n", r.messages, r.errors,
             r.memory_equal ? "equal" : "different", r.link_frames, r.link_dropped, double(r.outcome.end) / 1e6);
}

// A scenario that expects errors is judged by its expectations alone.
std::vector<std::string> failures(const Scenario& scenario, const WorkloadResult& r) {
  std::vector<std::string> lines = r.problems();
  if (scenario.expect.errors || scenario.expect.memory_equal) lines = r.outcome.problems;
  for (std::string& line : failed_expectations(scenario.expect, r)) lines.push_back(std::move(line));
  return lines;
}

// A fault of a frame that never came is no test of anything.
void warn_of_faults(const Scenario& scenario, const WorkloadResult& r) {
  const uint64_t planned = scenario.faults.planned();
  if (r.link_dropped < planned)
    spdlog::warn("{} of {} faults did not happen: no such frame crossed the link", planned - r.link_dropped, planned);
}

// What would be ignored is refused.
void check_settings(const ConfigSource& source, const Scenario& scenario) {
  for (const std::string& setting : source.settings)
    if (!scenario.connections.empty() && setting.rfind("workload.", 0) == 0)
      throw InputError("--set " + setting + ": the scenario lists its work; allowed without [[connection]]");
}

}  // namespace

int run_command(const RunOptions& o) {
  ConfigSource source = o.config;
  source.other_sections = scenario_sections();
  Config config = resolve(source);
  const Scenario scenario = read_scenario(o.config.file);
  const bool listed = !scenario.connections.empty();
  check_settings(source, scenario);
  if (listed)
    check_connections(scenario.connections, config);
  else
    check_workload(config);
  const auto plans = fault_plans(scenario.faults, scenario.connections, config);
  RunReport report(o, config, "run");
  config.trace = report.trace();
  WorkloadRun run;
  if (listed) run.connections = &scenario.connections;
  run.forward = plans[0];
  run.backward = plans[1];
  run.check_counters = [&scenario](const NodeCounters& counters) { check_counters(scenario.expect, counters); };
  run.pcap_folder = report.pcap_folder();
  run.show_progress = !o.quiet;
  const WorkloadResult r = run_workload(config, run);
  const std::vector<std::string> failed = failures(scenario, r);
  if (report.wants_tables()) {
    print(config.workload, listed, r);
    fmt::print("{}", trace_text(r.outcome));
  }
  warn_of_faults(scenario, r);
  for (const std::string& line : failed) fmt::print(stderr, "balboa: {}\n", line);
  report.write("counters.txt", counters_text(r));
  nlohmann::ordered_json result = listed ? listed_json(scenario.connections.size(), r) : to_json(config.workload, r);
  add_trace(result, r.outcome);
  report.finish(r.outcome.end, {{"result", result}, {"failed", failed}});
  return failed.empty() ? kGood : kFailed;
}

}  // namespace sim
