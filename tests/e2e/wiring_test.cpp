// A node as it is simulated, the NIC with its host and MAC: who waits for whom, and whether every stream is large
// enough (rules 2 and 7).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "sim/testbed/node.hpp"

namespace {

class Wiring : public testing::TestWithParam<uint32_t> {
 protected:
  Wiring() {
    config_.nic.width_bits = GetParam();
    node_ = sim::make_node(0, config_);
  }

  const std::vector<sim::StageRecord>& stages() { return node_->domain().domain().stages(); }
  const std::vector<hw::StreamBase*>& streams() { return node_->elaboration().streams(); }

  const hw::StreamBase* stream(const std::string& name) {
    for (const hw::StreamBase* s : streams())
      if (s->spec().name == name) return s;
    ADD_FAILURE() << "no stream " << name;
    return nullptr;
  }
  static bool has(const std::vector<hw::StreamBase*>& list, const hw::StreamBase* s) {
    return std::find(list.begin(), list.end(), s) != list.end();
  }
  // The most cycles that a token needs from `from` to `to` over any streams but `but`; -1: there is no way. `passed`
  // are the stages on the way so far: acknowledgements close circles through the requester and its host.
  int longest_way(const sim::StageRecord& from, const sim::StageRecord& to, const hw::StreamBase* but,
                  std::set<std::string> passed = {}) {
    if (&from == &to) return 0;
    if (!passed.insert(from.name).second) return -1;
    int most = -1;
    for (const hw::StreamBase* s : from.outputs)
      for (const sim::StageRecord& next : stages()) {
        if (s == but || !has(next.inputs, s)) continue;
        const int rest = longest_way(next, to, but, passed);
        const int inside = &next == &to ? 0 : kCyclesInside;
        if (rest >= 0) most = std::max(most, rest + inside + int(s->depth() + hw::latency_of(s->spec().kind)));
      }
    return most;
  }

  // A stage reads a row of its table in one cycle and decides in the next; none keeps a packet's header longer.
  static constexpr int kCyclesInside = 1;

  sim::Config config_;
  std::unique_ptr<sim::Node> node_;
};

TEST_P(Wiring, NobodyWaitsInACircle) {
  EXPECT_EQ(sim::wait_cycle(node_->domain().domain(), node_->elaboration()), std::vector<std::string>());
}

TEST_P(Wiring, EveryStreamAllowsATokenACycle) {
  EXPECT_EQ(sim::throughput_warnings(streams()), std::vector<std::string>());
}

TEST_P(Wiring, EveryStreamHasBothEnds) {
  for (const hw::StreamBase* s : streams()) {
    int writers = 0, readers = 0;
    for (const sim::StageRecord& stage : stages()) {
      writers += has(stage.outputs, s);
      readers += has(stage.inputs, s);
    }
    EXPECT_EQ(writers, 1) << s->spec().name;
    EXPECT_EQ(readers, 1) << s->spec().name;
  }
}

// Payload that waits beside its packet's header never holds up the stage that cuts them apart.
TEST_P(Wiring, PayloadFifosCoverTheWayOfTheHeaders) {
  struct Beside {
    const char *payload, *writer, *reader;
  };
  for (const Beside& b : {Beside{"nic0.rx.payload_in", "nic0.rx.header_split", "nic0.rx.payload"},
                          Beside{"nic0.dma_write_data", "nic0.rx.payload", "nic0.host.pcie_write"}}) {
    const auto named = [this](const char* name) {
      return std::find_if(stages().begin(), stages().end(), [name](const auto& s) { return s.name == name; });
    };
    const hw::StreamBase* payload = stream(b.payload);
    const auto writer = named(b.writer), reader = named(b.reader);
    ASSERT_TRUE(payload && writer != stages().end() && reader != stages().end());
    ASSERT_TRUE(has(writer->outputs, payload) && has(reader->inputs, payload)) << b.payload;
    const int way = longest_way(*writer, *reader, payload);
    EXPECT_GT(way, 0) << b.payload;
    EXPECT_GE(int(payload->spec().capacity), way + 1) << b.payload;
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Wiring, testing::Values(64u, 128u, 256u, 512u, 1024u));

}  // namespace

// SystemC's library brings a main() of its own; this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
