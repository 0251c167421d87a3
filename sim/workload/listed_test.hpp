// The workload of a scenario with [[connection]]: listed work requests, from both nodes.
#pragma once
#include "models/work_list.hpp"
#include "sim/workload/connection_plan.hpp"
#include "sim/workload/throughput_test.hpp"

namespace sim {

class ListedTest : public ThroughputTest<models::WorkList> {
 public:
  ListedTest(const Config& config, const std::vector<ConnectionPlan>& connections, Testbed& bed);
};

}  // namespace sim
