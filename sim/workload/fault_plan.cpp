#include "sim/workload/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/error.hpp"
#include "sim/testbed/node.hpp"
#include "sim/workload/table_reader.hpp"

namespace sim {

namespace {

constexpr uint64_t kMostPsn = 0xffffff;

models::PacketKind kind_of(const std::string& name) {
  if (name == "response") return models::PacketKind::response;
  return name == "ack" ? models::PacketKind::ack : models::PacketKind::request;
}

models::Turn turn_of(const std::string& name) {
  if (name == "due") return models::Turn::due;
  if (name == "ahead") return models::Turn::ahead;
  return name == "again" ? models::Turn::again : models::Turn::any;
}

void read_packet_fault(const TableReader& reader, NamedFault named, ScenarioFaults& faults) {
  named.connection = reader.text("connection");
  named.fault.kind = kind_of(reader.choice("kind", {"ack", "request", "response"}, "request"));
  named.fault.turn = turn_of(reader.choice("turn", {"again", "ahead", "any", "due"}, "any"));
  if (named.fault.kind == models::PacketKind::ack && named.fault.turn != models::Turn::any)
    reader.refuse("turn", "an ACK has none; allowed is \"any\"");
  named.fault.copy = reader.count("copy", 1).value_or(1);
  named.counted = reader.has("packet");
  if (named.counted == reader.has("psn"))
    reader.refuse("psn", "must be there, or fault.packet, or fault.frame; one of");
  named.fault.psn =
      uint32_t(*(named.counted ? reader.count("packet", 1, kMostPsn + 1) : reader.count("psn", 0, kMostPsn)));
  faults.packets.push_back(named);
}

void read_fault(const std::string& file, const toml::table& table, ScenarioFaults& faults) {
  const TableReader reader(file, "fault", table,
                           {"link", "type", "frame", "connection", "kind", "psn", "packet", "turn", "copy"});
  const unsigned direction = reader.choice("link", {"nic0-nic1", "nic1-nic0"}) == "nic1-nic0";
  reader.choice("type", {"drop"});
  if (!reader.has("frame") && !reader.has("psn") && !reader.has("packet"))
    reader.refuse("frame", "must be there, and count from 1; or fault.psn, or fault.packet");
  if (!reader.has("frame")) {
    NamedFault named;
    named.place = place_of(file, table.source().begin);
    named.direction = direction;
    read_packet_fault(reader, named, faults);
    return;
  }
  for (const char* key : {"connection", "kind", "psn", "packet", "turn", "copy"})
    if (reader.has(key)) reader.refuse(key, "a frame is told by its number alone; allowed without fault.frame");
  faults.frames[direction].insert(*reader.count("frame", 1));
}

// The number of the connection that `fault` means.
uint32_t connection_of(const NamedFault& fault, const std::vector<ConnectionPlan>& connections, size_t count) {
  if (!fault.connection) return 0;
  const auto named = std::find_if(connections.begin(), connections.end(),
                                  [&](const ConnectionPlan& c) { return c.name == *fault.connection; });
  if (named != connections.end()) return uint32_t(named - connections.begin());
  for (size_t i = 0; connections.empty() && i < count; i++)
    if (std::to_string(i) == *fault.connection) return uint32_t(i);
  const std::string allowed =
      connections.empty() ? fmt::format("\"0\" to \"{}\"", count - 1) : "those of [[connection]]";
  throw InputError(
      fmt::format("{}fault.connection: there is no \"{}\"; allowed are {}", fault.place, *fault.connection, allowed));
}

}  // namespace

ScenarioFaults read_faults(const std::string& file, const toml::table& root) {
  ScenarioFaults faults;
  const toml::node* list = root.get("fault");
  if (!list) return faults;
  if (!list->is_array_of_tables()) refuse(file, list->source().begin, "fault: must be written as [[fault]]");
  for (const toml::node& fault : *list->as_array()) read_fault(file, *fault.as_table(), faults);
  return faults;
}

std::array<models::FaultPlan, 2> fault_plans(const ScenarioFaults& faults,
                                             const std::vector<ConnectionPlan>& connections, const Config& config) {
  std::array<models::FaultPlan, 2> plans;
  for (unsigned direction : {0, 1}) {
    plans[direction].dropped = faults.frames[direction];
    plans[direction].direction = direction;
  }
  if (faults.packets.empty()) return plans;
  const size_t count = connections.empty() ? config.workload.qps : connections.size();
  std::vector<models::ConnectionOnWire> on_wire(count, {config.nic.pmtu_bytes});
  for (size_t i = 0; i < connections.size(); i++) on_wire[i].pmtu_bytes = connections[i].pmtu(config.nic);
  const auto packets = std::make_shared<models::PacketFaults>(on_wire, std::vector<uint32_t>{kFirstQpn + 1, kFirstQpn});
  for (const NamedFault& named : faults.packets) {
    models::PacketFault fault = named.fault;
    fault.connection = connection_of(named, connections, count);
    // Requests count from their sender's first PSN, what answers them from the other's.
    const bool is_request = fault.kind == models::PacketKind::request;
    const ConnectionPlan preset;
    const ConnectionPlan& plan = connections.empty() ? preset : connections[fault.connection];
    if (named.counted)
      fault.psn = (plan.psn[is_request ? named.direction : 1 - named.direction] + fault.psn - 1) & kMostPsn;
    packets->drop(named.direction, fault);
  }
  for (models::FaultPlan& plan : plans) plan.packets = packets;
  return plans;
}

}  // namespace sim
