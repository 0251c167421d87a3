#include "sim/trace/account.hpp"

#include <algorithm>

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

}  // namespace sim
