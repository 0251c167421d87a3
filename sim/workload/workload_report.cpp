#include "sim/workload/workload_report.hpp"

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

double average_gbps(const Rates& r) {
  return per_second(r.bytes, r.time()) * 8e-9;
}
double average_messages_per_s(const Rates& r) {
  return per_second(r.messages, r.time());
}
double steady_gbps(const Rates& r) {
  return per_second(r.steady->bytes, r.steady->time) * 8e-9;
}
double steady_messages_per_s(const Rates& r) {
  return per_second(r.steady->messages, r.steady->time);
}

// The rates of both directions together; steady ones are null unless each direction has them.
void add_sums(Json& j, const std::vector<Rates>& directions) {
  const bool steady = std::all_of(directions.begin(), directions.end(), [](const Rates& r) { return bool(r.steady); });
  j["average_gbps"] = sum(directions, average_gbps);
  j["average_messages_per_s"] = sum(directions, average_messages_per_s);
  j["steady_gbps"] = steady ? Json(sum(directions, steady_gbps)) : Json();
  j["steady_messages_per_s"] = steady ? Json(sum(directions, steady_messages_per_s)) : Json();
}

Json to_json(const Rates& r) {
  Json j;
  j["messages"] = r.messages;
  j["first_post_ps"] = r.first_post;
  j["last_completion_ps"] = r.last_completion;
  j["steady_ps"] = r.steady ? Json(r.steady->time) : Json();
  j["steady_messages"] = r.steady ? Json(r.steady->messages) : Json();
  add_sums(j, {r});
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
  add_sums(j, directions);
  for (const Rates& r : directions) j["directions"].push_back(to_json(r));
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
  j["messages"] = r.messages;
  j["errors"] = r.errors;
  if (!r.first_error.empty()) j["first_error"] = r.first_error;
  j["memory_equal"] = r.memory_equal;
  if (!is_latency_test(spec)) add_rates(j, r.directions);
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
  return j;
}

std::string counters_text(const WorkloadResult& r) {
  std::string text;
  for (const auto& node : r.counters) text += counters_text(node.first, node.second);
  return text;
}

}  // namespace sim
