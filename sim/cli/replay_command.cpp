// balboa replay: a capture in, a verdict out.
#include <fmt/format.h>

#include "sim/cli/commands.hpp"
#include "sim/cli/run_report.hpp"
#include "sim/config/resolve.hpp"
#include "sim/replay/replay.hpp"

namespace sim {

namespace {

void print_flow(const FlowVerdict& v) {
  const traces::ReplayFlow& f = v.flow;
  fmt::print("QP {:#x}, peer {}: {} packets in, {} answers captured\n", f.our_qpn, traces::to_string(f.peer),
             f.packets.size(), f.responses.size());
  for (const std::string& line : f.assumptions) fmt::print("  assumed: {}\n", line);
  if (!f.ambiguous.empty()) fmt::print("  ambiguous: {}\n", f.ambiguous);
  if (f.unsupported_opcodes != 0)
    fmt::print("  {} requests are not RDMA WRITE, whose answers alone are compared\n", f.unsupported_opcodes);
  fmt::print("  ACKs: {} match, {} different, {} missing, {} extra\n", v.acks.matched, v.acks.different, v.acks.missing,
             v.acks.extra);
  for (const std::string& line : v.acks.examples) fmt::print("    {}\n", line);
}

void print(const ReplayResult& r) {
  fmt::print("{} packets captured, {} given to the NIC, {} cut\n", r.capture.packets, r.frames_fed, r.frames_cut);
  for (size_t k = 0; k < traces::kFrameKinds; k++)
    if (r.capture.packets_by_kind[k] != 0)
      fmt::print("  {} {}\n", traces::name_of(traces::FrameKind(k)), r.capture.packets_by_kind[k]);
  for (const std::string& note : r.capture.notes) fmt::print("  {}\n", note);
  for (const FlowVerdict& flow : r.flows) print_flow(flow);
  fmt::print("{}\n", r.failures().empty() ? "every ACK matches" : "the NIC does not answer as the capture does");
}

}  // namespace

int replay_command(const ReplayOptions& o) {
  const Config config = resolve(o.config);
  const auto as = traces::parse_ipv4(o.as);
  if (!as) throw InputError("--as: \"" + o.as + "\" is no address; allowed is IPv4 in dotted form, such as 10.0.0.1");
  RunReport report(o, config, "replay");
  ReplayRun run;
  run.file = o.capture;
  run.as = *as;
  run.pcap_folder = report.pcap_folder();
  run.show_progress = !o.quiet;
  const ReplayResult r = replay(config, run);
  if (report.wants_tables()) print(r);
  for (const std::string& line : r.failures()) fmt::print(stderr, "balboa: {}\n", line);
  report.write("counters.txt", counters_text("nic0", r.counters));
  report.finish(r.outcome.end, to_json(r));
  // What came before the place where a capture breaks off was replayed; the break is told at the end.
  if (!r.capture.input_error.empty()) {
    fmt::print(stderr, "balboa: {}\n", r.capture.input_error);
    return kBadInput;
  }
  return r.failures().empty() ? kGood : kFailed;
}

}  // namespace sim
