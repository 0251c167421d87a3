#include "sim/trace/account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sim {

namespace {

// Rows that are no stage: this bit, the node, and what it is. The wire belongs to no node.
constexpr uint16_t kPartBit = 0x8000;
constexpr unsigned kPartBits = 3;
constexpr uint16_t kClock = 4;
const char* const kPartNames[] = {"host", "pcie", "mac", "wire", "clock"};

void add(std::vector<RowTime>& rows, uint16_t row, bool service, Picoseconds time) {
  if (time == 0) return;
  const auto same = [row](const RowTime& r) { return r.row == row; };
  auto found = std::find_if(rows.begin(), rows.end(), same);
  if (found == rows.end()) found = rows.insert(rows.end(), RowTime{row, 0, 0});
  (service ? found->service : found->queueing) += time;
}

Picoseconds percentile(const std::vector<Picoseconds>& sorted, unsigned percent) {
  return sorted.empty() ? 0 : sorted[std::min(sorted.size() - 1, sorted.size() * percent / 100)];
}

double ns(double ps) {
  return ps / 1000;
}

}  // namespace

Account::Account(Recorder& recorder) : recorder_(recorder) {
  recorder.on_finished([this](const TracedMessage& m) {
    MessageAccount a;
    a.node = m.node;
    a.qpn = m.qpn;
    a.index = m.index;
    a.bytes = m.bytes;
    a.begun = recorder_.log().time_of(m.begun);
    a.visible = recorder_.log().time_of(m.visible);
    a.completed = recorder_.log().time_of(m.completed);
    a.received = recorder_.log().time_of(m.received);
    if (m.visible) a.to_visible = walk(m, m.visible);
    if (m.received) a.to_received = walk(m, m.received);
    a.to_completion = walk(m, m.completed);
    messages_.push_back(std::move(a));
  });
}

std::vector<RowTime> Account::walk(const TracedMessage& message, EventId end) const {
  const EventLog& log = recorder_.log();
  const Picoseconds begun = log.time_of(message.begun);
  const uint32_t of = recorder_.message_of(log.find(message.completed)->tag);
  std::vector<RowTime> rows;
  Picoseconds time = log.time_of(end);
  for (EventId at = end; at != message.begun && time > begun;) {
    const Event& event = *log.find(at);
    const Event* cause = log.find(event.cause);
    const Picoseconds from = std::min(time, std::max(begun, cause ? cause->time : begun));
    charge(rows, of, message.posted, at, from, time);
    time = from;
    at = event.cause;
  }
  return rows;
}

uint16_t Account::part_row(unsigned stage, hw::Part part) const {
  const unsigned node = part == hw::Part::wire ? 0 : stage / Recorder::kStages;
  return uint16_t(kPartBit | node << kPartBits | unsigned(part));
}

// The time between two moments, of which `event` is the end or lies behind it.
void Account::charge(std::vector<RowTime>& rows, uint32_t message, EventId posted, EventId at, Picoseconds from,
                     Picoseconds to) const {
  const EventLog& log = recorder_.log();
  const Event& event = *log.find(at);
  const Event* cause = log.find(event.cause);
  const bool ours = recorder_.message_of(event.tag) == message || at == posted;
  const bool all_ours =
      ours && cause && (recorder_.message_of(cause->tag) == message || event.cause == posted || at == posted);
  switch (event.release) {
    case Release::input:
      return add(rows, cause ? cause->stage : event.stage, ours, to - from);
    case Release::room:
      return add(rows, cause ? cause->stage : event.stage, false, to - from);
    case Release::own:
      return add(rows, event.stage, all_ours, to - from);
    case Release::spans:
      break;
  }
  // From the end backwards; what was cut off at the end has been charged by who came before.
  const Spans& spans = log.spans_of(at);
  Picoseconds left = to - from, skip = event.time - to;
  const auto take = [&left, &skip](Picoseconds span) {
    const Picoseconds skipped = std::min(skip, span), taken = std::min(left, span - skipped);
    skip -= skipped;
    left -= taken;
    return taken;
  };
  add(rows, uint16_t(part_row(event.stage, hw::Part::host) - unsigned(hw::Part::host) + kClock), all_ours,
      take(spans.clock));
  for (const hw::Span& span : {spans.part[1], spans.part[0]}) {
    const bool of_cause = span.part == hw::Part::mac && cause;  // the line belongs to who sends on it
    add(rows, part_row(of_cause ? cause->stage : event.stage, span.part), all_ours, take(span.ps));
  }
  add(rows, event.stage, all_ours, left);
}

std::string Account::row_name(uint16_t row) const {
  if (row & kPartBit) {
    const std::string part = kPartNames[row & ((1u << kPartBits) - 1)];
    return part == "wire" ? part : recorder_.nodes()[(row & ~kPartBit) >> kPartBits]->name + "." + part;
  }
  const StageRecord* stage = recorder_.stage(row);
  const std::string& node = recorder_.nodes()[row / Recorder::kStages]->name;
  if (!stage) return node;
  return stage->inputs.empty() && stage->outputs.empty() ? node + ".host" : stage->name;
}

// ------------------------------------------------------------------------------------------ all messages

namespace {

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
