// The worst connections as a table, a line each.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/triage/triage_words.hpp"

namespace sim {
namespace {

using Cells = std::vector<std::string>;

std::string count_text(uint64_t count) {
  return count == 0 ? "-" : std::to_string(count);
}

Cells cells_of(const TriageRow& row) {
  const LaneTally& tally = row.tally;
  const auto naks = row.naks();
  const auto rnr = tally.naks[static_cast<size_t>(NakKind::kRnr)];
  const auto messages = std::accumulate(tally.operations.begin(), tally.operations.end(), uint64_t{0});
  const uint64_t lost = row.request_losses.wire + row.request_losses.behind + row.response_losses.wire;
  const LatencyHistogram* latencies = tally.latencies.get();
  return {who(row),
          count_text(messages),
          bytes_text(tally.request_bytes + tally.response_bytes),
          rate_text(row),
          count_text(tally.retransmitted),
          count_text(tally.retries[static_cast<size_t>(traces::RetryCause::kTimeout)]),
          count_text(naks - rnr),
          count_text(rnr),
          count_text(lost),
          latencies ? time_text(latencies->percentile_ns(50)) : "-",
          latencies ? time_text(latencies->percentile_ns(99)) : "-",
          count_text(tally.ce_marked),
          count_text(tally.cnps),
          row.ambiguous.empty() ? name_of(row.ending) : "ambiguous"};
}

}  // namespace

std::string table_text(const std::vector<const TriageRow*>& rows) {
  std::vector<Cells> lines = {{"requester QPN > responder QPN", "messages", "payload", "Gb/s", "again", "timeouts",
                               "NAKs", "RNR", "lost", "READ 50%", "99%", "CE", "CNPs", "end"}};
  for (const TriageRow* row : rows) lines.push_back(cells_of(*row));
  std::vector<size_t> widths(lines[0].size(), 0);
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < cells.size(); i++) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const Cells& cells : lines) {
    text += fmt::format("{:<{}}", cells[0], widths[0]);
    for (size_t i = 1; i + 1 < cells.size(); i++) text += fmt::format("  {:>{}}", cells[i], widths[i]);
    text += "  " + cells.back() + "\n";
  }
  return text;
}

}  // namespace sim
