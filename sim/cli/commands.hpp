// The subcommands and their exit codes.
#pragma once

#include "sim/cli/options.hpp"

namespace sim {

// Exit codes: good; the run's own check failed or an output could not be written; bad input or usage.
constexpr int kGood = 0, kFailed = 1, kBadInput = 2;

// The subcommands. Each returns the exit code. Bad input throws, or is kBadInput where it shows only after a run.
int run_command(const RunOptions& options);
int perf_command(const PerfOptions& options);
int replay_command(const ReplayOptions& options);
int triage_command(const TriageOptions& options);
int extract_command(const ExtractOptions& options);
int diff_command(const DiffOptions& options);
int show_command(const ShowOptions& options);
int schema_command(const SchemaOptions& options);
int pipeline_command(const PipelineOptions& options);

}  // namespace sim
