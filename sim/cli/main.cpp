// balboa: reads the command line and hands over to a subcommand. Exit codes: 0 good, 1 the run's own check failed or
// an output could not be written, 2 bad input or usage.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <iostream>

#include "sim/cli/commands.hpp"
#include "sim/config/error.hpp"
#include "sim/config/version.hpp"
#include "traces/error.hpp"

namespace {

struct CommandLine {
  sim::RunOptions run;
  sim::PerfOptions perf;
  sim::ReplayOptions replay;
  sim::TriageOptions triage;
  sim::ExtractOptions extract;
  sim::DiffOptions diff;
  sim::ShowOptions show;
  sim::SchemaOptions schema;
  sim::PipelineOptions pipeline;
  std::function<int()> chosen;
};

template <class Options>
void add_command(CLI::App& parent, CommandLine& line, const char* name, const char* sentence, Options& options,
                 int (*command)(const Options&)) {
  CLI::App* app = parent.add_subcommand(name, sentence);
  sim::add_options(*app, options);
  app->callback([&line, &options, command] { line.chosen = [&options, command] { return command(options); }; });
}

void declare_commands(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", sim::version());
  app.require_subcommand(1);
  add_command(app, line, "run", "Simulate a scenario", line.run, sim::run_command);
  add_command(app, line, "perf", "Measure bandwidth or latency as perftest does", line.perf, sim::perf_command);
  add_command(app, line, "replay", "Put the NIC in the place of a captured endpoint and compare", line.replay,
              sim::replay_command);
  add_command(app, line, "triage", "What each connection of a capture did, and what went wrong with it", line.triage,
              sim::triage_command);
  add_command(app, line, "extract", "Make a scenario of a capture: work requests, think times and losses", line.extract,
              sim::extract_command);
  add_command(app, line, "diff", "Compare two run folders: exit 0 the same, 1 they differ", line.diff,
              sim::diff_command);
  CLI::App* config = app.add_subcommand("config", "Parameters, what a run would use, and the pipeline");
  config->require_subcommand(1);
  add_command(*config, line, "show", "Print the resolved configuration as TOML", line.show, sim::show_command);
  add_command(*config, line, "schema", "List every parameter", line.schema, sim::schema_command);
  add_command(*config, line, "pipeline", "Print stages and streams as a Graphviz graph", line.pipeline,
              sim::pipeline_command);
}

int complain(const std::exception& error, int exit_code) {
  std::fprintf(stderr, "balboa: %s\n", error.what());
  return exit_code;
}

// What was printed may still wait in a buffer, and be lost there.
int flushed(int exit_code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  std::fprintf(stderr, "balboa: standard output: cannot be written\n");
  return exit_code == sim::kGood ? sim::kFailed : exit_code;
}

// Warnings go to standard error, in the form of the errors.
void set_up_log() {
  spdlog::set_default_logger(spdlog::stderr_logger_st("balboa"));
  spdlog::set_pattern("%n: %l: %v");
}

}  // namespace

int main(int argc, char** argv) {
  set_up_log();
  CLI::App app("Balboa: a RoCE v2 NIC, simulated cycle by cycle from the source of its hardware.", "balboa");
  CommandLine line;
  declare_commands(app, line);
  try {
    app.parse(argc, argv);
    return flushed(line.chosen());
  } catch (const CLI::Success& help) {
    return flushed(app.exit(help));
  } catch (const CLI::ParseError& error) {
    return complain(error, sim::kBadInput);
  } catch (const sim::InputError& error) {
    return complain(error, sim::kBadInput);
  } catch (const traces::InputError& error) {
    return complain(error, sim::kBadInput);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "balboa: out of memory; workload.size, workload.qps and nic.qp_count say how much is needed\n");
    return sim::kFailed;
  } catch (const std::exception& error) {
    return complain(error, sim::kFailed);
  }
}
