#include "sim/cli/run_report.hpp"

#include <fmt/format.h>

#include "hw/bus/clock.hpp"
#include "sim/config/show.hpp"

namespace sim {

RunReport::RunReport(const CommonOptions& options, const Config& config, const std::string& command)
    : options_(options), config_(config), command_(command) {
  check(options.trace);
  if (options.output.empty()) return;
  folder_ = std::make_unique<RunFolder>(options.output);
  folder_->write("config.toml", to_toml(config));
}

std::string RunReport::pcap_folder() const {
  return options_.pcap && folder_ ? folder_->file("") : "";
}

TraceOptions RunReport::trace() const {
  TraceOptions trace = options_.trace;
  if (folder_) trace.folder = folder_->file("");
  return trace;
}

void RunReport::write(const std::string& name, const std::string& text) const {
  if (folder_) folder_->write(name, text);
}

void RunReport::finish(uint64_t simulated_ps, const nlohmann::ordered_json& body) {
  nlohmann::ordered_json result = result_header(config_.sim.seed, simulated_ps);
  result["command"] = command_;
  result.update(body);
  if (options_.json) fmt::print("{}", to_text(result));
  if (!folder_) return;
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const uint64_t cycles = hw::Clock(config_.nic.clock_hz).edge_at_or_after(simulated_ps);
  folder_->write("result.json", to_text(result));
  folder_->write("host.json", to_text(host_report(wall_s, cycles, config_.nic.clock_hz)));
  folder_->commit();
}

std::string trace_text(const Outcome& outcome) {
  return outcome.trace ? outcome.trace->text() : "";
}

void add_trace(nlohmann::ordered_json& result, const Outcome& outcome) {
  if (outcome.trace) result.update(outcome.trace->result());
}

}  // namespace sim
