// A foreign stage beside the native one that it replaces.
#include "sim/foreign/foreign.hpp"

#include <gtest/gtest.h>

#include "hw/tx/arbiter.hpp"
#include "tests/foreign/vendor_arbiter.hpp"
#include "tests/hw/bench.hpp"

namespace {

using hw::TxPacket;

std::vector<TxPacket> packets(size_t count, uint64_t qpn) {
  std::vector<TxPacket> all(count);
  for (size_t i = 0; i < count; i++) {
    all[i].qpn = hw::Qpn(qpn);
    all[i].psn = hw::Psn(i);
    all[i].tag.id = uint32_t(qpn * 1000 + i);
  }
  return all;
}

// What leaves an arbiter, and when; sources and sinks stall alike for every arbiter.
template <class Arbiter>
struct Arbitrated {
  test::Bench bench;
  hls::stream<TxPacket> responses, requests, out;
  test::Source<TxPacket> first, second;
  test::Sink<TxPacket> sink;
  Arbiter arbiter;

  Arbitrated(uint64_t seed, unsigned percent, size_t count)
      : bench(seed),
        first(bench, responses, packets(count, 1), percent),
        second(bench, requests, packets(count, 2), percent),
        sink(bench, out, percent) {
    for (auto* s : {&responses, &requests, &out}) test::configure(*s, "s", 4, hw::Kind::lutram, 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { arbiter.step(responses, requests, out); });
  }
};

std::vector<uint32_t> tags_of(const std::vector<TxPacket>& tokens, uint64_t qpn) {
  std::vector<uint32_t> tags;
  for (const TxPacket& p : tokens)
    if (p.qpn.u64() == qpn) tags.push_back(p.tag.id);
  return tags;
}

// Nothing is lost, doubled or overtaken, whatever stalls, and each packet keeps its Tag.
TEST(Foreign, CarriesWhatTheNativeStageCarries) {
  const unsigned percents[] = {100, 60, 20};
  for (unsigned percent : percents) {
    Arbitrated<hw::tx::Arbiter> native(7, percent, 200);
    native.run(6000);
    Arbitrated<ForeignArbiter<100>> foreign(7, percent, 200);
    foreign.run(6000);
    ASSERT_EQ(native.sink.tokens.size(), 400u);
    ASSERT_EQ(foreign.sink.tokens.size(), 400u);
    for (uint64_t qpn : {1, 2}) EXPECT_EQ(tags_of(foreign.sink.tokens, qpn), tags_of(native.sink.tokens, qpn));
    EXPECT_EQ(foreign.arbiter.held(), 0u);
  }
}

// One call a cycle: as fast as the native stage when nothing stalls.
TEST(Foreign, OneTokenACycle) {
  Arbitrated<ForeignArbiter<101>> foreign(1, 100, 100);
  foreign.run(300);
  ASSERT_EQ(foreign.sink.tokens.size(), 200u);
  EXPECT_EQ(foreign.sink.cycles.back() - foreign.sink.cycles.front(), 199u);
}

// A write that finds no room holds the call up, and its state with it.
TEST(Foreign, ABlockedCallGoesOnWhereItStood) {
  test::Bench bench;
  hls::stream<TxPacket> responses, requests, out;
  for (auto* s : {&responses, &requests, &out}) test::configure(*s, "s", 2, hw::Kind::reg, 1);
  ForeignArbiter<102> arbiter;
  test::Source<TxPacket> source(bench, requests, packets(10, 2));
  const auto step = [&] { arbiter.step(responses, requests, out); };
  bench.run(50, step);
  EXPECT_EQ(out.fill(), 2u);      // full
  EXPECT_EQ(arbiter.held(), 2u);  // one before the function, one behind it
  test::Sink<TxPacket> sink(bench, out);
  bench.run(50, step);
  EXPECT_EQ(tags_of(sink.tokens, 2).size(), 10u);
}

// Two instances do not share what the function keeps in static variables.
TEST(Foreign, InstancesAreApart) {
  Arbitrated<ForeignArbiter<103>> one(3, 70, 50);
  one.run(1000);
  Arbitrated<ForeignArbiter<104>> fresh(3, 70, 50);
  fresh.run(1000);
  ASSERT_EQ(one.sink.tokens.size(), fresh.sink.tokens.size());
  for (size_t i = 0; i < one.sink.tokens.size(); i++) EXPECT_EQ(one.sink.tokens[i].tag.id, fresh.sink.tokens[i].tag.id);
  EXPECT_EQ(one.sink.cycles, fresh.sink.cycles);
}

TEST(Foreign, SleepsWhenItHasBeenIdleForLong) {
  Arbitrated<ForeignArbiter<105>> foreign(1, 100, 1);
  foreign.run(10);
  EXPECT_EQ(foreign.arbiter.quiet(), 0u);
  foreign.run(ForeignArbiter<105>::kIdleCalls + 10);
  EXPECT_EQ(foreign.arbiter.quiet(), hw::kForever);
}

// A read of nothing blocks too.
void adds_pairs(foreign::stream<int>& in, foreign::stream<int>& out) {
  const int first = in.read();
  out.write(first + in.read());
}

TEST(Foreign, ABlockingReadWaitsForItsToken) {
  test::Bench bench;
  hls::stream<int> in, out;
  for (auto* s : {&in, &out}) test::configure(*s, "s", 2, hw::Kind::reg, 1);
  foreign::Foreign<&adds_pairs, foreign::From<int, int>, foreign::To<int, int>> stage;
  test::Source<int> source(bench, in, {1, 2, 3, 4, 5, 6}, 30);
  test::Sink<int> sink(bench, out);
  bench.run(100, [&] { stage.step(in, out); });
  EXPECT_EQ(sink.tokens, (std::vector<int>{3, 7, 11}));
}

}  // namespace
