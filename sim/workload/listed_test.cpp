#include "sim/workload/listed_test.hpp"

#include <algorithm>

#include "sim/workload/set_up.hpp"

namespace sim {

namespace {

bool takes_receives(const ConnectionPlan& plan) {
  for (const auto& work : plan.work)
    for (const models::WorkRequest& r : work)
      if (r.takes_receive()) return true;
  return false;
}

bool has_work(const std::vector<ConnectionPlan>& connections, size_t from) {
  return std::any_of(connections.begin(), connections.end(),
                     [&](const ConnectionPlan& plan) { return !plan.work[from].empty(); });
}

models::Sides connected(const Config& config, const std::vector<ConnectionPlan>& connections, Testbed& bed) {
  models::Queues queues;
  queues.qps = 1;
  queues.max_send_wr = hw::kSendWqes;
  models::Sides all = models::make_sides(bed.node(0).host(), bed.node(1).host());
  for (const ConnectionPlan& plan : connections) {
    NicConfig nic = config.nic;
    nic.pmtu_bytes = plan.pmtu(config.nic);
    nic.timeout = plan.timeout.value_or(nic.timeout);
    nic.retry_count = plan.retry_count.value_or(nic.retry_count);
    nic.max_reads = plan.max_reads.value_or(nic.max_reads);
    models::QpAttr attr = qp_attr(nic);
    attr.sq_psn = plan.psn[0];
    attr.rq_psn = plan.psn[1];
    queues.max_recv_wr = takes_receives(plan) ? config.workload.rx_depth : 0;
    models::connect_more(all, queues, attr);
  }
  return all;
}

models::WorkListParams params(const Config& config, const std::vector<ConnectionPlan>& connections, size_t from,
                              hw::Cycles start) {
  models::WorkListParams p;
  for (const ConnectionPlan& plan : connections) p.qps.push_back(plan.work[from]);
  p.capacity = hw::kSendWqes;
  p.start = start;
  p.seed = config.sim.seed + from;
  p.own_address += uint64_t(from) << 40;
  p.peer_address += uint64_t(from) << 48;
  p.cpu = cpu_params(config.host);
  return p;
}

}  // namespace

ListedTest::ListedTest(const Config& config, const std::vector<ConnectionPlan>& connections, Testbed& bed)
    : ThroughputTest(connected(config, connections, bed)) {
  size_t receives = 0;
  for (const ConnectionPlan& plan : connections) receives += takes_receives(plan) ? config.workload.rx_depth : 0;
  const hw::Cycles start = set_up_cycles(config, sides(), receives);
  std::array<models::WorkList*, 2> lists{};
  for (size_t from : {0, 1}) {
    if (!has_work(connections, from)) continue;
    auto list =
        std::make_unique<models::WorkList>(params(config, connections, from, start), side(from), side(1 - from));
    lists[from] = list.get();
    add(bed, from, "host.work_list", std::move(list), config.workload.rx_depth, receive_cpu_params(config.host));
  }
  // Who waits for messages has somebody who sends them.
  for (size_t from : {0, 1})
    if (lists[from] && lists[1 - from]) lists[from]->listen_to(*lists[1 - from]);
}

}  // namespace sim
