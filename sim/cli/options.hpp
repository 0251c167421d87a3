// What the command line says, parsed and checked, one struct a subcommand. No simulation in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

enum class PerfTest { bandwidth, latency };

struct PerfOptions : CommonOptions {
  std::string op = "write";
  PerfTest test = PerfTest::bandwidth;
  std::optional<uint64_t> message_bytes;
  bool all_sizes = false;
  std::optional<uint64_t> iterations;
  uint32_t qps = 1;
  uint32_t tx_depth = 128;  // messages that a QP keeps outstanding
  bool report_gbits = false;

  /// Message sizes in bytes: one, or all powers of two from 2 to 2^23. perftest's defaults: 65536, latency 2.
  std::vector<uint64_t> sizes() const;
  /// Messages per QP and size. perftest's defaults: 5000, latency 1000.
  uint64_t iteration_count() const;
};

struct ReplayOptions : CommonOptions {
  std::string capture;  // pcap or pcapng file
  std::string as;       // IP address of the endpoint whose place the NIC takes
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
void add_options(CLI::App& command, ShowOptions& options);
void add_options(CLI::App& command, SchemaOptions& options);
void add_options(CLI::App& command, PipelineOptions& options);

}  // namespace sim
