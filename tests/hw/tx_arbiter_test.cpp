#include "bench.hpp"
#include "hw/tx/arbiter.hpp"

namespace {

using hw::TxPacket;

struct Harness {
  test::Bench bench;
  hls::stream<TxPacket> acks, data, out;
  hw::tx::Arbiter stage;

  explicit Harness(uint64_t seed = 1) : bench(seed) {
    for (hls::stream<TxPacket>* s : {&acks, &data, &out}) test::configure(*s, "port", 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(acks, data, out); });
  }
};

// Numbered packets: acknowledgements even, data odd.
std::vector<TxPacket> packets(size_t count, uint64_t first) {
  std::vector<TxPacket> v(count);
  for (size_t i = 0; i < count; i++) v[i].qpn = hw::Qpn(first + 2 * i);
  return v;
}
bool is_ack(const TxPacket& p) {
  return p.qpn.u64() % 2 == 0;
}

TEST(TxArbiter, AlternatesWhileBothWaitAndAcknowledgementsBegin) {
  Harness h;
  test::Source<TxPacket> acks(h.bench, h.acks, packets(50, 0)), data(h.bench, h.data, packets(50, 1));
  test::Sink<TxPacket> out(h.bench, h.out);
  h.run(102);
  ASSERT_EQ(out.tokens.size(), 100u);
  for (size_t i = 0; i < 100; i++) {
    EXPECT_EQ(out.tokens[i].qpn.u64(), i);
    EXPECT_EQ(out.cycles[i], i + 2);
  }
}

TEST(TxArbiter, EitherAloneHasEveryCycle) {
  for (bool ack : {true, false}) {
    Harness h;
    test::Source<TxPacket> source(h.bench, ack ? h.acks : h.data, packets(50, ack ? 0 : 1));
    test::Sink<TxPacket> out(h.bench, h.out);
    h.run(52);
    ASSERT_EQ(out.tokens.size(), 50u);
    EXPECT_EQ(out.cycles.back(), 51u);
  }
}

TEST(TxArbiter, KeepsEachOrderAndBoundsEachWait) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Harness h(seed);
    test::Source<TxPacket> acks(h.bench, h.acks, packets(200, 0), 60), data(h.bench, h.data, packets(200, 1), 60);
    test::Sink<TxPacket> out(h.bench, h.out, 70);
    std::vector<std::pair<bool, bool>> waiting;  // (acknowledgement, data) when each packet was taken
    for (int i = 0; i < 2000; i++) {
      const bool a = !h.acks.empty(), d = !h.data.empty();
      const uint64_t before = h.out.written();
      h.bench.tick([&] {
        h.stage.step(h.acks, h.data, h.out);
        if (h.out.written() != before) waiting.emplace_back(a, d);
      });
    }
    ASSERT_EQ(out.tokens.size(), 400u);
    uint64_t next[2] = {0, 1};
    for (size_t i = 0; i < 400; i++) {
      const bool ack = is_ack(out.tokens[i]);
      uint64_t& expected = next[ack ? 0 : 1];
      EXPECT_EQ(out.tokens[i].qpn.u64(), expected);
      expected += 2;
      const bool after_ack = i > 0 && is_ack(out.tokens[i - 1]);
      if (waiting[i].first && waiting[i].second) {
        EXPECT_EQ(ack, !after_ack) << i;
      }
    }
  }
}

}  // namespace
