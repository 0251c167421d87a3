// balboa replay: a capture in, a verdict out.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "sim/cli/commands.hpp"
#include "sim/config/resolve.hpp"
#include "sim/config/show.hpp"
#include "sim/replay/replay.hpp"
#include "sim/report/run_folder.hpp"

namespace sim {

namespace {

void print_flow(const FlowVerdict& v) {
  const traces::ReplayFlow& f = v.flow;
  fmt::print("QP {:#x}, peer {}: {} packets in, {} answers captured\n", f.our_qpn, traces::to_string(f.peer),
             f.packets.size(), f.responses.size());
  for (const std::string& line : f.assumptions) fmt::print("  assumed: {}\n", line);
  if (!f.ambiguous.empty()) fmt::print("  ambiguous: {}\n", f.ambiguous);
  if (f.unsupported_opcodes != 0)
    fmt::print("  {} requests are not RDMA WRITE, which is all that this NIC serves\n", f.unsupported_opcodes);
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
  fmt::print("{}\n", r.good() ? "every ACK matches" : "the NIC does not answer as the capture does");
}

}  // namespace

int replay_command(const ReplayOptions& o) {
  const auto start = std::chrono::steady_clock::now();
  const Config config = resolve(o.config);
  const auto as = traces::parse_ipv4(o.as);
  if (!as) throw InputError("--as: \"" + o.as + "\" is no address; allowed is IPv4 in dotted form, such as 10.0.0.1");
  std::unique_ptr<RunFolder> folder;
  if (!o.output.empty()) {
    folder = std::make_unique<RunFolder>(o.output);
    folder->write("config.toml", to_toml(config));
  }
  ReplayRun run;
  run.file = o.capture;
  run.as = *as;
  run.pcap_folder = o.pcap && folder ? folder->file("") : "";
  run.show_progress = !o.quiet;
  const ReplayResult r = replay(config, run);
  if (!o.quiet && !o.json) print(r);
  nlohmann::ordered_json result = result_header(config.sim.seed, r.outcome.end);
  result["command"] = "replay";
  result.update(to_json(r));
  if (o.json) fmt::print("{}", to_text(result));
  for (const std::string& line : r.outcome.problems) fmt::print(stderr, "balboa: {}\n", line);
  if (folder) {
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    folder->write("counters.txt", counters_text("nic0", r.counters));
    folder->write("result.json", to_text(result));
    folder->write("host.json",
                  to_text(host_report(wall_s, hw::Clock(config.nic.clock_hz).edge_at_or_after(r.outcome.end),
                                      config.nic.clock_hz)));
    folder->commit();
  }
  if (!r.capture.input_error.empty()) throw InputError(r.capture.input_error);
  return r.good() ? 0 : 1;
}

}  // namespace sim
