// The account of all messages as table, JSON and latency.csv.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/trace/account.hpp"

namespace sim {

namespace {

Picoseconds percentile(const std::vector<Picoseconds>& sorted, unsigned percent) {
  return sorted.empty() ? 0 : sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

double ns(double ps) {
  return ps / 1000;
}

struct Column {
  std::vector<Picoseconds> times;  // of every message, sorted
  double average() const {
    double sum = 0;
    for (const Picoseconds t : times) sum += double(t);
    return times.empty() ? 0 : sum / double(times.size());
  }
  nlohmann::ordered_json json() const {
    return {{"average", average()},
            {"p50", percentile(times, 50)},
            {"p99", percentile(times, 99)},
            {"max", times.empty() ? 0 : times.back()}};
  }
};

}  // namespace

// Rows of one name are one row, in the order in which messages meet them.
struct Account::Row {
  std::string name;
  Column service, queueing, total;
  double position = 0;  // mean place on the way, from the end

  double time() const { return service.average() + queueing.average(); }

  static std::vector<Row> all(const Account& account, std::vector<RowTime> MessageAccount::*rows, Column& total) {
    std::map<std::string, size_t> by_name;
    std::vector<Row> list;
    std::vector<double> uses;
    size_t n = 0;
    for (const MessageAccount& m : account.messages_) {
      if ((m.*rows).empty()) continue;
      n++;
      Picoseconds sum = 0;
      std::map<size_t, RowTime> merged;
      for (size_t i = 0; i < (m.*rows).size(); i++) {
        const RowTime& r = (m.*rows)[i];
        const auto [found, fresh] = by_name.emplace(account.row_name(r.row), list.size());
        if (fresh) {
          list.push_back({found->first, {}, {}, {}, 0});
          uses.push_back(0);
        }
        RowTime& to = merged[found->second];
        to.service += r.service;
        to.queueing += r.queueing;
        list[found->second].position += double(i);
        uses[found->second]++;
        sum += r.total();
      }
      for (const auto& [row, time] : merged) {
        list[row].service.times.push_back(time.service);
        list[row].queueing.times.push_back(time.queueing);
        list[row].total.times.push_back(time.total());
      }
      total.times.push_back(sum);
    }
    for (size_t i = 0; i < list.size(); i++) {
      list[i].position /= uses[i];
      for (Column* c : {&list[i].service, &list[i].queueing, &list[i].total}) {
        c->times.resize(n);
        std::sort(c->times.begin(), c->times.end());
      }
    }
    std::sort(total.times.begin(), total.times.end());
    std::stable_sort(list.begin(), list.end(), [](const Row& a, const Row& b) { return a.position > b.position; });
    return list;
  }
};

std::string Account::latency_csv() const {
  std::map<std::string, std::pair<bool, bool>> used;  // has service, has queueing
  for (const MessageAccount& m : messages_)
    for (const RowTime& r : m.to_completion) {
      auto& u = used[row_name(r.row)];
      u.first |= r.service != 0;
      u.second |= r.queueing != 0;
    }
  std::string text = "message,nic,qpn,index,bytes,post_ps,data_visible_ps,receive_completion_ps,completion_ps,total_ps";
  for (const auto& [name, u] : used) {
    if (u.first) text += "," + name + ".service_ps";
    if (u.second) text += "," + name + ".queueing_ps";
  }
  text += "\n";
  for (size_t i = 0; i < messages_.size(); i++) {
    const MessageAccount& m = messages_[i];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}", i + 1, recorder_.nodes()[m.node]->name, m.qpn, m.index,
                        m.bytes, m.begun, m.visible ? std::to_string(m.visible) : "",
                        m.received ? std::to_string(m.received) : "", m.completed, m.completed - m.begun);
    std::map<std::string, RowTime> rows;
    for (const RowTime& r : m.to_completion) {
      rows[row_name(r.row)].service += r.service;
      rows[row_name(r.row)].queueing += r.queueing;
    }
    for (const auto& [name, u] : used) {
      if (u.first) text += fmt::format(",{}", rows[name].service);
      if (u.second) text += fmt::format(",{}", rows[name].queueing);
    }
    text += "\n";
  }
  return text;
}

namespace {

// What the streams and stages of a run were like.
struct StreamLoad {
  std::string name;
  unsigned capacity, fullest;
  uint64_t cycles_full;
  double average_fill, full_share;
};
struct StageLoad {
  std::string name;
  double utilisation;
};

template <class Nodes>
std::vector<StreamLoad> stream_loads(Nodes& nodes) {
  std::vector<StreamLoad> loads;
  for (auto& node : nodes) {
    const hw::Cycles end = node->domain->last_active() + 1;
    for (StreamTrack& t : node->streams) {
      t.settle(end);
      const hw::StreamBase& s = t.stream();
      loads.push_back({s.spec().name, s.spec().capacity, s.max_fill(), t.cycles_full(),
                       double(t.fill_cycles()) / double(end), double(t.cycles_full()) / double(end)});
    }
  }
  return loads;
}

template <class Nodes>
std::vector<StageLoad> stage_loads(Nodes& nodes) {
  std::vector<StageLoad> loads;
  for (auto& node : nodes)
    for (const StageRecord& s : node->domain->stages())
      if (!s.inputs.empty() || !s.outputs.empty())
        loads.push_back({s.name, double(s.active) / double(node->domain->last_active() + 1)});
  return loads;
}

double fill_share(const StreamLoad& s) {
  return double(s.fullest) / s.capacity;
}

template <class Row>
nlohmann::ordered_json rows_json(const std::vector<Row>& rows, const Column& total) {
  nlohmann::ordered_json j = total.json();
  j["messages"] = total.times.size();
  j["rows"] = nlohmann::ordered_json::array();
  for (const Row& r : rows)
    j["rows"].push_back({{"row", r.name}, {"service_ps", r.service.json()}, {"queueing_ps", r.queueing.json()}});
  return j;
}

// Beside the way to the completion.
struct Way {
  const char *key, *end;
  std::vector<RowTime> MessageAccount::*rows;
};
constexpr Way kOtherWays[] = {
    {"post_to_data_visible_ps", "data visible", &MessageAccount::to_visible},
    {"post_to_receive_completion_ps", "receive completion", &MessageAccount::to_received},
};

// The row that a message waits for longest; when nothing waits, the one that takes longest.
template <class Row>
std::pair<const Row*, bool> bottleneck(const std::vector<Row>& rows) {
  const auto longest = [&rows](auto time) {
    return &*std::max_element(rows.begin(), rows.end(),
                              [&time](const Row& a, const Row& b) { return time(a) < time(b); });
  };
  const Row* queue = longest([](const Row& r) { return r.queueing.average(); });
  const Row* service = longest([](const Row& r) { return r.service.average(); });
  const bool queues = queue->queueing.average() > service->service.average();
  return {queues ? queue : service, queues};
}

}  // namespace

std::string Account::table() {
  Column total;
  const std::vector<Row> rows = Row::all(*this, &MessageAccount::to_completion, total);
  if (rows.empty()) return " no message has completed: nothing to account for\n";
  std::string text = fmt::format(
      " where the time goes, post to completion: {} messages, {:.3f} ns on average, 50 % {:.3f}, 99 % {:.3f}\n",
      total.times.size(), ns(total.average()), ns(double(percentile(total.times, 50))),
      ns(double(percentile(total.times, 99))));
  for (const Way& way : kOtherWays) {
    Column times;
    if (!Row::all(*this, way.rows, times).empty())
      text += fmt::format(" post to {}: {:.3f} ns on average, 50 % {:.3f}, 99 % {:.3f}\n", way.end, ns(times.average()),
                          ns(double(percentile(times.times, 50))), ns(double(percentile(times.times, 99))));
  }
  text += fmt::format(" {:<26}{:>14}{:>14}{:>9}{:>14}{:>14}\n", "row", "service[ns]", "queueing[ns]", "share",
                      "50 %[ns]", "99 %[ns]");
  for (const Row& r : rows)
    text += fmt::format(" {:<26}{:>14.3f}{:>14.3f}{:>7.1f} %{:>14.3f}{:>14.3f}\n", r.name, ns(r.service.average()),
                        ns(r.queueing.average()), 100 * r.time() / total.average(),
                        ns(double(percentile(r.total.times, 50))), ns(double(percentile(r.total.times, 99))));
  const auto [row, queues] = bottleneck(rows);
  text += fmt::format(" bottleneck: {} ({} {:.1f} % of the time)\n", row->name, queues ? "queueing" : "service",
                      100 * (queues ? row->queueing : row->service).average() / total.average());
  const auto stages = stage_loads(recorder_.nodes());
  const auto busiest = std::max_element(stages.begin(), stages.end(), [](const StageLoad& a, const StageLoad& b) {
    return a.utilisation < b.utilisation;
  });
  text += fmt::format(" busiest stage: {}, {:.1f} % of all cycles\n", busiest->name, 100 * busiest->utilisation);
  const auto streams = stream_loads(recorder_.nodes());
  const auto fullest = std::max_element(streams.begin(), streams.end(), [](const StreamLoad& a, const StreamLoad& b) {
    return std::make_pair(fill_share(a), a.average_fill / a.capacity) <
           std::make_pair(fill_share(b), b.average_fill / b.capacity);
  });
  text += fmt::format(" fullest FIFO: {}, {} of {}, {:.1f} on average\n", fullest->name, fullest->fullest,
                      fullest->capacity, fullest->average_fill);
  auto pressed = streams;
  std::stable_sort(pressed.begin(), pressed.end(),
                   [](const StreamLoad& a, const StreamLoad& b) { return a.cycles_full > b.cycles_full; });
  for (size_t i = 0; i < pressed.size() && i < 5 && pressed[i].cycles_full != 0; i++)
    text += fmt::format(" back-pressure: {} full in {} cycles, {:.1f} %\n", pressed[i].name, pressed[i].cycles_full,
                        100 * pressed[i].full_share);
  return text;
}

nlohmann::ordered_json Account::json() {
  Column total;
  const std::vector<Row> rows = Row::all(*this, &MessageAccount::to_completion, total);
  nlohmann::ordered_json j;
  j["post_to_completion_ps"] = rows_json(rows, total);
  for (const Way& way : kOtherWays) {
    Column times;
    const std::vector<Row> other = Row::all(*this, way.rows, times);
    if (!other.empty()) j[way.key] = rows_json(other, times);
  }
  if (!rows.empty()) {
    const auto [row, queues] = bottleneck(rows);
    j["bottleneck"] = {{"row", row->name}, {"kind", queues ? "queueing" : "service"}};
  }
  for (const StageLoad& s : stage_loads(recorder_.nodes())) j["utilisation"][s.name] = s.utilisation;
  for (const StreamLoad& s : stream_loads(recorder_.nodes()))
    j["streams"][s.name] = {{"capacity", s.capacity},
                            {"fullest", s.fullest},
                            {"average_fill", s.average_fill},
                            {"cycles_full", s.cycles_full}};
  return j;
}

}  // namespace sim
