#include "sim/workload/connection_plan.hpp"

#include <fmt/format.h>

#include <set>

#include "sim/config/error.hpp"
#include "sim/workload/table_reader.hpp"

namespace sim {

namespace {

constexpr uint64_t kMostPsn = 0xffffff, kMostBytes = uint64_t(1) << 31, kMostThink_ns = 1000000000000;
constexpr uint64_t kMostRequests = 1000000;  // of a connection

models::Transfer transfer_of(const std::string& operation) {
  if (operation == "read") return models::Transfer::read;
  return operation == "send" ? models::Transfer::send : models::Transfer::write;
}

void read_work(const std::string& file, const toml::table& table, ConnectionPlan& plan) {
  const TableReader work(file, "connection.work", table,
                         {"from", "op", "size", "imm", "count", "depth", "received", "think_ns"});
  const size_t from = work.choice("from", {"nic0", "nic1"}, "nic0") == "nic1";
  models::WorkRequest request;
  request.transfer = transfer_of(work.choice("op", {"read", "send", "write"}));
  const auto size = work.count("size", 0, kMostBytes);
  if (!size) work.refuse("size", "must be there: the bytes of the message");
  request.bytes = uint32_t(*size);
  if (const auto imm = work.count("imm", 0, UINT32_MAX)) {
    if (request.transfer == models::Transfer::read) work.refuse("imm", "a READ carries none");
    request.immediate = true;
    request.imm_data = uint32_t(*imm);
  }
  request.depth = uint32_t(work.count("depth", 1, hw::kSendWqes).value_or(0));
  request.received = work.count("received", 1, kMostRequests).value_or(0);
  request.think = work.count("think_ns", 0, kMostThink_ns).value_or(0) * 1000;
  const uint64_t count = work.count("count", 1, kMostRequests).value_or(1);
  std::vector<models::WorkRequest>& list = plan.work[from];
  if (list.size() + count > kMostRequests)
    work.refuse("count", fmt::format("a connection has up to {} work requests", kMostRequests));
  for (uint64_t i = 0; i < count; i++) {
    list.push_back(request);
    if (request.received != 0) request.received++;
  }
}

// A message that is waited for must be there, and have a byte that shows it.
void check_received(const TableReader& reader, const ConnectionPlan& plan, size_t from) {
  std::vector<const models::WorkRequest*> pushes;
  for (const models::WorkRequest& r : plan.work[1 - from])
    if (r.pushes()) pushes.push_back(&r);
  for (const models::WorkRequest& r : plan.work[from]) {
    if (r.received == 0) continue;
    if (r.received > pushes.size())
      reader.refuse("work", fmt::format("a request of nic{} waits for {} messages received; nic{} sends {}", from,
                                        r.received, 1 - from, pushes.size()));
    if (pushes[r.received - 1]->bytes == 0)
      reader.refuse("work", fmt::format("a request of nic{} waits for message {} of nic{}, which has no bytes that "
                                        "would show it; allowed are messages of 1 byte and more",
                                        from, r.received, 1 - from));
  }
}

ConnectionPlan read_connection(const std::string& file, const toml::table& table, size_t number) {
  const TableReader reader(file, "connection", table,
                           {"name", "psn", "pmtu", "timeout", "retry_count", "max_reads", "work"});
  ConnectionPlan plan;
  plan.place = place_of(file, table.source().begin);
  plan.name = reader.text("name").value_or(std::to_string(number));
  for (uint32_t& psn : plan.psn) psn = models::psn_apart(psn, number);
  if (const auto psn = reader.two("psn", kMostPsn)) plan.psn = {uint32_t(psn->first), uint32_t(psn->second)};
  const auto small = [&](const char* key, uint64_t most) {
    const auto value = reader.count(key, 0, most);
    return value ? std::optional<uint32_t>(uint32_t(*value)) : std::nullopt;
  };
  plan.pmtu_bytes = small("pmtu", 4096);
  if (plan.pmtu_bytes && std::set<uint32_t>{256, 512, 1024, 2048, 4096}.count(*plan.pmtu_bytes) == 0)
    reader.refuse("pmtu", fmt::format("{}: must be one of 256, 512, 1024, 2048, 4096", *plan.pmtu_bytes));
  plan.timeout = small("timeout", 31);
  plan.retry_count = small("retry_count", 7);
  plan.max_reads = small("max_reads", hw::kMaxReads);
  const auto work = reader.tables("work");
  if (work.empty()) reader.refuse("work", "must be there: an array of tables, one or more");
  for (const toml::table* request : work) read_work(file, *request, plan);
  for (size_t from : {0, 1}) check_received(reader, plan, from);
  return plan;
}

}  // namespace

std::vector<ConnectionPlan> read_connections(const std::string& file, const toml::table& root) {
  std::vector<ConnectionPlan> plans;
  const toml::node* list = root.get("connection");
  if (!list) return plans;
  if (!list->is_array_of_tables()) refuse(file, list->source().begin, "connection: must be written as [[connection]]");
  std::set<std::string> names;
  for (const toml::node& table : *list->as_array()) {
    plans.push_back(read_connection(file, *table.as_table(), plans.size()));
    if (!names.insert(plans.back().name).second)
      refuse(file, table.source().begin, "connection.name: there is another \"" + plans.back().name + "\"");
  }
  if (const toml::node* workload = root.get("workload"))
    refuse(file, workload->source().begin, "workload: allowed is either this or [[connection]]");
  return plans;
}

void check_connections(const std::vector<ConnectionPlan>& connections, const Config& config) {
  if (connections.size() > config.nic.qp_count)
    throw InputError(fmt::format("{}connection: {} are too many; nic.qp_count allows {}", connections.back().place,
                                 connections.size(), config.nic.qp_count));
  for (const ConnectionPlan& plan : connections)
    for (const auto& work : plan.work)
      for (const models::WorkRequest& r : work)
        if (!r.pushes() && plan.max_reads.value_or(config.nic.max_reads) == 0)
          throw InputError(plan.place + "connection.work: max_reads = 0 allows no READ; allowed is 1 and more");
}

}  // namespace sim
