#include "bench.hpp"
#include "hw/tx/arbiter.hpp"

namespace {

using hw::TxPacket;

struct Harness {
  test::Bench bench;
  hls::stream<TxPacket> responses, requests, out;
  hw::tx::Arbiter stage;

  explicit Harness(uint64_t seed = 1) : bench(seed) {
    for (hls::stream<TxPacket>* s : {&responses, &requests, &out}) test::configure(*s, "port", 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(responses, requests, out); });
  }
};

// Numbered packets: responses even, requests odd.
std::vector<TxPacket> packets(size_t count, uint64_t first) {
  std::vector<TxPacket> v(count);
  for (size_t i = 0; i < count; i++) v[i].qpn = hw::Qpn(first + 2 * i);
  return v;
}
bool is_response(const TxPacket& p) {
  return p.qpn.u64() % 2 == 0;
}

TEST(TxArbiter, AlternatesWhileBothWaitAndResponsesBegin) {
  Harness h;
  test::Source<TxPacket> responses(h.bench, h.responses, packets(50, 0)), requests(h.bench, h.requests, packets(50, 1));
  test::Sink<TxPacket> out(h.bench, h.out);
  h.run(102);
  ASSERT_EQ(out.tokens.size(), 100u);
  for (size_t i = 0; i < 100; i++) {
    EXPECT_EQ(out.tokens[i].qpn.u64(), i);
    EXPECT_EQ(out.cycles[i], i + 2);
  }
}

TEST(TxArbiter, EitherAloneHasEveryCycle) {
  for (bool responds : {true, false}) {
    Harness h;
    test::Source<TxPacket> source(h.bench, responds ? h.responses : h.requests, packets(50, responds ? 0 : 1));
    test::Sink<TxPacket> out(h.bench, h.out);
    h.run(52);
    ASSERT_EQ(out.tokens.size(), 50u);
    EXPECT_EQ(out.cycles.back(), 51u);
  }
}

TEST(TxArbiter, KeepsEachOrderAndBoundsEachWait) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Harness h(seed);
    test::Source<TxPacket> responses(h.bench, h.responses, packets(200, 0), 60),
        requests(h.bench, h.requests, packets(200, 1), 60);
    test::Sink<TxPacket> out(h.bench, h.out, 70);
    std::vector<std::pair<bool, bool>> waiting;  // (response, request) when each packet was taken
    for (int i = 0; i < 2000; i++) {
      const bool responds = !h.responses.empty(), requests = !h.requests.empty();
      const uint64_t before = h.out.written();
      h.bench.tick([&] {
        h.stage.step(h.responses, h.requests, h.out);
        if (h.out.written() != before) waiting.emplace_back(responds, requests);
      });
    }
    ASSERT_EQ(out.tokens.size(), 400u);
    uint64_t next[2] = {0, 1};
    for (size_t i = 0; i < 400; i++) {
      const bool responds = is_response(out.tokens[i]);
      uint64_t& expected = next[responds ? 0 : 1];
      EXPECT_EQ(out.tokens[i].qpn.u64(), expected);
      expected += 2;
      const bool after_response = i > 0 && is_response(out.tokens[i - 1]);
      if (waiting[i].first && waiting[i].second) {
        EXPECT_EQ(responds, !after_response) << i;
      }
    }
  }
}

}  // namespace
