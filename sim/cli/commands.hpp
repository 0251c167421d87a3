// The subcommands. Each returns the exit code: 0 good, 1 when the run's own check failed. Bad input throws, or is 2
// where it shows only after a run.
#pragma once

#include "sim/cli/options.hpp"

namespace sim {

int run_command(const RunOptions& options);
int perf_command(const PerfOptions& options);
int replay_command(const ReplayOptions& options);
int show_command(const ShowOptions& options);
int schema_command(const SchemaOptions& options);
int pipeline_command(const PipelineOptions& options);

}  // namespace sim
