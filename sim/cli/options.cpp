#include "sim/cli/options.hpp"

#include <CLI/CLI.hpp>

namespace sim {
namespace {

constexpr uint64_t kLargestMessage = uint64_t(1) << 31;  // IBTA 9.7.2: the most a message may carry

void add_config_options(CLI::App& command, ConfigSource& config) {
  command.add_option("--profile", config.profile, "Named set of parameters: roce (default) or ideal")
      ->type_name("NAME");
  // Added to what other options such as -m have put there.
  const auto add = [&config](const std::vector<std::string>& settings) {
    config.settings.insert(config.settings.end(), settings.begin(), settings.end());
  };
  const char* sentence = "Set one parameter, such as nic.qp_count=64; may be repeated";
  command.add_option_function<std::vector<std::string>>("--set", add, sentence)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_config_file(CLI::App& command, ConfigSource& config) {
  command.add_option("--config", config.file, "TOML file with parameters")->type_name("FILE");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_config_options(command, options.config);
  CLI::Option* output = command.add_option("-o", options.output, "Leave a run folder")->type_name("DIR");
  command.add_flag("--pcap", options.pcap, "Write what crosses each port to *.pcap in the run folder")->needs(output);
  command.add_flag("--json", options.json, "Print result.json in place of tables");
  command.add_flag("--quiet", options.quiet, "Print nothing but errors");
}

void add_trace_options(CLI::App& command, TraceOptions& trace) {
  CLI::Option* output = command.get_option("-o");
  command.add_flag("--account", trace.account, "Print where the time goes, and write latency.csv to the run folder");
  command.add_flag("--timeline", trace.timeline, "Write timeline.json for Perfetto to the run folder")->needs(output);
  command.add_flag("--vcd", trace.waves, "Write waves.vcd to the run folder")->needs(output);
  command.add_flag("--ladder", trace.ladder, "Print every packet");
  const auto time = CLI::Range(0.0, 1e12).description("");
  command.add_option("--trace-from", trace.from_us, "Timeline, waves and ladder begin here (0)")
      ->type_name("US")
      ->check(time);
  command.add_option("--trace-to", trace.to_us, "and end here (the end of the run)")->type_name("US")->check(time);
  command
      .add_option("--trace-stages", trace.stages, "Stages and streams in timeline and waves, such as nic0.rx.* (all)")
      ->type_name("GLOB");
}

}  // namespace

std::vector<uint64_t> PerfOptions::sizes() const {
  if (!all_sizes) return {message_bytes.value_or(test == PerfTest::latency ? 2 : 65536)};
  std::vector<uint64_t> powers;
  for (uint64_t bytes = 2; bytes <= uint64_t(1) << 23; bytes *= 2) powers.push_back(bytes);
  return powers;
}

uint64_t PerfOptions::iteration_count() const {
  return iterations.value_or(test == PerfTest::latency ? 1000 : 5000);
}

void add_options(CLI::App& command, RunOptions& options) {
  command.add_option("scenario", options.config.file, "TOML file with hosts, workload and faults")
      ->type_name("SCENARIO.toml")
      ->required();
  add_common_options(command, options);
  add_trace_options(command, options.trace);
}

void add_options(CLI::App& command, PerfOptions& options) {
  command.add_option("--op", options.op, "Operation: write (default)")->check(CLI::IsMember({"write"}));
  const auto set_test = [&options](const std::string& test) {
    options.test = test == "lat" ? PerfTest::latency : PerfTest::bandwidth;
  };
  command
      .add_option_function<std::string>("--test", set_test, "bw (default): bandwidth and message rate; lat: latency")
      ->check(CLI::IsMember({"bw", "lat"}));
  CLI::Option* size = command.add_option("-s", options.message_bytes, "Message size (65536; latency 2)")
                          ->type_name("BYTES")
                          ->check(CLI::Range(uint64_t(0), kLargestMessage).description(""));
  command.add_flag("-a", options.all_sizes, "All sizes from 2 to 2^23 bytes")->excludes(size);
  command.add_option("-n", options.iterations, "Messages per QP and size (5000; latency 1000)")
      ->type_name("ITERS")
      ->check(CLI::Range(uint64_t(1), uint64_t(1000000000)).description(""));
  command.add_option("-q", options.qps, "Queue pairs (1)")
      ->type_name("QPS")
      ->check(CLI::Range(1, 16384).description(""));
  command.add_option("-t", options.tx_depth, "Messages outstanding per QP (128)")
      ->type_name("DEPTH")
      ->check(CLI::Range(1, 32768).description(""));
  const auto set_mtu = [&options](const std::string& mtu) { options.config.settings.push_back("nic.pmtu=" + mtu); };
  command.add_option_function<std::string>("-m", set_mtu, "Path MTU, the same as --set nic.pmtu=MTU")->type_name("MTU");
  command.add_flag("--report_gbits", options.report_gbits, "Bandwidth in Gb/sec in place of MB/sec");
  add_config_file(command, options.config);
  add_common_options(command, options);
  add_trace_options(command, options.trace);
}

void add_options(CLI::App& command, ReplayOptions& options) {
  command.add_option("capture", options.capture, "pcap or pcapng file")->type_name("CAPTURE")->required();
  command.add_option("--as", options.as, "Endpoint of the capture whose place the NIC takes")
      ->type_name("IP")
      ->required();
  add_config_file(command, options.config);
  add_common_options(command, options);
}

void add_options(CLI::App& command, ShowOptions& options) {
  command.add_option("file", options.config.file, "TOML file with parameters")->type_name("FILE");
  add_config_options(command, options.config);
}

void add_options(CLI::App& command, SchemaOptions& options) {
  command.add_flag("--json", options.json, "As JSON");
}

void add_options(CLI::App&, PipelineOptions&) {}

}  // namespace sim
