#include "sim/trace/waves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace sim {

namespace {

// Identifiers of a dump are any printable characters.
std::string identifier(size_t number) {
  std::string id;
  do id += char('!' + number % 94);
  while ((number /= 94) != 0);
  return id;
}

std::string value_of(unsigned bits, uint32_t value) {
  if (bits == 1) return value ? "1" : "0";
  std::string digits;
  for (unsigned i = bits; i-- != 0;) digits += char('0' + (value >> i & 1));
  return "b" + digits + " ";
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name)
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

}  // namespace

uint32_t Waves::signals_of(const hw::StreamBase& stream) {
  const auto [known, fresh] = known_.emplace(&stream, kNone);
  if (!fresh || !window_.wants(stream.spec().name)) return known->second;
  unsigned bits = 1;
  while (stream.spec().capacity >> bits) bits++;
  known->second = uint32_t(signals_.size());
  signals_.push_back({stream.spec().name + ".valid", 1, 0});
  signals_.push_back({stream.spec().name + ".ready", 1, 1});
  signals_.push_back({stream.spec().name + ".fill", std::max(bits, 2u), 0});
  return known->second;
}

uint32_t Waves::signal_of(unsigned stage) {
  const StageRecord& record = *recorder_.stage(stage);
  const auto [known, fresh] = known_.emplace(record.self, kNone);
  if (!fresh || !window_.wants(record.name)) return known->second;
  known->second = uint32_t(signals_.size());
  signals_.push_back({record.name + ".active", 1, 0});
  return known->second;
}

// What lies before the window is kept too, as its last value: it is the first one of the dump.
void Waves::change(Picoseconds time, uint32_t signal, uint32_t value) {
  if (time < window_.from()) {
    signals_[signal].initial = value;
  } else if (!window_.holds(time)) {
    return;
  } else if (changes_.size() < kMostChanges) {
    changes_.push_back({time, signal, value});
  } else if (full_at_ == 0) {
    full_at_ = time;
  }
}

void Waves::step(unsigned stage, uint32_t, Picoseconds time) {
  const uint32_t active = signal_of(stage);
  if (active == kNone) return;
  change(time, active, 1);
  change(time + recorder_.nodes()[stage / Recorder::kStages]->clock.edge(1), active, 0);
}

void Waves::moved(unsigned node, const StreamTrack& track, hw::Cycles cycle) {
  const uint32_t valid = signals_of(track.stream());
  if (valid == kNone) return;
  const hw::Clock& clock = recorder_.nodes()[node]->clock;
  const Picoseconds next = clock.edge(cycle + 1);
  change(next, valid + kReady, track.fill() < track.stream().spec().capacity);
  change(next, valid + kFill, uint32_t(track.fill()));
  change(next, valid, track.head_ready() <= cycle + 1);
  if (track.head_ready() > cycle + 1 && track.head_ready() != hw::kForever)
    change(clock.edge(track.head_ready()), valid, 1);
}

// In which order signals and changes were met depends on the order in which stages were called.
void Waves::sort_signals() {
  std::vector<uint32_t> order(signals_.size()), rank(signals_.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) { return signals_[a].name < signals_[b].name; });
  std::vector<Signal> sorted;
  for (const uint32_t s : order) {
    rank[s] = uint32_t(sorted.size());
    sorted.push_back(signals_[s]);
  }
  signals_ = std::move(sorted);
  for (Change& c : changes_) c.signal = rank[c.signal];
  std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::make_pair(a.time, a.signal) < std::make_pair(b.time, b.signal);
  });
}

void Waves::write(std::ostream& out) {
  out << "$version balboa $end\n$timescale 1 ps $end\n";
  sort_signals();
  std::vector<std::string> open;
  for (size_t s = 0; s < signals_.size(); s++) {
    std::vector<std::string> parts = parts_of(signals_[s].name);
    const std::string leaf = parts.back();
    parts.pop_back();
    size_t common = 0;
    while (common < std::min(open.size(), parts.size()) && open[common] == parts[common]) common++;
    for (size_t i = open.size(); i > common; i--) out << "$upscope $end\n";
    for (size_t i = common; i < parts.size(); i++) out << "$scope module " << parts[i] << " $end\n";
    open = parts;
    out << fmt::format("$var wire {} {} {} $end\n", signals_[s].bits, identifier(s), leaf);
  }
  for (size_t i = 0; i < open.size(); i++) out << "$upscope $end\n";
  out << "$enddefinitions $end\n$dumpvars\n";
  std::vector<uint32_t> values;
  for (size_t i = 0; i < signals_.size(); i++) {
    values.push_back(signals_[i].initial);
    out << value_of(signals_[i].bits, values[i]) << identifier(i) << "\n";
  }
  out << "$end\n";
  Picoseconds time = 0;
  for (size_t i = 0; i < changes_.size();) {
    const Change& first = changes_[i];
    uint32_t value = first.value;  // of several changes at one time the last one knows best
    for (; i < changes_.size() && changes_[i].time == first.time && changes_[i].signal == first.signal; i++)
      value = changes_[i].value;
    if (values[first.signal] == value) continue;
    values[first.signal] = value;
    if (time != first.time) out << "#" << first.time << "\n";
    time = first.time;
    out << value_of(signals_[first.signal].bits, value) << identifier(first.signal) << "\n";
  }
}

}  // namespace sim
