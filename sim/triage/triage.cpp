#include "sim/triage/triage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "traces/merged_reader.hpp"

namespace sim {
namespace {

using traces::kNoLane;
using traces::Lane;

// Packets of the capture between --from and --to, all where neither is given: stamps may lie before the first one's.
class Window {
 public:
  explicit Window(const TriageRun& run)
      : from_ns_(run.from_s ? std::llround(*run.from_s * 1e9) : std::numeric_limits<int64_t>::min()),
        to_ns_(run.to_s ? std::llround(*run.to_s * 1e9) : std::numeric_limits<int64_t>::max()) {}

  bool holds(int64_t time_ns) {
    if (begin_ns_ == kNotBegun) begin_ns_ = time_ns;
    const int64_t since = time_ns - begin_ns_;
    return since >= from_ns_ && since <= to_ns_;
  }

 private:
  static constexpr int64_t kNotBegun = -1;  // times are never negative
  int64_t begin_ns_ = kNotBegun;
  int64_t from_ns_, to_ns_;
};

void read_packets(const TriageRun& run, traces::ConnectionTracker& tracker, Tally& tally, TriageResult& result) {
  traces::MergedReader reader(run.files);
  result.notes = reader.notes();
  Window window(run);
  traces::Packet packet;
  try {
    while (reader.read(packet)) {
      if (!window.holds(packet.time_ns)) {
        result.outside_window++;
        continue;
      }
      const traces::RocePacket roce = traces::decode(packet);
      if (result.census.packets == 0) result.first_ns = result.last_ns = packet.time_ns;
      result.last_ns = std::max(result.last_ns, packet.time_ns);
      result.census.add(packet, roce);
      tally.add(packet, roce, tracker.add(packet, roce));
    }
  } catch (const traces::InputError& error) {
    result.input_error = error.what();
  }
}

class RowBuilder {
 public:
  RowBuilder(const traces::ConnectionTracker& tracker, const Tally& tally, int64_t capture_end_ns)
      : tracker_(tracker), tally_(tally), capture_end_ns_(capture_end_ns) {}

  // The requests of a lane, and what answers them.
  TriageRow of_requests(uint32_t id) const {
    const Lane& lane = tracker_.lanes()[id];
    TriageRow row = blank(id, lane.peer);
    row.request_losses = lane.requests.losses();
    row.response_losses = lane.reads.losses();
    row.untimed = lane.reads.untimed();
    row.fatal_syndrome = lane.answers.fatal_syndrome;
    row.unanswered_retries = lane.answers.unanswered_retries;
    row.ending = ending_of(lane);
    row.assumptions = tracker_.assumptions(id);
    row.life = lane.life;
    return row;
  }

  // Responses whose requests the capture does not hold, or cannot be told from others.
  TriageRow of_responses(uint32_t id) const {
    TriageRow row = blank(kNoLane, id);
    row.ambiguous = tracker_.ambiguity(id);
    row.assumptions = tracker_.assumptions(id);
    row.life = tracker_.lanes()[id].life;
    return row;
  }

 private:
  TriageRow blank(uint32_t requests, uint32_t responses) const {
    TriageRow row;
    row.requests = requests;
    row.responses = responses;
    row.first_ns = std::numeric_limits<int64_t>::max();
    if (requests != kNoLane) {
      const Lane& lane = tracker_.lanes()[requests];
      row.requester = tracker_.addresses()[lane.addresses].source;
      row.responder = tracker_.addresses()[lane.addresses].destination;
      row.responder_qpn = lane.qpn;
      add_requests(row, tally_[requests]);
      extend(row, lane);
    }
    if (responses != kNoLane) {
      const Lane& lane = tracker_.lanes()[responses];
      row.requester = tracker_.addresses()[lane.addresses].destination;
      row.responder = tracker_.addresses()[lane.addresses].source;
      row.requester_qpn = lane.qpn;
      add_responses(row, tally_[responses]);
      extend(row, lane);
    }
    return row;
  }

  static void extend(TriageRow& row, const Lane& lane) {
    if (lane.last_index == 0) return;  // CM or a table knows it, the capture holds no packet
    row.first_ns = std::min(row.first_ns, lane.first_ns);
    row.last_ns = std::max(row.last_ns, lane.last_ns);
  }

  // A lane carries the requests of one direction and the responses of the other: each row takes its half.
  static void add_requests(TriageRow& row, const LaneTally& lane) {
    LaneTally& tally = row.tally;
    tally.request_packets = lane.request_packets;
    tally.request_bytes = lane.request_bytes;
    tally.operations = lane.operations;
    tally.read_bytes = lane.read_bytes;
    tally.retransmitted = lane.retransmitted;
    tally.out_of_order = lane.out_of_order;
    tally.retries = lane.retries;
    tally.denied = lane.denied;
    tally.ce_marked = lane.ce_marked;
    tally.mirrored_other_path = lane.mirrored_other_path;
    tally.mirrored_same_path = lane.mirrored_same_path;
    row.first_anomaly.keep_first(lane.first_request_anomaly);
  }

  // CNPs go to the end that sends too fast, with the responses to its requests.
  static void add_responses(TriageRow& row, const LaneTally& lane) {
    LaneTally& tally = row.tally;
    tally.response_packets = lane.response_packets;
    tally.response_bytes = lane.response_bytes;
    tally.repeated_responses = lane.repeated_responses;
    tally.naks = lane.naks;
    tally.cnps = lane.cnps;
    tally.ce_marked += lane.ce_marked;
    tally.mirrored_other_path += lane.mirrored_other_path;
    tally.mirrored_same_path += lane.mirrored_same_path;
    if (lane.latencies) tally.latencies = std::make_unique<LatencyHistogram>(*lane.latencies);
    row.first_anomaly.keep_first(lane.first_response_anomaly);
  }

  Ending ending_of(const Lane& lane) const {
    const traces::AnswerState& answers = lane.answers;
    if (answers.fatal_syndrome != 0) return Ending::kFatalNak;
    if (lane.superseded) return Ending::kReused;
    if (lane.closed) return Ending::kClosed;
    if (answers.unanswered_retries < 2) return Ending::kAlive;
    // The interval may grow from retry to retry, so the next one had to come within twice the last.
    const bool had_time = capture_end_ns_ - lane.last_request_ns > 2 * answers.last_retry_interval_ns;
    return had_time ? Ending::kSilent : Ending::kRetrying;
  }

  const traces::ConnectionTracker& tracker_;
  const Tally& tally_;
  int64_t capture_end_ns_;
};

bool is_wanted(const TriageRow& row, const std::optional<uint32_t>& qpn) {
  return !qpn || row.requester_qpn == qpn || row.responder_qpn == qpn;
}

std::vector<TriageRow> build_rows(const traces::ConnectionTracker& tracker, const RowBuilder& builder,
                                  const std::optional<uint32_t>& qpn) {
  std::vector<TriageRow> rows;
  const auto keep = [&](TriageRow row) {
    if (is_wanted(row, qpn)) rows.push_back(std::move(row));
  };
  for (uint32_t id = 0; id < tracker.lanes().size(); id++) {
    const Lane& lane = tracker.lanes()[id];
    if (lane.absorbed_by != kNoLane) continue;
    if (lane.request_index != 0) keep(builder.of_requests(id));
    const bool answers_nobody = lane.peer == kNoLane || tracker.lanes()[lane.peer].request_index == 0;
    if (lane.responses != 0 && answers_nobody) keep(builder.of_responses(id));
  }
  return rows;
}

}  // namespace

uint64_t TriageRow::retries() const {
  return std::accumulate(tally.retries.begin() + 1, tally.retries.end(), uint64_t{0});
}

uint64_t TriageRow::naks() const {
  return std::accumulate(tally.naks.begin(), tally.naks.end(), uint64_t{0});
}

uint64_t TriageRow::severity() const {
  const bool is_dead = ending == Ending::kFatalNak || ending == Ending::kSilent;
  const uint64_t troubles = retries() + naks() + tally.denied + request_losses.wire + request_losses.behind;
  return (is_dead ? uint64_t{1} << 48 : 0) + troubles;
}

std::vector<const TriageRow*> TriageResult::worst(size_t count) const {
  std::vector<const TriageRow*> sorted;
  for (const TriageRow& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TriageRow* a, const TriageRow* b) { return a->severity() > b->severity(); });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

std::vector<const TriageRow*> TriageResult::broke_first(size_t count) const {
  std::vector<const TriageRow*> sorted;
  for (const TriageRow& row : rows) {
    if (row.first_anomaly.kind != AnomalyKind::kNone) sorted.push_back(&row);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const TriageRow* a, const TriageRow* b) {
    return a->first_anomaly.time_ns < b->first_anomaly.time_ns;
  });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

TriageResult triage(const TriageRun& run) {
  TriageResult result;
  result.files = run.files;
  traces::QpTable qp_table;
  for (const auto& [host, file] : run.qp_tables) qp_table.read(host, file);
  std::optional<traces::MrTable> mr_table;
  if (!run.mr_table.empty()) mr_table = traces::MrTable::read(run.mr_table);

  traces::TrackerOptions options;
  options.path_mtu = run.path_mtu;
  if (!qp_table.empty()) options.qp_table = &qp_table;
  traces::ConnectionTracker tracker(options);
  Tally tally(tracker, mr_table ? &*mr_table : nullptr);
  read_packets(run, tracker, tally, result);
  tracker.finish();
  tally.finish();
  result.counts = tracker.counts();
  result.rows = build_rows(tracker, RowBuilder(tracker, tally, result.last_ns), run.qpn);
  if (tracker.lanes().empty()) {
    throw result.input_error.empty() ? traces::no_connection(result.files, result.census, result.counts)
                                     : traces::InputError(result.input_error);
  }
  return result;
}

}  // namespace sim
