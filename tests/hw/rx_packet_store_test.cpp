#include <memory>

#include "bench.hpp"
#include "frames.hpp"
#include "hw/rx/packet_store.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;

template <unsigned W, class Stage = hw::rx::PacketStore<W>>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, out;
  Stage stage;
  bool sleepy = false;  // step only when rule 5 asks for it
  bool due = true;
  bool was_full = false, was_empty = true;

  explicit Harness(uint32_t beats, uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    stage.params.beats = beats;
    test::configure(in, "in", capacity);
    test::configure(out, "out", capacity);
  }
  void step() {
    const bool woken = (was_full && !out.full()) || (was_empty && !in.empty());
    was_full = out.full();
    was_empty = in.empty();
    if (sleepy && !due && !woken) return;
    hw::world().acted = false;
    stage.step(in, out);
    due = hw::world().acted || stage.quiet() == 0;
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { step(); });
  }
};

Bytes bytes_of(size_t size, unsigned seed) {
  Bytes b(size);
  for (size_t i = 0; i < size; i++) b[i] = uint8_t(seed * 7 + i);
  return b;
}

template <unsigned W>
void append(std::vector<Beat<W>>& beats, const Bytes& packet, bool bad) {
  for (Beat<W> b : test::to_beats<W>(packet)) {
    b.bad = hw::Bits<1>(bad);  // counts on the last beat only, so it may stand on the others
    beats.push_back(b);
  }
}

template <class T>
class RxPacketStore : public ::testing::Test {};
TYPED_TEST_SUITE(RxPacketStore, test::Widths, test::WidthNames);

TYPED_TEST(RxPacketStore, FirstBeatLeavesTwoCyclesAfterTheLastOneCame) {
  constexpr unsigned W = TypeParam::value;
  for (size_t n : {1, 2, 3, 17, 64}) {
    Harness<W> h(64);
    std::vector<Beat<W>> beats;
    append(beats, bytes_of(n * W / 8 - 2, 1), false);
    test::Source<Beat<W>> source(h.bench, h.in, beats);
    test::Sink<Beat<W>> sink(h.bench, h.out);
    h.run(2 * n + 10);
    ASSERT_EQ(sink.cycles.size(), n);
    for (size_t i = 0; i < n; i++) {
      EXPECT_EQ(sink.cycles[i], source.cycles[n - 1] + 1 + 2 + 1 + i);  // in, store, out
    }
  }
}

TYPED_TEST(RxPacketStore, MovesABeatEveryCycle) {
  constexpr unsigned W = TypeParam::value;
  for (size_t n : {1, 2, 3, 5}) {
    Harness<W> h(64);
    std::vector<Beat<W>> beats;
    for (unsigned i = 0; i < 50; i++) append(beats, bytes_of(n * W / 8, i), false);
    test::Source<Beat<W>> source(h.bench, h.in, beats);
    test::Sink<Beat<W>> sink(h.bench, h.out);
    h.run(beats.size() + n + 20);
    ASSERT_EQ(sink.cycles.size(), beats.size());
    for (size_t i = 0; i < beats.size(); i++) {
      EXPECT_EQ(source.cycles[i], i);
      EXPECT_EQ(sink.cycles[i], n + 3 + i);
    }
    EXPECT_EQ(h.stage.fullest.v.u64(), n);
  }
}

TYPED_TEST(RxPacketStore, NothingOfABadPacketLeaves) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h(16);
  std::vector<Beat<W>> beats;
  for (unsigned i = 0; i < 100; i++) append(beats, bytes_of((1 + i % 5) * W / 8, i), true);
  const Bytes good = bytes_of(16 * W / 8 - 1, 0);
  append(beats, good, false);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(beats.size() + 60);
  EXPECT_EQ(test::to_packets<W>(sink.tokens), std::vector<Bytes>{good});
  EXPECT_EQ(h.stage.dropped.v.u64(), 100u);
  EXPECT_EQ(h.stage.stored.v.u64(), 1u);
}

TYPED_TEST(RxPacketStore, PacketAsLargeAsTheStoreFitsALargerOneIsDropped) {
  constexpr unsigned W = TypeParam::value;
  for (uint32_t size : {1u, 2u, 7u, uint32_t(hw::rx::PacketStore<W>::kBeats)}) {
    auto h = std::make_unique<Harness<W>>(size);
    std::vector<Beat<W>> beats;
    const Bytes fits = bytes_of(size * W / 8, 1), small = bytes_of(5, 3);
    append(beats, small, false);
    append(beats, fits, false);
    append(beats, bytes_of(size * W / 8 + 1, 2), false);
    append(beats, bytes_of(size * W / 8 * 3, 2), false);
    append(beats, small, false);
    append(beats, fits, false);
    test::Source<Beat<W>> source(h->bench, h->in, beats);
    test::Sink<Beat<W>> sink(h->bench, h->out);
    h->run(12 * size + 60);
    EXPECT_EQ(test::to_packets<W>(sink.tokens), (std::vector<Bytes>{small, fits, small, fits}));
    EXPECT_EQ(h->stage.dropped.v.u64(), 2u);
    EXPECT_EQ(h->stage.stored.v.u64(), 4u);
    EXPECT_EQ(h->stage.fullest.v.u64(), size);
  }
}

TYPED_TEST(RxPacketStore, HoldsEverythingWhileTheOutputIsStuck) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h(8, 1, 1);
  std::vector<Beat<W>> beats;
  std::vector<Bytes> packets;
  for (unsigned i = 0; i < 10; i++) {
    packets.push_back(bytes_of(3 * W / 8, i));
    append(beats, packets.back(), false);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  h.run(200);
  EXPECT_EQ(h.in.was_read(), 1u + 1u + 8u);  // in the output, fetched, in the store
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(200);
  EXPECT_EQ(test::to_packets<W>(sink.tokens), packets);
}

// One that must not hold up who fills it.
template <unsigned W>
using Dropping = Harness<W, hw::rx::PacketStore<W, 16384, hw::rx::kDrops>>;

TYPED_TEST(RxPacketStore, DropsWhatFindsNoRoomWhereItMustNotWait) {
  constexpr unsigned W = TypeParam::value;
  Dropping<W> h(8, 1, 1);
  std::vector<Beat<W>> beats;
  const Bytes small = bytes_of(3 * W / 8, 1), large = bytes_of(5 * W / 8, 2);
  append(beats, small, false);  // two beats of it move on
  append(beats, small, false);
  append(beats, large, false);  // four of five would fit
  append(beats, small, false);
  append(beats, small, false);
  append(beats, small, true);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  h.run(2 * beats.size());  // every other cycle, as the input has one place
  EXPECT_TRUE(source.done());
  EXPECT_EQ(h.stage.dropped.v.u64(), 3u);
  EXPECT_EQ(h.stage.stored.v.u64(), 3u);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(40);
  EXPECT_EQ(test::to_packets<W>(sink.tokens), (std::vector<Bytes>{small, small, small}));
}

// Whatever the output does, a beat a cycle is taken, and what leaves is whole, in order and counted.
TYPED_TEST(RxPacketStore, NeverWaitsWhereItMustNot) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Dropping<W> h(1 + uint32_t(seed % 12), seed, 2);
    std::vector<Beat<W>> beats;
    for (unsigned i = 0; i < 200; i++) append(beats, bytes_of((1 + h.bench.random()() % 4) * W / 8, i), false);
    test::Source<Beat<W>> source(h.bench, h.in, beats);
    test::Sink<Beat<W>> sink(h.bench, h.out, 10 + unsigned(seed) * 4);
    h.run(beats.size());
    EXPECT_TRUE(source.done());
    h.run(500);
    const auto packets = test::to_packets<W>(sink.tokens);
    EXPECT_EQ(h.stage.stored.v.u64(), packets.size());
    EXPECT_EQ(h.stage.dropped.v.u64(), 200 - packets.size());
    unsigned number = 0;
    for (const Bytes& p : packets) {
      while (number < 200 && p != bytes_of(p.size(), number)) number++;
      ASSERT_LT(number++, 200u) << "seed " << seed;
    }
  }
}

struct Outcome {
  std::vector<Bytes> packets, expected;
  std::vector<hw::Cycles> cycles;
  uint64_t stored, dropped;
};

template <unsigned W>
Outcome random_run(uint64_t seed, bool sleepy) {
  const uint32_t size = 1 + uint32_t(seed * 7 % 12);
  Harness<W> h(size, seed, 1 + seed % 3);
  h.sleepy = sleepy;
  Outcome run;
  std::vector<Beat<W>> beats;
  for (unsigned i = 0; i < 80; i++) {
    const Bytes packet = bytes_of(1 + h.bench.random()() % ((size + 1) * W / 8), i);
    const bool bad = h.bench.chance(30);
    if (!bad && (packet.size() + W / 8 - 1) / (W / 8) <= size) run.expected.push_back(packet);
    append(beats, packet, bad);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats, 40 + seed % 61);
  test::Sink<Beat<W>> sink(h.bench, h.out, 30 + seed * 3 % 71);
  h.run(6000);
  run.packets = test::to_packets<W>(sink.tokens);
  run.cycles = sink.cycles;
  run.stored = h.stage.stored.v.u64();
  run.dropped = h.stage.dropped.v.u64();
  return run;
}

TYPED_TEST(RxPacketStore, PassesTheGoodPacketsUnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    const Outcome run = random_run<W>(seed, false);
    EXPECT_EQ(run.packets, run.expected) << "seed " << seed;
    EXPECT_EQ(run.stored, run.expected.size());
    EXPECT_EQ(run.dropped, 80 - run.expected.size());
  }
}

TYPED_TEST(RxPacketStore, SleepingChangesNothing) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    EXPECT_EQ(random_run<W>(seed, true).cycles, random_run<W>(seed, false).cycles) << "seed " << seed;
  }
}

}  // namespace
