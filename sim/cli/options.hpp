// What the command line says, parsed and checked, one struct a subcommand. No simulation in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/capture_options.hpp"
#include "sim/config/resolve.hpp"

namespace CLI {
class App;
}

namespace sim {

/// What every subcommand that simulates takes.
struct CommonOptions {
  ConfigSource config;
  std::string output;  // -o: the run folder; empty: none
  bool json = false;   // result.json on standard output in place of tables
  bool quiet = false;  // nothing on standard output
  bool pcap = false;   // *.pcap in the run folder
  TraceOptions trace;  // its folder is that of the run
};

struct RunOptions : CommonOptions {};  // config.file is the scenario

// What the workload is to be stands in config: perftest's flags are settings of workload.* and nic.*.
struct PerfOptions : CommonOptions {
  bool all_sizes = false;
  bool report_gbits = false;
  bool all_results = false;  // -H: every latency, sorted

  /// Message sizes in bytes: that of the configuration, or all powers of two from 2 to 2^23.
  std::vector<uint64_t> sizes(const WorkloadConfig& workload) const;
};

struct ReplayOptions : CommonOptions {
  CaptureOptions capture;
  std::string as;
  std::string mode = "clocked", pace = "captured", ack_compare = "meaning", peer_quirks = "none";
};

struct TriageOptions {
  CaptureOptions capture;
  size_t top = 10;
  bool json = false;
};

struct ExtractOptions {
  CaptureOptions capture;
  std::string hosts;     // A,B; empty: the only pair
  std::string scenario;  // -o
};

struct DiffOptions {
  std::string run_a, run_b;  // run folders
  bool json = false;
  std::optional<double> fail_above_percent;  // nothing: any difference fails
};

struct ShowOptions {
  ConfigSource config;
};

struct SchemaOptions {
  bool json = false;
};

struct PipelineOptions {};

/// Each adds its options to `command`; the struct must outlive the parse.
void add_options(CLI::App& command, RunOptions& options);
void add_options(CLI::App& command, PerfOptions& options);
void add_options(CLI::App& command, ReplayOptions& options);
void add_options(CLI::App& command, TriageOptions& options);
void add_options(CLI::App& command, ExtractOptions& options);
void add_options(CLI::App& command, DiffOptions& options);
void add_options(CLI::App& command, ShowOptions& options);
void add_options(CLI::App& command, SchemaOptions& options);
void add_options(CLI::App& command, PipelineOptions& options);

}  // namespace sim
