// Triage for programs, and the names that both forms use.
#include <fmt/format.h>

#include "sim/triage/triage.hpp"
#include "traces/roce_line.hpp"

namespace sim {
namespace {

using Json = nlohmann::ordered_json;

template <size_t N, class Name>
Json counts_json(const std::array<uint64_t, N>& counts, Name name, size_t first = 0) {
  Json json = Json::object();
  for (size_t i = first; i < N; i++) json[name(i)] = counts[i];
  return json;
}

Json losses_json(const traces::Losses& losses) {
  return {{"wire_before_tap", losses.wire},
          {"wire_behind_tap", losses.behind},
          {"tap", losses.tap},
          {"unknown", losses.unknown},
          {"ranges", losses.ranges}};
}

Json qpn_json(const std::optional<uint32_t>& qpn) {
  return qpn ? Json(*qpn) : Json();
}

Json anomaly_json(const TriageResult& result, const TriageRow& row) {
  const Anomaly& anomaly = row.first_anomaly;
  if (anomaly.kind == AnomalyKind::kNone) return nullptr;
  return {{"kind", name_of(anomaly.kind)},
          {"time_ns", anomaly.time_ns - result.first_ns},
          {"file", result.files[anomaly.file]},
          {"packet", anomaly.index}};
}

Json latency_json(const LatencyHistogram* latencies) {
  if (latencies == nullptr) return nullptr;
  return {{"count", latencies->count()},         {"least", latencies->least_ns()},
          {"p50", latencies->percentile_ns(50)}, {"p90", latencies->percentile_ns(90)},
          {"p99", latencies->percentile_ns(99)}, {"p99.9", latencies->percentile_ns(99.9)},
          {"most", latencies->most_ns()}};
}

Json row_json(const TriageResult& result, const TriageRow& row) {
  const LaneTally& tally = row.tally;
  const int64_t ns = row.last_ns - row.first_ns;
  const auto bytes = static_cast<double>(tally.request_bytes + tally.response_bytes);
  Json json = {{"requester", to_string(row.requester)},
               {"requester_qpn", qpn_json(row.requester_qpn)},
               {"responder", to_string(row.responder)},
               {"responder_qpn", qpn_json(row.responder_qpn)},
               {"life", row.life + 1},
               {"ambiguous", row.ambiguous.empty() ? Json() : Json(row.ambiguous)},
               {"end", name_of(row.ending)},
               {"fatal_nak", row.fatal_syndrome == 0 ? Json() : Json(traces::syndrome_text(row.fatal_syndrome))},
               {"unanswered_retries", row.unanswered_retries},
               {"first_ns", row.first_ns - result.first_ns},
               {"last_ns", row.last_ns - result.first_ns},
               {"operations", counts_json(tally.operations, [](size_t i) { return name_of(OperationKind(i)); })},
               {"request_packets", tally.request_packets},
               {"request_bytes", tally.request_bytes},
               {"response_packets", tally.response_packets},
               {"response_bytes", tally.response_bytes},
               {"read_bytes_requested", tally.read_bytes},
               {"gbits_per_s", ns > 0 ? Json(8 * bytes / static_cast<double>(ns)) : Json()},
               {"retransmitted_packets", tally.retransmitted},
               {"retries", counts_json(
                               tally.retries, [](size_t i) { return name_of(traces::RetryCause(i)); }, 1)},
               {"repeated_responses", tally.repeated_responses},
               {"out_of_order", tally.out_of_order},
               {"naks", counts_json(tally.naks, [](size_t i) { return name_of(NakKind(i)); })},
               {"lost_request_psns", losses_json(row.request_losses)},
               {"lost_response_psns", losses_json(row.response_losses)},
               {"denied_accesses", tally.denied},
               {"read_latency_ns", latency_json(tally.latencies.get())},
               {"reads_untimed", row.untimed},
               {"ce_marks", tally.ce_marked},
               {"cnps", tally.cnps},
               {"copies_other_path", tally.mirrored_other_path},
               {"copies_same_path", tally.mirrored_same_path},
               {"first_anomaly", anomaly_json(result, row)},
               {"assumptions", row.assumptions}};
  return json;
}

}  // namespace

const char* name_of(Ending ending) {
  constexpr const char* kNames[] = {"alive", "closed", "retrying", "silent", "fatal_nak", "reused"};
  return kNames[static_cast<size_t>(ending)];
}

const char* name_of(AnomalyKind kind) {
  constexpr const char* kNames[] = {"none",    "retransmission", "timeout", "sequence NAK",
                                    "RNR NAK", "fatal NAK",      "denied"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(NakKind kind) {
  constexpr const char* kNames[kNakKinds] = {
      "sequence", "invalid_request", "remote_access", "remote_operation", "invalid_rd_request", "rnr", "other"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(OperationKind kind) {
  constexpr const char* kNames[kOperationKinds] = {"send", "write", "read", "atomic", "other"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(traces::RetryCause cause) {
  constexpr const char* kNames[kRetryCauses] = {"none",    "after_sequence_nak", "after_rnr_nak", "implied_nak",
                                                "timeout", "unknown_cause"};
  return kNames[static_cast<size_t>(cause)];
}

Json triage_json(const TriageResult& result, size_t top) {
  const auto& counts = result.counts;
  Json others = Json::object();
  for (size_t transport = 0; transport < counts.other_transports.size(); transport++) {
    const std::string name = traces::opcode_name(static_cast<uint8_t>(transport << 5));
    if (counts.other_transports[transport] != 0)
      others[name.substr(0, name.find('_'))] = counts.other_transports[transport];
  }
  Json json = {{"schema_version", 1},
               {"files", result.files},
               {"notes", result.notes},
               {"packets", result.census.packets},
               {"duration_ns", result.last_ns - result.first_ns},
               {"census", result.census.lines()},
               {"rocev2_packets", counts.packets},
               {"untrusted_packets", counts.untrusted},
               {"packets_without_bth", counts.without_bth},
               {"copies_other_path", counts.mirrored_other_path},
               {"copies_same_path", counts.mirrored_same_path},
               {"cm_messages", counts.cm},
               {"other_transports", others},
               {"outside_window", result.outside_window},
               {"input_error", result.input_error.empty() ? Json() : Json(result.input_error)}};
  json["connections"] = Json::array();
  for (const TriageRow& row : result.rows) json["connections"].push_back(row_json(result, row));
  const auto indices = [&](const std::vector<const TriageRow*>& rows) {
    Json list = Json::array();
    for (const TriageRow* row : rows) list.push_back(row - result.rows.data());
    return list;
  };
  json["worst"] = indices(result.worst(top));
  json["broke_first"] = indices(result.broke_first(top));
  return json;
}

}  // namespace sim
