// The result of a replay for programs.
#include "sim/replay/replay.hpp"
#include "sim/replay/verdict/text.hpp"

namespace sim {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ReplayTally& t) {
  return {{"requests_in", t.requests_in}, {"answers_in", t.answers_in}, {"requests_out", t.requests_out},
          {"answers_out", t.answers_out}, {"posted", t.posted},         {"not_given", t.not_given},
          {"translated", t.translated},   {"repaired", t.repaired},     {"restarts", t.restarts}};
}

ordered_json to_json(const LookAheadCounts& c) {
  return {{"outside_window", c.outside_window},
          {"other_qp", c.other_qp},
          {"strangers", c.strangers},
          {"both_ends", c.both_ends},
          {"cut", c.cut},
          {"undelivered", c.undelivered},
          {"atomics", c.atomics},
          {"invalidates", c.invalidates}};
}

ordered_json to_json(const ConnectionResult& c) {
  ordered_json j;
  j["address"] = traces::to_string(c.binding.address);
  j["qpn"] = c.capture_qpn;
  j["peer_address"] = traces::to_string(c.binding.peer_address);
  if (c.binding.peer_qpn != 0) j["peer_qpn"] = c.binding.peer_qpn;
  j["life"] = c.life;
  j["given"] = to_json(c.tally);
  if (!c.ambiguous.empty()) j["ambiguous"] = c.ambiguous;
  j["assumptions"] = c.assumptions;
  j["verdicts"] = to_json(c.verdicts);
  return j;
}

}  // namespace

ordered_json replay_json(const ReplayResult& r) {
  ordered_json j;
  j["packets"] = r.census.packets;
  j["kinds"] = r.census.lines();
  j["notes"] = r.notes;
  j["capture"] = to_json(r.capture);
  j["unpaired_requests"] = r.unpaired_requests;
  j["unpaired_answers"] = r.unpaired_answers;
  j["given"] = to_json(r.tally);
  j["verdicts"] = to_json(r.verdicts);
  for (const ConnectionResult& c : r.connections) j["connections"].push_back(to_json(c));
  j["compared"] = r.compared();
  j["end_ps"] = r.outcome.end;
  j["problems"] = r.failures();
  for (const CounterValue& c : r.counters) j["counters"]["nic0"][c.name] = c.value;
  return j;
}

}  // namespace sim
