// balboa triage: what each connection of a capture did, and what went wrong with it.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/report/run_folder.hpp"
#include "sim/triage/triage.hpp"

namespace sim {
int triage_command(const TriageOptions& o) {
  check(o.capture);
  TriageRun run;
  run.files = o.capture.files;
  run.path_mtu = o.capture.path_mtu;
  run.mr_table = o.capture.mr_table;
  run.qp_tables = qp_tables_of(o.capture);
  run.qpn = o.capture.qpn;
  run.from_s = o.capture.from_s;
  run.to_s = o.capture.to_s;
  const TriageResult result = triage(run);
  fmt::print("{}", o.json ? to_text(triage_json(result, o.top)) : triage_text(result, o.top));
  // What came before the place where a capture breaks off was counted; the break is told at the end.
  if (result.input_error.empty()) return kGood;
  std::fflush(stdout);
  fmt::print(stderr, "balboa: {}\n", result.input_error);
  return kBadInput;
}

}  // namespace sim
