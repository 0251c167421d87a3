// balboa perf: perftest's tables from the simulated NICs.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <utility>

#include "sim/cli/child.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/run_report.hpp"
#include "sim/config/resolve.hpp"
#include "sim/workload/workload_report.hpp"

namespace sim {

namespace {

using Json = nlohmann::ordered_json;

std::string banner(const Config& config) {
  static const std::map<std::string, std::string> kTitles = {
      {"write_bw", "RDMA_Write BW Test"}, {"write_lat", "RDMA_Write Latency Test"},
      {"read_bw", "RDMA_Read BW Test"},   {"read_lat", "RDMA_Read Latency Test"},
      {"send_bw", "Send BW Test"},        {"send_lat", "Send Latency Test"},
      {"mix_bw", "Mixed BW Test"}};
  const WorkloadConfig& w = config.workload;
  PerftestBanner b;
  b.title = (w.bidirectional ? "Bidirectional " : "") + kTitles.at(test_name(w));
  b.device = "balboa0";
  b.qps = w.qps;
  b.tx_depth = is_latency_test(w) ? 1 : w.tx_depth;
  b.rx_depth = w.operation == "send" ? w.rx_depth : 0;
  b.outstanding_reads = w.operation == "read" ? config.nic.max_reads : 0;
  b.mtu_bytes = config.nic.pmtu_bytes;
  return perftest_banner(b, {});
}

RateUnit unit_of(const PerfOptions& o) {
  return o.report_gbits ? RateUnit::gigabits : RateUnit::megabytes;
}

std::string heading(const PerfOptions& o, const WorkloadConfig& w) {
  return is_latency_test(w) ? latency_heading() : bandwidth_heading(unit_of(o));
}

// Options that the test would ignore.
void refuse_idle_options(const PerfOptions& o, const WorkloadConfig& w) {
  if (o.all_results && !is_latency_test(w))
    throw InputError("-H: a bandwidth test prints no latencies; allowed with --test lat");
  if (o.report_gbits && is_latency_test(w))
    throw InputError("--report_gbits: a latency test prints no rates; allowed with --test bw");
}

// What a run of one of several sizes traces: an account of each, files that are one for all of the last.
TraceOptions trace_of(TraceOptions trace, uint64_t size, const std::vector<uint64_t>& sizes) {
  if (sizes.size() > 1) trace.latency_file = fmt::format("latency_{}.csv", size);
  if (size != sizes.back()) trace.timeline = trace.waves = false;
  return trace;
}

// One row of the table, and the result of the run behind it, as one text that can cross a pipe.
Json simulate(const PerfOptions& o, Config config, uint64_t size, const std::string& pcap_folder) {
  config.workload.size_bytes = uint32_t(size);
  WorkloadRun run;
  run.pcap_folder = pcap_folder;
  run.show_progress = !o.quiet;
  const WorkloadResult r = run_workload(config, run);
  const bool latency = is_latency_test(config.workload);
  Json j;
  j["row"] = latency ? latency_row(latency_row_of(config.workload, r))
                     : bandwidth_row(bandwidth_row_of(config.workload, r), unit_of(o));
  if (latency && o.all_results) j["row"] = latency_results(r.samples) + j["row"].get<std::string>();
  j["good"] = r.problems().empty();
  j["result"] = to_json(config.workload, r);
  add_trace(j["result"], r.outcome);
  j["trace"] = trace_text(r.outcome);
  j["counters"] = counters_text(r);
  return j;
}

// Below this many messages start and end make up too much of a run.
constexpr uint64_t kSteadyMessages = 1000;

void print_steady(const Json& results) {
  for (const Json& r : results)
    if (r.contains("steady_gbps") && r["messages"] >= kSteadyMessages)
      fmt::print(" {} bytes, steady state (10 to 90 % of the bytes): {:.3f} Gb/s, {:.3f} Mmsg/s\n",
                 r["size_bytes"].get<uint64_t>(), r["steady_gbps"].get<double>(),
                 r["steady_messages_per_s"].get<double>() / 1e6);
}

// A sender that waits for what it sends again looks slow; the cause is who dropped it.
void print_losses(const Json& results) {
  for (const Json& r : results)
    for (const auto& [node, counters] : r["counters"].items()) {
      const uint64_t bytes = r["size_bytes"], dropped = counters.at("mac.rx.dropped"),
                     again = counters.at("tables.retransmit.retransmitted");
      if (dropped != 0) fmt::print(" {} bytes: the full receive FIFO of {} dropped {} frames\n", bytes, node, dropped);
      if (again != 0) fmt::print(" {} bytes: {} sent {} packets again\n", bytes, node, again);
    }
}

void print_problems(const Json& results) {
  for (const Json& r : results)
    for (const Json& line : r["problems"]) fmt::print(stderr, "balboa: {}\n", line.get<std::string>());
}

}  // namespace

int perf_command(const PerfOptions& o) {
  Config config = resolve(o.config);
  const std::vector<uint64_t> sizes = o.sizes(config.workload);
  config.workload.size_bytes = uint32_t(sizes.back());
  check_workload(config);
  refuse_idle_options(o, config.workload);
  RunReport report(o, config, "perf");
  std::string head = report.wants_tables() ? banner(config) + heading(o, config.workload) : "";
  Json results = Json::array();
  std::string told;
  bool good = true;
  uint64_t end_ps = 0;
  for (const uint64_t size : sizes) {
    const std::string pcap = size == sizes.back() ? report.pcap_folder() : "";
    config.trace = trace_of(report.trace(), size, sizes);
    const auto one = [&] { return simulate(o, config, size, pcap).dump(); };
    const Json j = Json::parse(sizes.size() == 1 ? one() : run_in_child(one));
    good = good && j["good"].get<bool>();
    end_ps += j["result"]["end_ps"].get<uint64_t>();
    results.push_back(j["result"]);
    const std::string trace = j["trace"];
    told += trace.empty() || sizes.size() == 1 ? trace : fmt::format(" {} bytes\n{}", size, trace);
    if (report.wants_tables()) fmt::print("{}{}", std::exchange(head, ""), j["row"].get<std::string>());
    report.write("counters.txt", j["counters"].get<std::string>());
  }
  if (report.wants_tables()) {
    fmt::print("{}", perftest_rule());
    print_steady(results);
    print_losses(results);
    fmt::print("{}", told);
  }
  print_problems(results);
  report.finish(end_ps, Json{{"results", results}});
  return good ? kGood : kFailed;
}

}  // namespace sim
