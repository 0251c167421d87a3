// Eight NICs in one process: four pairs with traffic of their own, none of which knows of the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "models/bandwidth.hpp"
#include "sim/cli/child.hpp"
#include "sim/testbed/testbed.hpp"

namespace {

struct Traffic {
  uint32_t size;
  unsigned qps, tx_depth;
  uint64_t iterations, lost_frame;  // of the link towards the target; 0: none
};

constexpr Traffic kTraffic[] = {{65536, 1, 16, 30, 0}, {64, 8, 64, 100, 0}, {5000, 3, 8, 60, 77}, {0, 1, 1, 50, 0}};
constexpr size_t kPairs = 4;

// Writes from the even node of a pair to the odd one.
class Pair {
 public:
  Pair(sim::Testbed& bed, size_t first_node, const Traffic& t)
      : initiator_(bed.node(first_node)),
        target_(bed.node(first_node + 1)),
        sides_(models::connect_sides(initiator_.host(), target_.host(), queues(t), {})),
        workload_(params(t), sides_.a, sides_.b) {
    models::FaultPlan faults;
    if (t.lost_frame != 0) faults.drop(t.lost_frame);
    bed.join(first_node, first_node + 1, faults);
    workload_.waker = initiator_.attach("host.write_bw", workload_);
  }

  const models::Bandwidth& workload() const { return workload_; }
  // All that can be told of the pair, a line each: counters, times of completions, whether the memories are equal.
  std::string story() {
    std::string text = fmt::format("verified {}\n", workload_.verify());
    for (sim::Node* node : {&initiator_, &target_})
      for (const sim::CounterValue& c : node->counters()) text += fmt::format("{} {}\n", c.name, c.value);
    for (const models::DoneMessage& m : workload_.completions()) text += fmt::format("completion {}\n", m.completion);
    return text;
  }

 private:
  static models::BandwidthParams params(const Traffic& t) {
    models::BandwidthParams p;
    p.sizes = {t.size};
    p.tx_depth = t.tx_depth;
    p.iterations = t.iterations;
    return p;
  }

  static models::Queues queues(const Traffic& t) {
    models::Queues q;
    q.qps = t.qps;
    q.max_send_wr = t.tx_depth;
    return q;
  }

  sim::Node &initiator_, &target_;
  models::Sides sides_;
  models::Bandwidth workload_;
};

class All : public sim::Activity {
 public:
  explicit All(const std::deque<Pair>& pairs) : pairs_(pairs) {}
  bool done() const override {
    for (const Pair& p : pairs_)
      if (!p.workload().done()) return false;
    return true;
  }
  uint64_t progress() const override {
    uint64_t sum = 0;
    for (const Pair& p : pairs_) sum += p.workload().completions().size();
    return sum;
  }

 private:
  const std::deque<Pair>& pairs_;
};

std::string alone(const Traffic& traffic) {
  const sim::Config config;
  sim::Testbed bed(config, 2);
  std::deque<Pair> pairs;
  pairs.emplace_back(bed, 0, traffic);
  return bed.run(All(pairs), false).problems.empty() ? pairs[0].story() : "problems";
}

TEST(EightNics, EachPairBehavesAsIfAlone) {
  std::vector<std::string> expected;
  for (const Traffic& t : kTraffic) expected.push_back(sim::run_in_child([&t] { return alone(t); }));

  const sim::Config config;
  sim::Testbed bed(config, 2 * kPairs);
  std::deque<Pair> pairs;
  for (size_t i = 0; i < kPairs; i++) pairs.emplace_back(bed, 2 * i, kTraffic[i]);
  EXPECT_EQ(bed.run(All(pairs), false).problems, std::vector<std::string>());
  for (size_t i = 0; i < kPairs; i++) {
    EXPECT_EQ(pairs[i].story(), expected[i]) << "pair " << i;
    EXPECT_EQ(pairs[i].story().find("verified true"), 0u) << "pair " << i;
    EXPECT_EQ(pairs[i].workload().completions().size(), kTraffic[i].qps * kTraffic[i].iterations);
  }
}

TEST(EightNics, EveryStageIsInTheSystemcHierarchy) {
  const sim::Config config;
  sim::Testbed bed(config, 2 * kPairs);
  std::deque<Pair> pairs;
  pairs.emplace_back(bed, 0, kTraffic[3]);
  bed.run(All(pairs), false);
  for (const char* name :
       {"nic0.rx.bth", "nic7.rx.bth", "nic7.tables.qp_state", "nic7.tx.icrc_insert", "nic7.host.port"})
    EXPECT_NE(sc_core::sc_find_object(name), nullptr) << name;
  for (size_t i = 0; i < bed.size(); i++)
    for (const sim::StageRecord& stage : bed.node(i).domain().domain().stages())
      EXPECT_NE(dynamic_cast<sim::Shell*>(sc_core::sc_find_object(stage.name.c_str())), nullptr) << stage.name;
  EXPECT_EQ(sc_core::sc_find_object("nic8"), nullptr);
}

}  // namespace

// SystemC's library brings a main() of its own; this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
