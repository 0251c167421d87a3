// balboa replay: a capture in, a verdict out.
#include <fmt/format.h>

#include <cstdlib>

#include "sim/cli/commands.hpp"
#include "sim/cli/run_report.hpp"
#include "sim/config/resolve.hpp"
#include "sim/replay/replay.hpp"

namespace sim {

namespace {

Pace pace_of(const std::string& text) {
  if (text == "captured") return {};
  if (text == "line") return {Pace::kLine, 0};
  char* end = nullptr;
  const double gbps = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !(gbps >= 0.001 && gbps <= 10000))
    throw InputError("--pace: \"" + text + "\"; allowed are captured, line, and a rate of 0.001 to 10000 Gb/s");
  return {Pace::kRate, gbps};
}

void check_functional(const ReplayOptions& o) {
  if (o.mode != "functional") return;
  const auto refuse = [](const std::string& option) {
    throw InputError(option + ": the functional mode has no clock and no line; allowed is it with --mode clocked");
  };
  if (o.pace != "captured") refuse("--pace");
  if (o.pcap) refuse("--pcap");
}

ReplayRun run_of(const ReplayOptions& o) {
  check(o.capture);
  check_functional(o);
  ReplayRun run;
  run.files = o.capture.files;
  run.as = o.as;
  run.functional = o.mode == "functional";
  run.pace = pace_of(o.pace);
  run.verdict.ack_compare = o.ack_compare == "exact" ? AckCompare::kExact : AckCompare::kMeaning;
  run.verdict.peer = o.peer_quirks == "rxe" ? Peer::kRxe : Peer::kNone;
  run.path_mtu = o.capture.path_mtu;
  run.mr_table = o.capture.mr_table;
  run.qp_tables = qp_tables_of(o.capture);
  run.qpn = o.capture.qpn;
  run.from_s = o.capture.from_s;
  run.to_s = o.capture.to_s;
  run.show_progress = !o.quiet;
  return run;
}

}  // namespace

int replay_command(const ReplayOptions& o) {
  const Config config = resolve(o.config);
  ReplayRun run = run_of(o);
  RunReport report(o, config, "replay");
  run.pcap_folder = report.pcap_folder();
  const ReplayResult r = replay(config, run);
  if (report.wants_tables()) fmt::print("{}", replay_text(r));
  for (const std::string& line : r.failures()) fmt::print(stderr, "balboa: {}\n", line);
  report.write("counters.txt", counters_text("nic0", r.counters));
  report.finish(r.outcome.end, replay_json(r));
  // What came before the place where a capture breaks off was replayed; the break is told at the end.
  if (!r.input_error.empty()) {
    std::fflush(stdout);
    fmt::print(stderr, "balboa: {}\n", r.input_error);
    return kBadInput;
  }
  return r.failures().empty() ? kGood : kFailed;
}

}  // namespace sim
