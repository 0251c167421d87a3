#include "bench.hpp"
#include "frames.hpp"
#include "hw/rx/icrc_check.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::RoceFrame;

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, out;
  hw::rx::IcrcCheck<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(out, "out", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, out); });
  }
};

template <unsigned W>
bool is_bad(const Bytes& frame) {
  Harness<W> h;
  test::Source<Beat<W>> source(h.bench, h.in, test::to_beats<W>(frame));
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(frame.size() * 8 / W + 10);
  EXPECT_EQ(test::to_packets<W>(sink.tokens), std::vector<Bytes>{frame});
  if (sink.tokens.empty()) return false;
  const bool bad = bool(sink.tokens.back().bad);
  EXPECT_EQ(h.stage.icrc_errors.v.u64(), bad ? 1u : 0u);
  return bad;
}

Bytes write(unsigned payload) {
  RoceFrame f;
  f.payload = payload;
  return f.bytes();
}

template <class T>
class RxIcrcCheck : public ::testing::Test {};
TYPED_TEST_SUITE(RxIcrcCheck, test::Widths, test::WidthNames);

TYPED_TEST(RxIcrcCheck, TakesRightOnesOfEveryLength) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned payload = 0; payload <= 4096; payload += payload < 300 ? 1 : 61) {
    EXPECT_FALSE(is_bad<W>(write(payload))) << payload;
  }
}

// Every single bit of a packet: covered ones must show, masked ones and Ethernet's must not.
TYPED_TEST(RxIcrcCheck, SeesEverySingleWrongBit) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned payload : {0u, 2u, 130u}) {
    const Bytes good = write(payload);
    for (size_t at = 0; at < good.size(); at++) {
      const bool covered = at >= 14 && at != 15 && at != 22 && at != 24 && at != 25 && at != 40 && at != 41 && at != 46;
      for (int bit = 0; bit < 8; bit++) {
        Bytes f = good;
        f[at] ^= uint8_t(1 << bit);
        EXPECT_EQ(is_bad<W>(f), covered) << "byte " << at;
      }
    }
  }
}

TYPED_TEST(RxIcrcCheck, CountsWithoutMarkingWhenSwitchedOff) {
  constexpr unsigned W = TypeParam::value;
  Bytes f = write(64);
  f.back() ^= 1;
  Harness<W> h;
  h.stage.params.check = 0;
  test::Source<Beat<W>> source(h.bench, h.in, test::to_beats<W>(f));
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(30);
  ASSERT_EQ(sink.tokens.size(), test::beats_of<W>(f.size()));
  EXPECT_FALSE(bool(sink.tokens.back().bad));
  EXPECT_EQ(h.stage.icrc_errors.v.u64(), 1u);
}

TYPED_TEST(RxIcrcCheck, ABadPacketStaysBadAndIsNotCountedAgain) {
  constexpr unsigned W = TypeParam::value;
  for (bool icrc_too : {false, true}) {
    Bytes f = write(64);
    if (icrc_too) f.back() ^= 1;
    auto beats = test::to_beats<W>(f);
    beats.back().bad = hw::Bits<1>(1);
    Harness<W> h;
    test::Source<Beat<W>> source(h.bench, h.in, beats);
    test::Sink<Beat<W>> sink(h.bench, h.out);
    h.run(30);
    ASSERT_EQ(sink.tokens.size(), test::beats_of<W>(f.size()));
    EXPECT_TRUE(bool(sink.tokens.back().bad));
    EXPECT_EQ(h.stage.icrc_errors.v.u64(), 0u);
  }
}

TYPED_TEST(RxIcrcCheck, MovesABeatEveryCycleWithoutDelay) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h;
  std::vector<Beat<W>> beats;
  for (unsigned payload = 0; payload < 600; payload += 16)
    for (const auto& b : test::to_beats<W>(write(payload))) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(beats.size() + 2);
  ASSERT_EQ(sink.tokens.size(), beats.size());
  for (size_t i = 0; i < beats.size(); i++) EXPECT_EQ(sink.cycles[i], i + 2);
}

template <unsigned W>
void run_under_stalls(uint64_t seed) {
  Harness<W> h(seed, 1 + seed % 3);
  std::vector<Beat<W>> beats;
  std::vector<Bytes> packets;
  std::vector<bool> bad, seen_bad;
  for (unsigned i = 0; i < 60; i++) {
    Bytes f = write(unsigned(h.bench.random()() % 400));
    bad.push_back(h.bench.chance(30));
    if (bad.back()) f[47 + h.bench.random()() % (f.size() - 47)] ^= 0x10;
    packets.push_back(f);
    for (const auto& b : test::to_beats<W>(f, i)) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats, 70);
  test::Sink<Beat<W>> sink(h.bench, h.out, 60);
  h.run(300000 / W + 6000);
  EXPECT_EQ(test::to_packets<W>(sink.tokens), packets);
  for (const Beat<W>& b : sink.tokens)
    if (bool(b.last)) seen_bad.push_back(bool(b.bad));
  EXPECT_EQ(seen_bad, bad);
}

TYPED_TEST(RxIcrcCheck, UnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    run_under_stalls<W>(seed);
  }
}

}  // namespace
