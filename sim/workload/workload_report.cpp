#include "sim/workload/workload_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sim {

namespace {

using Json = nlohmann::ordered_json;

// Of sorted samples; `permille` 500 is the median.
hw::Picoseconds percentile(const std::vector<hw::Picoseconds>& sorted, uint64_t permille) {
  return sorted.empty() ? 0 : sorted[std::min<size_t>(sorted.size() - 1, sorted.size() * permille / 1000)];
}

// The sum over the directions of what `f` says of each.
template <class F>
double sum(const std::vector<Rates>& directions, F f) {
  double total = 0;
  for (const Rates& r : directions) total += f(r);
  return total;
}

// Of one direction or both; the steady ones only where the run has a steady state.
void add_rates_per_second(Json& j, const std::vector<Rates>& directions) {
  j["average_gbps"] = sum(directions, [](const Rates& r) { return per_second(r.bytes, r.time()) * 8e-9; });
  j["average_messages_per_s"] = sum(directions, [](const Rates& r) { return per_second(r.messages, r.time()); });
  for (const Rates& r : directions)
    if (r.steady_time == 0) return;
  j["steady_gbps"] = sum(directions, [](const Rates& r) { return per_second(r.steady_bytes, r.steady_time) * 8e-9; });
  j["steady_messages_per_s"] =
      sum(directions, [](const Rates& r) { return per_second(r.steady_messages, r.steady_time); });
}

Json to_json(const Rates& r) {
  Json j;
  j["messages"] = r.messages;
  j["first_post_ps"] = r.first_post;
  j["last_completion_ps"] = r.last_completion;
  j["steady_ps"] = r.steady_time;
  j["steady_messages"] = r.steady_messages;
  add_rates_per_second(j, {r});
  j["qp_bytes_least"] = r.least_qp_bytes;
  j["qp_bytes_most"] = r.most_qp_bytes;
  return j;
}

void add_rates(Json& j, const std::vector<Rates>& directions) {
  if (directions.empty()) return;
  if (directions.size() == 1) {
    j.update(to_json(directions.front()));
    return;
  }
  add_rates_per_second(j, directions);
  for (const Rates& r : directions) j["directions"].push_back(to_json(r));
}

void add_result(Json& j, bool rates, const WorkloadResult& r) {
  j["messages"] = r.messages;
  j["errors"] = r.errors;
  if (!r.first_error.empty()) j["first_error"] = r.first_error;
  j["memory_equal"] = r.memory_equal;
  if (rates) add_rates(j, r.directions);
  j["latency_ps"] = {{"min", percentile(r.samples, 0)},
                     {"median", percentile(r.samples, 500)},
                     {"p99", percentile(r.samples, 990)},
                     {"p99_9", percentile(r.samples, 999)},
                     {"max", r.samples.empty() ? 0 : r.samples.back()}};
  j["frames"] = r.link_frames;
  j["frames_lost"] = r.link_dropped;
  j["end_ps"] = r.outcome.end;
  j["problems"] = r.problems();
  for (const auto& node : r.counters)
    for (const CounterValue& c : node.second) j["counters"][node.first][c.name] = c.value;
}

}  // namespace

std::string test_name(const WorkloadConfig& workload) {
  return workload.operation + "_" + workload.test;
}

BandwidthRow bandwidth_row_of(const WorkloadConfig& spec, const WorkloadResult& r) {
  BandwidthRow row;
  row.bytes = spec.size_bytes;
  row.iterations = spec.iterations;
  row.average_bytes_per_s = sum(r.directions, [](const Rates& d) { return per_second(d.bytes, d.time()); });
  row.peak_bytes_per_s = sum(r.directions, [](const Rates& d) { return per_second(d.peak_bytes, d.peak_time); });
  row.messages_per_s = sum(r.directions, [](const Rates& d) { return per_second(d.messages, d.time()); });
  return row;
}

LatencyRow latency_row_of(const WorkloadConfig& spec, const WorkloadResult& r) {
  LatencyRow row;
  row.bytes = spec.size_bytes;
  row.iterations = spec.iterations;
  if (r.samples.empty()) return row;
  double total = 0, squares = 0;
  for (const hw::Picoseconds s : r.samples) total += double(s);
  const double mean = total / double(r.samples.size());
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

Json to_json(const WorkloadConfig& spec, const WorkloadResult& r) {
  Json j;
  j["test"] = test_name(spec);
  j["size_bytes"] = spec.size_bytes;
  j["iterations"] = spec.iterations;
  j["qps"] = spec.qps;
  j["tx_depth"] = spec.tx_depth;
  add_result(j, !is_latency_test(spec), r);
  return j;
}

Json listed_json(size_t connections, const WorkloadResult& r) {
  Json j;
  j["test"] = "listed";
  j["qps"] = connections;
  add_result(j, true, r);
  return j;
}

std::string listed_table(const WorkloadResult& r) {
  std::string text = " from       messages            bytes    first post[usec]    last completion[usec]\n";
  for (const Rates& d : r.directions)
    text += fmt::format(" nic{:<6} {:<10} {:>14} {:>19.3f} {:>24.3f}\n", d.from, d.messages, d.bytes,
                        double(d.first_post) / 1e6, double(d.last_completion) / 1e6);
  return text;
}

std::string counters_text(const WorkloadResult& r) {
  std::string text;
  for (const auto& node : r.counters) text += counters_text(node.first, node.second);
  return text;
}

}  // namespace sim
