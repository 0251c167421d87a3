#include "sim/workload/write_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/perf.hpp"
#include "sim/config/error.hpp"

namespace sim {

namespace {

models::QpAttr qp_attr(const NicConfig& config) {
  models::QpAttr attr;
  attr.path_mtu = models::ibv_mtu(__builtin_ctz(config.pmtu_bytes) - 7);
  attr.timeout = config.timeout;
  attr.retry_cnt = config.retry_count;
  attr.sq_psn = 0x000100;
  attr.rq_psn = 0x800100;
  return attr;
}

models::CpuParams cpu_params(const HostConfig& config) {
  return {config.post_ps, config.poll_ps};
}

std::string dotted(uint32_t ip) {
  return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

class BandwidthActivity : public Activity {
 public:
  explicit BandwidthActivity(const models::WriteBandwidth& w) : w_(w) {}
  bool done() const override { return w_.done(); }
  uint64_t progress() const override { return w_.completions().size() + w_.errors(); }

 private:
  const models::WriteBandwidth& w_;
};

class LatencyActivity : public Activity {
 public:
  explicit LatencyActivity(const models::WriteLatency& w) : w_(w) {}
  bool done() const override { return w_.done(); }
  uint64_t progress() const override { return w_.client.posts().size() + w_.server.posts().size(); }

 private:
  const models::WriteLatency& w_;
};

// The fastest that any 1, 2, 4, ... or all messages in a row were, from the first one's post to the last one's
// completion: the peak of perftest, which looks at every number of messages.
void find_peak(const std::vector<hw::Picoseconds>& posts, const std::vector<hw::Picoseconds>& completions,
               WorkloadResult& r) {
  const size_t all = completions.size();
  for (size_t count = 1;; count = std::min(count * 2, all)) {
    for (size_t first = 0; first + count <= all; first++) {
      const hw::Picoseconds time = completions[first + count - 1] - posts[first];
      if (r.peak_messages != 0 && double(count) * double(r.peak_time) <= double(r.peak_messages) * double(time))
        continue;
      r.peak_messages = count;
      r.peak_time = time;
    }
    if (count == all) return;
  }
}

void find_rates(const models::WriteBandwidth& workload, WorkloadResult& r) {
  const std::vector<hw::Picoseconds>& completions = workload.completions();
  if (completions.empty()) return;
  const size_t n = completions.size(), first = n / 10, last = n - 1 - n / 10;
  r.first_post = workload.posts().front();
  r.last_completion = completions.back();
  r.steady_first = completions[first];
  r.steady_last = completions[last];
  r.steady_messages = last - first;
  find_peak(workload.posts(), completions, r);
}

void run_bandwidth(const Config& config, Testbed& bed, const WorkloadRun& run, WorkloadResult& r) {
  const WorkloadConfig& spec = config.workload;
  models::WriteBandwidthParams p;
  p.qps = spec.qps;
  p.tx_depth = spec.tx_depth;
  p.size = spec.size_bytes;
  p.iterations = spec.iterations;
  p.seed = config.sim.seed;
  p.attr = qp_attr(config.nic);
  p.cpu = cpu_params(config.host);
  models::WriteBandwidth workload(p, bed.node(0).host(), bed.node(1).host());
  workload.waker = bed.node(0).attach("host.write_bw", workload);
  r.outcome = bed.run(BandwidthActivity(workload), run.show_progress);
  r.messages = workload.completions().size();
  r.errors = workload.errors();
  if (r.errors != 0) r.first_error = models::name_of(workload.first_error());
  r.memory_equal = workload.verify();
  find_rates(workload, r);
}

void run_latency(const Config& config, Testbed& bed, const WorkloadRun& run, WorkloadResult& r) {
  const WorkloadConfig& spec = config.workload;
  models::WriteLatencyParams p;
  p.size = spec.size_bytes;
  p.iterations = spec.iterations;
  p.seed = config.sim.seed;
  p.attr = qp_attr(config.nic);
  p.cpu = cpu_params(config.host);
  models::WriteLatency workload(p, bed.node(0).host(), bed.node(1).host());
  workload.client.waker = bed.node(0).attach("host.write_lat", workload.client);
  workload.server.waker = bed.node(1).attach("host.write_lat", workload.server);
  r.outcome = bed.run(LatencyActivity(workload), run.show_progress);
  r.messages = workload.client.posts().size() + workload.server.posts().size();
  r.errors = workload.client.errors() + workload.server.errors();
  r.memory_equal = workload.verify();
  r.samples = workload.samples();
  std::sort(r.samples.begin(), r.samples.end());
}

// Of sorted samples; `permille` 500 is the median.
hw::Picoseconds percentile(const std::vector<hw::Picoseconds>& sorted, uint64_t permille) {
  return sorted.empty() ? 0 : sorted[std::min<size_t>(sorted.size() - 1, sorted.size() * permille / 1000)];
}

double per_second(uint64_t amount, hw::Picoseconds time) {
  return time == 0 ? 0 : double(amount) * 1e12 / double(time);
}

}  // namespace

bool is_latency_test(const WorkloadConfig& workload) {
  return workload.test == "lat";
}

double WorkloadResult::steady_messages_per_s() const {
  return per_second(steady_messages, steady_last - steady_first);
}

std::vector<std::string> WorkloadResult::problems() const {
  std::vector<std::string> lines = outcome.problems;
  if (errors != 0) lines.push_back(fmt::format("{} work requests failed, the first with {}", errors, first_error));
  if (!memory_equal) lines.push_back("the target's memory does not equal the source's");
  return lines;
}

void check_workload(const Config& config) {
  const WorkloadConfig& w = config.workload;
  const uint32_t most = is_latency_test(w) ? 1 : config.nic.qp_count;
  if (w.qps > most) throw InputError(fmt::format("workload.qps: {} is too many; allowed is 1 to {}", w.qps, most));
  if (w.size_bytes == 0 && is_latency_test(w))
    throw InputError("workload.size: 0 bytes cannot be polled for; allowed is 1 byte and more in a latency test");
}

WorkloadResult run_write_workload(const Config& config, const WorkloadRun& run) {
  check_workload(config);
  WorkloadResult r;
  Testbed bed(config, 2);
  bed.join(0, 1, run.forward, run.backward);
  if (!run.pcap_folder.empty())
    bed.capture([&run](const std::string& node) { return run.pcap_folder + "/" + node + ".pcap"; });
  if (is_latency_test(config.workload))
    run_latency(config, bed, run, r);
  else
    run_bandwidth(config, bed, run, r);
  for (size_t i = 0; i < bed.size(); i++) {
    r.counters.emplace_back(bed.node(i).name(), bed.node(i).counters());
    r.addresses.push_back({i == 0 ? "local" : "remote", 0, 0, 0, 0, dotted(bed.node(i).host().ip)});
  }
  for (const auto& link : bed.links()) {
    r.link_frames += link->frames;
    r.link_dropped += link->dropped;
  }
  return r;
}

BandwidthRow bandwidth_row_of(const WorkloadConfig& spec, const WorkloadResult& r) {
  const hw::Picoseconds time = r.last_completion - r.first_post;
  BandwidthRow row;
  row.bytes = spec.size_bytes;
  row.iterations = spec.iterations;
  row.average_bytes_per_s = per_second(r.messages * spec.size_bytes, time);
  row.peak_bytes_per_s = per_second(r.peak_messages * spec.size_bytes, r.peak_time);
  row.messages_per_s = per_second(r.messages, time);
  return row;
}

LatencyRow latency_row_of(const WorkloadConfig& spec, const WorkloadResult& r) {
  LatencyRow row;
  row.bytes = spec.size_bytes;
  row.iterations = spec.iterations;
  if (r.samples.empty()) return row;
  double sum = 0, squares = 0;
  for (const hw::Picoseconds s : r.samples) sum += double(s);
  const double mean = sum / double(r.samples.size());
  for (const hw::Picoseconds s : r.samples) squares += (double(s) - mean) * (double(s) - mean);
  row.min_us = double(r.samples.front()) / 1e6;
  row.max_us = double(r.samples.back()) / 1e6;
  row.typical_us = double(percentile(r.samples, 500)) / 1e6;
  row.average_us = mean / 1e6;
  row.stdev_us = std::sqrt(squares / double(r.samples.size())) / 1e6;
  row.p99_us = double(percentile(r.samples, 990)) / 1e6;
  row.p999_us = double(percentile(r.samples, 999)) / 1e6;
  return row;
}

nlohmann::ordered_json to_json(const WorkloadConfig& spec, const WorkloadResult& r) {
  nlohmann::ordered_json j;
  const bool bandwidth = !is_latency_test(spec);
  j["test"] = bandwidth ? "write_bw" : "write_lat";
  j["size_bytes"] = spec.size_bytes;
  j["iterations"] = spec.iterations;
  j["qps"] = spec.qps;
  j["tx_depth"] = spec.tx_depth;
  j["messages"] = r.messages;
  j["errors"] = r.errors;
  if (!r.first_error.empty()) j["first_error"] = r.first_error;
  j["memory_equal"] = r.memory_equal;
  if (bandwidth) {
    j["first_post_ps"] = r.first_post;
    j["last_completion_ps"] = r.last_completion;
    j["steady_ps"] = r.steady_last - r.steady_first;
    j["steady_messages"] = r.steady_messages;
    j["steady_gbps"] = r.steady_messages_per_s() * 8e-9 * spec.size_bytes;
    j["steady_messages_per_s"] = r.steady_messages_per_s();
  } else {
    j["latency_ps"] = {{"min", percentile(r.samples, 0)},
                       {"median", percentile(r.samples, 500)},
                       {"p99", percentile(r.samples, 990)},
                       {"p99_9", percentile(r.samples, 999)},
                       {"max", r.samples.empty() ? 0 : r.samples.back()}};
  }
  j["frames"] = r.link_frames;
  j["frames_lost"] = r.link_dropped;
  j["end_ps"] = r.outcome.end;
  j["problems"] = r.problems();
  for (const auto& node : r.counters)
    for (const CounterValue& c : node.second) j["counters"][node.first][c.name] = c.value;
  return j;
}

std::string counters_text(const WorkloadResult& r) {
  std::string text;
  for (const auto& node : r.counters) text += counters_text(node.first, node.second);
  return text;
}

}  // namespace sim
