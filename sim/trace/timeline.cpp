#include "sim/trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace sim {

bool Timeline::room(Picoseconds time) {
  if (slices_.size() + counts_.size() + lives_.size() < kMostEvents) return true;
  if (full_at_ == 0) full_at_ = time;
  return false;
}

bool Timeline::wanted(unsigned stage) {
  if (stage >= wanted_.size()) wanted_.resize(stage + 1);
  if (wanted_[stage] == 0) wanted_[stage] = window_.wants(recorder_.stage(stage)->name) ? 1 : -1;
  return wanted_[stage] > 0;
}

void Timeline::step(unsigned stage, uint32_t tag, Picoseconds time) {
  if (!window_.holds(time) || !wanted(stage) || !room(time)) return;
  const Picoseconds end = time + cycle_of(stage);
  const auto open = open_.find(stage);
  if (open != open_.end()) {
    Slice& slice = slices_[open->second];
    if (slice.to > time) return;  // another packet of the same step
    if (slice.tag == tag && slice.to == time) {
      slice.to = end;
    } else {
      open->second = slices_.size();
      slices_.push_back({stage, tag, time, end});
    }
  } else {
    open_[stage] = slices_.size();
    slices_.push_back({stage, tag, time, end});
  }
  if (tag == 0 || recorder_.message_of(tag) == tag) return;
  Life& life = lives_.try_emplace({tag, stage / Recorder::kStages}, Life{time, end, stage, stage}).first->second;
  if (time == life.from) life.first_stage = std::min(life.first_stage, stage);
  life.last_stage = end > life.to ? stage : std::min(life.last_stage, stage);
  life.to = end;
  note_request(stage, tag, time);
}

// A packet is a request where it leaves through the MAC of the node that gave it its tag.
void Timeline::note_request(unsigned stage, uint32_t tag, Picoseconds time) {
  if (Recorder::node_of(recorder_.request_of(tag)) != stage / Recorder::kStages) return;
  const std::string& node = recorder_.nodes()[stage / Recorder::kStages]->name;
  const std::string& name = recorder_.stage(stage)->name;
  if (name == node + ".mac.tx") {
    Request& request = requests_[tag];
    request.sender = stage;
    request.sent = time;
  } else if (name == node + ".tx.flow_control") {
    const auto request = requests_.find(recorder_.request_of(tag));
    if (request == requests_.end() || request->second.acknowledged) return;
    request->second.taker = stage;
    request->second.acknowledged = time;
  }
}

void Timeline::moved(unsigned node, const StreamTrack& stream, hw::Cycles cycle) {
  const Picoseconds time = recorder_.nodes()[node]->clock.edge(cycle + 1);
  if (!window_.holds(time) || !window_.wants(stream.stream().spec().name) || !room(time)) return;
  counts_.push_back({node, &stream.stream(), time, stream.fill()});
}

void Timeline::write(std::ostream& out) {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* comma = "\n";
  const auto put = [&out, &comma](const std::string& event) {
    out << comma << event;
    comma = ",\n";
  };
  for (size_t n = 0; n < recorder_.nodes().size(); n++) {
    put(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":"{}"}}}})", n + 1,
                    recorder_.nodes()[n]->name));
    const auto& stages = recorder_.nodes()[n]->domain->stages();
    for (size_t s = 0; s < stages.size(); s++) {
      put(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", n + 1, s + 1,
                      stages[s].name.substr(recorder_.nodes()[n]->name.size() + 1)));
      put(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", n + 1,
                      s + 1, s + 1));
    }
  }
  std::sort(slices_.begin(), slices_.end(),
            [](const Slice& a, const Slice& b) { return std::tie(a.from, a.stage) < std::tie(b.from, b.stage); });
  const auto pid = [](unsigned stage) { return stage / Recorder::kStages + 1; };
  const auto tid = [](unsigned stage) { return stage % Recorder::kStages + 1; };
  for (const Slice& s : slices_)
    put(fmt::format(
        R"({{"ph":"X","name":"{}","cat":"stage","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"packet":{},"message":{}}}}})",
        s.tag ? fmt::format("packet {}", s.tag) : "control", pid(s.stage), tid(s.stage), microseconds(s.from),
        microseconds(s.to - s.from), s.tag, recorder_.message_of(s.tag)));
  for (const auto& [key, life] : lives_)
    for (const bool end : {false, true})
      put(fmt::format(R"({{"ph":"{}","name":"packet {}","cat":"packet","id":"{}.{}","pid":{},"tid":{},"ts":{}}})",
                      end ? "e" : "b", key.first, key.first, key.second, key.second + 1,
                      tid(end ? life.last_stage : life.first_stage), microseconds(end ? life.to : life.from)));
  for (const auto& [tag, r] : requests_) {
    if (!r.acknowledged) continue;
    put(fmt::format(R"({{"ph":"s","name":"acknowledged","cat":"ack","id":"{}","pid":{},"tid":{},"ts":{}}})", tag,
                    pid(r.sender), tid(r.sender), microseconds(r.sent)));
    put(fmt::format(R"({{"ph":"f","bp":"e","name":"acknowledged","cat":"ack","id":"{}","pid":{},"tid":{},"ts":{}}})",
                    tag, pid(r.taker), tid(r.taker), microseconds(r.acknowledged)));
  }
  std::stable_sort(counts_.begin(), counts_.end(), [](const Count& a, const Count& b) {
    return std::make_tuple(a.time, a.node, a.stream->spec().name) <
           std::make_tuple(b.time, b.node, b.stream->spec().name);
  });
  for (size_t i = 0; i < counts_.size(); i++) {
    const Count& c = counts_[i];
    if (i + 1 < counts_.size() && counts_[i + 1].time == c.time && counts_[i + 1].stream == c.stream) continue;
    put(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"tid":0,"ts":{},"args":{{"tokens":{}}}}})",
                    c.stream->spec().name, c.node + 1, microseconds(c.time), c.fill));
  }
  out << "\n]}\n";
}

}  // namespace sim
