// What every simulating subcommand leaves behind: the run folder, when one is asked for, and result.json on standard
// output with --json.
#pragma once
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/cli/options.hpp"
#include "sim/config/parameters.hpp"
#include "sim/report/run_folder.hpp"
#include "sim/testbed/testbed.hpp"

namespace sim {

class RunReport {
 public:
  // Opens the folder and writes config.toml into it. Throws InputError, OutputError.
  RunReport(const CommonOptions& options, const Config& config, const std::string& command);

  // Where captures go; empty when none are asked for.
  std::string pcap_folder() const;
  // What the run is to tell, with the folder for its files.
  TraceOptions trace() const;
  // True when tables for people are wanted on standard output.
  bool wants_tables() const { return !options_.quiet && !options_.json; }
  // Writes a file of the folder, if there is one.
  void write(const std::string& name, const std::string& text) const;
  // Writes result.json, the members of `body` behind its header, and host.json, and gives the folder its name.
  void finish(uint64_t simulated_ps, const nlohmann::ordered_json& body);

 private:
  const CommonOptions& options_;
  const Config& config_;
  std::string command_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::unique_ptr<RunFolder> folder_;
};

// What a traced run tells: as text behind its tables, and as members of its result. Nothing without a trace.
std::string trace_text(const Outcome& outcome);
void add_trace(nlohmann::ordered_json& result, const Outcome& outcome);

}  // namespace sim
