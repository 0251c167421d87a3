// balboa run: a scenario file in, its expectations checked.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "sim/cli/commands.hpp"
#include "sim/config/resolve.hpp"
#include "sim/config/show.hpp"
#include "sim/report/run_folder.hpp"
#include "sim/workload/scenario.hpp"

namespace sim {

namespace {

void print(const WorkloadConfig& workload, const WorkloadResult& r) {
  if (is_latency_test(workload))
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

}  // namespace

int run_command(const RunOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  ConfigSource source = o.config;
  source.other_sections = scenario_sections();
  const Config config = resolve(source);
  const Scenario scenario = read_scenario(o.config.file);
  check_workload(config);
  std::unique_ptr<RunFolder> folder;
  if (!o.output.empty()) {
    folder = std::make_unique<RunFolder>(o.output);
    folder->write("config.toml", to_toml(config));
  }
  WorkloadRun run;
  run.forward = scenario.forward;
  run.backward = scenario.backward;
  run.pcap_folder = o.pcap && folder ? folder->file("") : "";
  run.show_progress = !o.quiet;
  const WorkloadResult r = run_write_workload(config, run);
  const std::vector<std::string> failed = failures(scenario, r);

  nlohmann::ordered_json result = result_header(config.sim.seed, r.outcome.end);
  result["command"] = "run";
  result["result"] = to_json(config.workload, r);
  result["failed"] = failed;
  if (!o.quiet && !o.json) print(config.workload, r);
  if (o.json) fmt::print("{}", to_text(result));
  for (const std::string& line : failed) fmt::print(stderr, "balboa: {}\n", line);
  if (folder) {
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    folder->write("counters.txt", counters_text(r));
    folder->write("result.json", to_text(result));
    folder->write("host.json",
                  to_text(host_report(wall_s, hw::Clock(config.nic.clock_hz).edge_at_or_after(r.outcome.end),
                                      config.nic.clock_hz)));
    folder->commit();
  }
  return failed.empty() ? 0 : 1;
}

}  // namespace sim
