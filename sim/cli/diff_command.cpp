// balboa diff: two run folders in, what differs out.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/diff/diff_report.hpp"
#include "sim/report/run_folder.hpp"

namespace sim {

int diff_command(const DiffOptions& o) {
  const RunDiff diff = compare_runs(o.run_a, o.run_b);
  fmt::print("{}", o.json ? to_text(diff_json(diff)) : diff_text(diff));
  const bool failed = o.fail_above_percent ? diff.moved_above(*o.fail_above_percent) : diff.differ();
  return failed ? kFailed : kGood;
}

}  // namespace sim
