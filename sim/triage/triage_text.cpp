// Triage for people.
#include <fmt/format.h>

#include <algorithm>

#include "sim/triage/triage_words.hpp"
#include "traces/roce_line.hpp"

namespace sim {
namespace {

std::string qpn_text(const std::optional<uint32_t>& qpn) {
  return qpn ? fmt::format("{:#x}", *qpn) : "?";
}

double seconds(int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

uint64_t payload(const TriageRow& row) {
  return row.tally.request_bytes + row.tally.response_bytes;
}

// "3 of this, 1 of that": what there is none of is left out.
class CountList {
 public:
  void add(uint64_t count, const char* what) {
    if (count != 0) text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", count, what);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <size_t N, class Name>
std::string counts_text(const std::array<uint64_t, N>& counts, Name name, size_t first = 0) {
  CountList list;
  for (size_t i = first; i < N; i++) list.add(counts[i], name(i));
  return list.text();
}

std::string operations_text(const TriageRow& row) {
  const std::string text = counts_text(row.tally.operations, [](size_t i) { return name_of(OperationKind(i)); });
  return text.empty() ? "no operation begins" : text;
}

std::string losses_text(const traces::Losses& losses) {
  CountList list;
  list.add(losses.wire, "on the wire before the tap");
  list.add(losses.behind, "behind the tap");
  list.add(losses.tap, "by the tap alone");
  list.add(losses.unknown, "unknown where");
  if (list.text().empty()) return "";
  return list.text() + fmt::format(" ({} {})", losses.ranges, losses.ranges == 1 ? "range" : "ranges");
}

std::string ending_text(const TriageRow& row) {
  switch (row.ending) {
    case Ending::kFatalNak:
      return "DEAD: " + traces::syndrome_text(row.fatal_syndrome);
    case Ending::kSilent:
      return fmt::format("DEAD: silent after {} retries without an answer", row.unanswered_retries);
    case Ending::kRetrying:
      return fmt::format("{} retries without an answer when the capture ends", row.unanswered_retries);
    case Ending::kClosed:
      return "closed by CM";
    case Ending::kReused:
      return "another life of the QPN follows";
    case Ending::kAlive:
      break;
  }
  return "";
}

std::string latencies_text(const LatencyHistogram* latencies) {
  if (latencies == nullptr) return "";
  return fmt::format("{}: least {}, 50 % {}, 99 % {}, most {}", latencies->count(), time_text(latencies->least_ns()),
                     time_text(latencies->percentile_ns(50)), time_text(latencies->percentile_ns(99)),
                     time_text(latencies->most_ns()));
}

std::string network_text(const TriageRow& row) {
  const LaneTally& tally = row.tally;
  CountList list;
  list.add(tally.ce_marked, "CE marks");
  list.add(tally.cnps, "CNPs");
  list.add(tally.out_of_order, "out of order");
  list.add(tally.mirrored_other_path, "copies from another place");
  list.add(tally.mirrored_same_path, "identical copies");
  return list.text();
}

class Lines {
 public:
  void add(const char* what, const std::string& text) {
    if (!text.empty()) out_ += fmt::format("  {:<10} {}\n", what, text);
  }
  void add(const std::string& line) { out_ += line + "\n"; }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

void print_row(Lines& lines, const TriageRow& row) {
  const LaneTally& tally = row.tally;
  lines.add(who(row));
  lines.add("ambiguous", row.ambiguous);
  lines.add("end", ending_text(row));
  if (row.requests == traces::kNoLane) {
    lines.add("did", fmt::format("{} responses, {}; their requests were not captured", tally.response_packets,
                                 bytes_text(tally.response_bytes)));
  } else {
    lines.add("did", fmt::format("{}, {}, {} Gb/s", operations_text(row), bytes_text(payload(row)), rate_text(row)));
  }
  std::string retries = counts_text(
      tally.retries, [](size_t i) { return name_of(traces::RetryCause(i)); }, 1);
  if (tally.retransmitted != 0) retries = fmt::format("{} packets in {}", tally.retransmitted, retries);
  lines.add("sent again", retries);
  lines.add("NAKs", counts_text(tally.naks, [](size_t i) { return name_of(NakKind(i)); }));
  lines.add("lost", losses_text(row.request_losses));
  lines.add("answers", losses_text(row.response_losses));
  if (tally.denied != 0) lines.add("denied", fmt::format("{} accesses outside of the MR table", tally.denied));
  lines.add("latency", latencies_text(tally.latencies.get()));
  lines.add("network", network_text(row));
  for (const std::string& assumption : row.assumptions) lines.add("assumed", assumption);
}

std::string where(const TriageResult& result, const Anomaly& anomaly) {
  std::string text = fmt::format("packet {}", anomaly.index);
  if (result.files.size() > 1) text += " of " + result.files[anomaly.file];
  return text;
}

void print_header(Lines& lines, const TriageResult& result) {
  const auto& counts = result.counts;
  lines.add(fmt::format("{} packets in {:.6f} s: {}", result.census.packets, seconds(result.last_ns - result.first_ns),
                        fmt::join(result.census.lines(), ", ")));
  for (const std::string& note : result.notes) lines.add(note);
  const auto add = [&](uint64_t count, const char* what) {
    if (count != 0) lines.add(fmt::format("{} {}", count, what));
  };
  add(result.outside_window, "packets outside of --from and --to are left out");
  add(counts.untrusted, "RoCEv2 packets with a wrong or missing ICRC are left out");
  add(counts.without_bth, "RoCEv2 packets end before the BTH");
  add(counts.mirrored_other_path,
      "copies of a packet from another place (TTL, MAC, VLAN or tunnel differ) are left out");
  add(counts.mirrored_same_path, "identical copies within microseconds are left out");
  add(counts.cm, "CM messages");
  for (size_t transport = 0; transport < counts.other_transports.size(); transport++) {
    const std::string name = traces::opcode_name(static_cast<uint8_t>(transport << 5));
    add(counts.other_transports[transport],
        ("packets of " + name.substr(0, name.find('_')) + " are not followed").c_str());
  }
}

}  // namespace

std::string who(const TriageRow& row) {
  std::string text = fmt::format("{} {} > {} {}", to_string(row.requester), qpn_text(row.requester_qpn),
                                 to_string(row.responder), qpn_text(row.responder_qpn));
  if (row.life != 0) text += fmt::format(" (life {})", row.life + 1);
  return text;
}

std::string bytes_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 10000 && unit + 1 < std::size(kUnits); unit++) value /= 1000;
  return fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string time_text(uint64_t ns) {
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

std::string rate_text(const TriageRow& row) {
  const int64_t ns = row.last_ns - row.first_ns;
  if (ns <= 0) return "-";
  return fmt::format("{:.3f}", 8.0 * static_cast<double>(payload(row)) / static_cast<double>(ns));
}

std::string triage_text(const TriageResult& result, size_t top) {
  Lines lines;
  print_header(lines, result);
  const auto worst = result.worst(top);
  lines.add(fmt::format("\n{} of {} request directions, the worst first:", worst.size(), result.rows.size()));
  lines.add(table_text(worst));
  const auto first = result.broke_first(top);
  lines.add(first.empty() ? "nothing broke" : "broke first:");
  for (const TriageRow* row : first) {
    const Anomaly& anomaly = row->first_anomaly;
    lines.add(fmt::format("  {:>14.6f} s  {:<16} {}  ({})", seconds(anomaly.time_ns - result.first_ns),
                          name_of(anomaly.kind), who(*row), where(result, anomaly)));
  }
  lines.add("\nin full:");
  for (const TriageRow* row : worst) print_row(lines, *row);
  return lines.text();
}

}  // namespace sim
