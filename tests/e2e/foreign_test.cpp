// A NIC with a foreign stage in the place of one of ours, beside the same NIC without: the same packets on the wire.
#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

#include "models/mix.hpp"
#include "sim/cli/child.hpp"
#include "sim/testbed/node_of.hpp"
#include "sim/testbed/testbed.hpp"
#include "tests/foreign/vendor_arbiter.hpp"
#include "traces/roce.hpp"

namespace {

// One instance number a NIC: the function's state is static.
template <class Stage>
using Foreign0 = std::conditional_t<std::is_same<Stage, hw::tx::Arbiter>::value, ForeignArbiter<0>, Stage>;
template <class Stage>
using Foreign1 = std::conditional_t<std::is_same<Stage, hw::tx::Arbiter>::value, ForeignArbiter<1>, Stage>;

std::unique_ptr<sim::Node> foreign_node(unsigned number, const sim::Config& config) {
  if (number == 0) return std::make_unique<sim::NodeOf<512, Foreign0>>(number, config);
  return std::make_unique<sim::NodeOf<512, Foreign1>>(number, config);
}

class Running : public sim::Activity {
 public:
  Running(const models::Mix& mix, const models::Receiver& receiver) : mix_(mix), receiver_(receiver) {}
  bool done() const override { return mix_.done() && receiver_.done(); }
  uint64_t progress() const override { return mix_.completions().size(); }

 private:
  const models::Mix& mix_;
  const models::Receiver& receiver_;
};

// What each node sent on each of its QPs, in order; and whether all went well.
std::string packets(const sim::Testbed::NodeMaker& make) {
  sim::Config config;
  config.nic.pmtu_bytes = 1024;
  sim::Testbed bed(config, 2, make);
  bed.join(0, 1);
  models::Queues queues;
  queues.qps = 3;
  queues.max_send_wr = queues.max_recv_wr = 16;
  models::QpAttr attr;
  attr.path_mtu = models::IBV_MTU_1024;
  const models::Sides sides = models::connect_sides(bed.node(0).host(), bed.node(1).host(), queues, attr);
  models::MixParams p;
  p.largest = 8000;
  p.iterations = 30;
  p.tx_depth = 2;
  p.start = 1000;
  models::Mix mix(p, sides.a, sides.b);
  models::Receiver receiver(mix.receiver_params(16, {}), sides.b);
  mix.waker = bed.node(0).attach("host.mix", mix);
  receiver.waker = bed.node(1).attach("host.receiver", receiver);
  std::map<std::pair<size_t, uint32_t>, std::string> sent;
  for (size_t i = 0; i < 2; i++)
    bed.node(i).observe_sent([&sent, i](const models::Frame& frame) {
      const traces::RocePacket roce = traces::decode_frame(frame.bytes);
      sent[{i, roce.bth.dest_qp}].append(frame.bytes.begin(), frame.bytes.end());
    });
  const sim::Outcome outcome = bed.run(Running(mix, receiver), false);
  std::string text = outcome.problems.empty() && mix.verify() && receiver.errors() == 0 ? "good\n" : "bad\n";
  for (const auto& [flow, bytes] : sent) text += std::to_string(flow.first) + " " + std::to_string(flow.second) + bytes;
  return text;
}

// On every QP the requests and answers are the same packets in the same order; only their times may differ.
TEST(ForeignStage, SendsThePacketsThatTheNativeOneSends) {
  const std::string native = sim::run_in_child([] { return packets(sim::make_node); });
  const std::string foreign = sim::run_in_child([] { return packets(foreign_node); });
  EXPECT_EQ(native.substr(0, 5), "good\n");
  EXPECT_GT(native.size(), 100000u);
  EXPECT_TRUE(native == foreign);
}

// It is a stage like any other: in the hierarchy, with its calls and its depth, in the place of ours.
TEST(ForeignStage, IsAStageLikeAnyOther) {
  const sim::Config config;
  sim::Testbed bed(config, 1, foreign_node);
  const sim::StageRecord* found = nullptr;
  for (const sim::StageRecord& stage : bed.node(0).domain().domain().stages())
    if (stage.name == "nic0.tx.arbiter") found = &stage;
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->outputs.size(), 1u);
  EXPECT_EQ(found->outputs[0]->depth(), hw::stage_depth("tx.arbiter", 512, 0));
}

}  // namespace

// SystemC's library brings a main() of its own; this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
