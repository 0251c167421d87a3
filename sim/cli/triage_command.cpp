// balboa triage: what each connection of a capture did, and what went wrong with it.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/config/error.hpp"
#include "sim/report/run_folder.hpp"
#include "sim/triage/triage.hpp"

namespace sim {
namespace {

std::pair<traces::IpAddress, std::string> host_and_file(const std::string& text) {
  const size_t equals = text.find('=');
  const auto host = traces::parse_ip(text.substr(0, equals));
  if (equals == std::string::npos || !host) {
    throw InputError("--qp-table: \"" + text +
                     "\"; allowed: ADDRESS=FILE, the host and what `rdma res show qp -j` printed there");
  }
  return {*host, text.substr(equals + 1)};
}

}  // namespace

int triage_command(const TriageOptions& o) {
  if (o.to_s && *o.to_s < o.from_s.value_or(0))
    throw InputError(fmt::format("--to {}: ends before --from {}", *o.to_s, o.from_s.value_or(0)));
  TriageRun run;
  run.files = o.files;
  run.path_mtu = o.path_mtu;
  run.mr_table = o.mr_table;
  for (const std::string& table : o.qp_tables) run.qp_tables.push_back(host_and_file(table));
  run.qpn = o.qpn;
  run.from_s = o.from_s;
  run.to_s = o.to_s;
  const TriageResult result = triage(run);
  fmt::print("{}", o.json ? to_text(triage_json(result, o.top)) : triage_text(result, o.top));
  // What came before the place where a capture breaks off was counted; the break is told at the end.
  if (result.input_error.empty()) return kGood;
  std::fflush(stdout);
  fmt::print(stderr, "balboa: {}\n", result.input_error);
  return kBadInput;
}

}  // namespace sim
