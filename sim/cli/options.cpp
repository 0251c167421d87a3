#include "sim/cli/options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

namespace sim {
namespace {

// A text that must name something: an empty one would pass for an option that is not there.
CLI::Option* add_text(CLI::App& command, const std::string& flag, std::string& text, const std::string& sentence) {
  const auto refuse_empty = [](const std::string& value) {
    return value.empty() ? std::string("is empty; must be a name") : std::string();
  };
  return command.add_option(flag, text, sentence)->check(CLI::Validator(refuse_empty, ""));
}

// A number that is one, neither negative nor infinite.
CLI::Validator from_zero() {
  const auto refuse = [](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
    return good ? std::string() : text + ": must be a number from 0";
  };
  return {refuse, ""};
}

void add_config_options(CLI::App& command, ConfigSource& config) {
  add_text(command, "--profile", config.profile, "Named set of parameters: roce (default) or ideal")->type_name("NAME");
  // Added to what other options such as -m have put there.
  const auto add = [&config](const std::vector<std::string>& settings) {
    config.settings.insert(config.settings.end(), settings.begin(), settings.end());
  };
  const char* sentence = "Set one parameter, such as nic.qp_count=64; may be repeated";
  command.add_option_function<std::vector<std::string>>("--set", add, sentence)
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

// An option that is another spelling of --set KEY=VALUE; the schema says what is allowed.
CLI::Option* add_setting(CLI::App& command, ConfigSource& config, const std::string& flag, const std::string& key,
                         const std::string& sentence, const std::string& type) {
  const auto set = [&config, key](const std::string& value) { config.settings.push_back(key + "=" + value); };
  return command.add_option_function<std::string>(flag, set, sentence + "; " + key)->type_name(type);
}
void add_switch(CLI::App& command, ConfigSource& config, const std::string& flag, const std::string& key,
                const std::string& sentence) {
  const auto set = [&config, key](int64_t) { config.settings.push_back(key + "=true"); };
  command.add_flag_function(flag, set, sentence + "; " + key);
}

void add_config_file(CLI::App& command, ConfigSource& config) {
  add_text(command, "--config", config.file, "TOML file with parameters")->type_name("FILE");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  add_config_options(command, options.config);
  CLI::Option* output = add_text(command, "-o", options.output, "Leave a run folder")->type_name("DIR");
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
  command.add_option("--trace-from", trace.from_us, "Timeline, waves and ladder begin here (0)")->type_name("US");
  command.add_option("--trace-to", trace.to_us, "and end here (the end of the run)")->type_name("US");
  command
      .add_option("--trace-stages", trace.stages, "Stages and streams in timeline and waves, such as nic0.rx.* (all)")
      ->type_name("GLOB");
}

}  // namespace

std::vector<uint64_t> PerfOptions::sizes(const WorkloadConfig& workload) const {
  if (!all_sizes) return {workload.size_bytes};
  std::vector<uint64_t> powers;
  for (uint64_t bytes = 2; bytes <= uint64_t(1) << 23; bytes *= 2) powers.push_back(bytes);
  return powers;
}

void add_options(CLI::App& command, RunOptions& options) {
  add_text(command, "scenario", options.config.file, "TOML file with hosts, workload and faults")
      ->type_name("SCENARIO.toml")
      ->required();
  add_common_options(command, options);
  add_trace_options(command, options.trace);
}

void add_options(CLI::App& command, PerfOptions& options) {
  add_setting(command, options.config, "--op", "workload.operation", "write (default), read, send or mix", "OP");
  const auto set_test = [&options](const std::string& test) {
    options.config.settings.push_back("workload.test=" + test);
    if (test == "lat") options.config.defaults = {"workload.size=2", "workload.iterations=1000"};
  };
  command
      .add_option_function<std::string>("--test", set_test, "bw (default): bandwidth and message rate; lat: latency")
      ->type_name("TEST");
  CLI::Option* size =
      add_setting(command, options.config, "-s", "workload.size", "Message size (65536; latency 2)", "BYTES");
  command.add_flag("-a", options.all_sizes, "All sizes from 2 to 2^23 bytes")->excludes(size);
  add_setting(command, options.config, "-n", "workload.iterations", "Messages per QP and size (5000; latency 1000)",
              "ITERS");
  add_setting(command, options.config, "-q", "workload.qps", "Queue pairs (1)", "QPS");
  add_setting(command, options.config, "-t", "workload.tx_depth", "Messages outstanding per QP (128)", "DEPTH");
  add_setting(command, options.config, "-r", "workload.rx_depth", "Receives posted per QP (512)", "DEPTH");
  add_setting(command, options.config, "--outs", "nic.max_reads", "READ requests outstanding per QP (16)", "READS");
  add_setting(command, options.config, "-m", "nic.pmtu", "Path MTU", "MTU");
  add_switch(command, options.config, "-b", "workload.bidirectional", "Both directions at once, on the same QPs");
  add_switch(command, options.config, "--imm", "workload.immediate", "Immediate data with every WRITE or SEND");
  command.add_flag("-H", options.all_results, "Print every latency of a latency test, sorted");
  command.add_flag("--report_gbits", options.report_gbits, "Bandwidth in Gb/sec in place of MB/sec");
  add_config_file(command, options.config);
  add_common_options(command, options);
  add_trace_options(command, options.trace);
}

void add_options(CLI::App& command, ReplayOptions& options) {
  add_capture_options(command, options.capture);
  command
      .add_option("--as", options.as, "Endpoint of the capture whose place the NIC takes: all that the prefix holds")
      ->type_name("IP|PREFIX|MAC")
      ->required();
  command
      .add_option("--mode", options.mode, "clocked (default); functional: transport logic alone, for large captures")
      ->type_name("MODE")
      ->check(CLI::IsMember({"clocked", "functional"}));
  command.add_option("--pace", options.pace, "When packets reach the NIC: captured (default), line, or a rate in Gb/s")
      ->type_name("PACE");
  command
      .add_option("--ack-compare", options.ack_compare,
                  "meaning (default): number and place of ACKs are free; exact: each one")
      ->type_name("HOW")
      ->check(CLI::IsMember({"meaning", "exact"}));
  command
      .add_option("--peer-quirks", options.peer_quirks,
                  "Named departures of the captured endpoint that are no failures: rxe, none (default)")
      ->type_name("PEER")
      ->check(CLI::IsMember({"rxe", "none"}));
  add_config_file(command, options.config);
  add_common_options(command, options);
}

void add_options(CLI::App& command, TriageOptions& options) {
  add_capture_options(command, options.capture);
  command.add_option("--top", options.top, "How many of the worst connections to show (10)")->type_name("N");
  command.add_flag("--json", options.json, "As JSON, with every connection");
}

void add_options(CLI::App& command, ExtractOptions& options) {
  add_capture_options(command, options.capture);
  command.add_option("--hosts", options.hosts, "Which two hosts, where the capture has several pairs: nic0 and nic1")
      ->type_name("A,B");
  add_text(command, "-o", options.scenario, "The scenario to write, a new file")->type_name("FILE")->required();
}

void add_options(CLI::App& command, DiffOptions& options) {
  add_text(command, "run_a", options.run_a, "Run folder: before")->type_name("RUN_A")->required();
  add_text(command, "run_b", options.run_b, "Run folder: after")->type_name("RUN_B")->required();
  command.add_flag("--json", options.json, "As JSON");
  command
      .add_option("--fail-above", options.fail_above_percent,
                  "Exit 1 only when a latency or a rate moved by more than this, or the outcome is another")
      ->type_name("PERCENT")
      ->check(from_zero());
}

void add_options(CLI::App& command, ShowOptions& options) {
  add_text(command, "file", options.config.file, "TOML file with parameters")->type_name("FILE");
  add_config_options(command, options.config);
}

void add_options(CLI::App& command, SchemaOptions& options) {
  command.add_flag("--json", options.json, "As JSON");
}

void add_options(CLI::App&, PipelineOptions&) {}

}  // namespace sim
