#include "bench.hpp"
#include "frames.hpp"
#include "hw/rx/ethernet.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, roce, host;
  hw::rx::Ethernet<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(roce, "roce", capacity);
    test::configure(host, "host", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, roce, host); });
  }
};

// Where a single frame goes.
template <unsigned W>
bool goes_to_roce(const Bytes& frame) {
  Harness<W> h;
  test::Source<Beat<W>> source(h.bench, h.in, test::to_beats<W>(frame));
  test::Sink<Beat<W>> roce(h.bench, h.roce), host(h.bench, h.host);
  h.run(100);
  const auto& taken = roce.tokens.empty() ? host.tokens : roce.tokens;
  EXPECT_NE(roce.tokens.empty(), host.tokens.empty());
  EXPECT_EQ(test::to_packets<W>(taken), std::vector<Bytes>{frame});
  EXPECT_EQ(h.stage.frames.v.u64(), 1u);
  EXPECT_EQ(h.stage.roce_frames.v.u64(), roce.tokens.empty() ? 0u : 1u);
  EXPECT_EQ(h.stage.host_frames.v.u64(), host.tokens.empty() ? 0u : 1u);
  return !roce.tokens.empty();
}

Bytes with(Bytes frame, size_t at, uint8_t value) {
  frame[at] = value;
  return frame;
}

template <class T>
class RxEthernet : public ::testing::Test {};
TYPED_TEST_SUITE(RxEthernet, test::Widths, test::WidthNames);

TYPED_TEST(RxEthernet, TakesRoceOnly) {
  constexpr unsigned W = TypeParam::value;
  const Bytes good = test::RoceFrame().bytes();
  EXPECT_TRUE(goes_to_roce<W>(good));
  EXPECT_TRUE(goes_to_roce<W>(with(good, 20, 0x40))) << "do not fragment";
  EXPECT_TRUE(goes_to_roce<W>(with(good, 34, 0))) << "any source port";
  EXPECT_TRUE(goes_to_roce<W>(with(good, 15, 0xff))) << "any TOS";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 12, 0x86))) << "other ethertype";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 13, 0x06))) << "other ethertype";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 14, 0x46))) << "IP options";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 14, 0x65))) << "IP version";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 23, 6))) << "TCP";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 20, 0x20))) << "more fragments";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 21, 1))) << "fragment offset";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 20, 0x10))) << "fragment offset, highest bit";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 36, 0x13))) << "other port";
  EXPECT_FALSE(goes_to_roce<W>(with(good, 37, 0xb8))) << "other port";
}

TYPED_TEST(RxEthernet, NeedsTheUdpHeader) {
  constexpr unsigned W = TypeParam::value;
  Bytes frame = test::RoceFrame().bytes();
  frame.resize(42);
  EXPECT_TRUE(goes_to_roce<W>(frame));
  frame.resize(41);
  EXPECT_FALSE(goes_to_roce<W>(frame));
}

TYPED_TEST(RxEthernet, MovesABeatEveryCycleWithoutDelay) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h;
  std::vector<Beat<W>> beats;
  for (unsigned i = 0; i < 20; i++) {
    test::RoceFrame f;
    f.payload = i * 40;
    for (const auto& b : test::to_beats<W>(f.bytes())) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> roce(h.bench, h.roce);
  const size_t held = test::beats_of<W>(42) - 1;  // until the beat that decides is there
  h.run(beats.size() + held + 2);
  ASSERT_EQ(roce.tokens.size(), beats.size());
  for (size_t i = 0; i < beats.size(); i++) {
    EXPECT_EQ(source.cycles[i], i);
    EXPECT_EQ(roce.cycles[i], i + held + 2);  // one cycle in each stream
  }
}

TYPED_TEST(RxEthernet, FullHostPortStopsHostFramesAndNewFramesOnly) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h(1, 2);
  test::RoceFrame large;
  large.payload = 256;
  const Bytes roce_frame = large.bytes();
  const Bytes host_frame = with(roce_frame, 23, 6);
  std::vector<Beat<W>> beats = test::to_beats<W>(host_frame);
  for (const auto& b : test::to_beats<W>(roce_frame)) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> roce(h.bench, h.roce);
  h.run(200);  // nobody drains the host port
  EXPECT_TRUE(roce.tokens.empty());
  test::Sink<Beat<W>> host(h.bench, h.host);
  h.run(200);
  EXPECT_EQ(test::to_packets<W>(host.tokens), std::vector<Bytes>{host_frame});
  EXPECT_EQ(test::to_packets<W>(roce.tokens), std::vector<Bytes>{roce_frame});
}

template <unsigned W>
void sort_under_stalls(uint64_t seed) {
  Harness<W> h(seed, 1 + seed % 3);
  std::vector<Beat<W>> beats;
  std::vector<Bytes> expected_roce, expected_host;
  for (unsigned i = 0; i < 60; i++) {
    test::RoceFrame f;
    f.payload = unsigned(h.bench.random()() % 400);
    f.fill = uint8_t(i);
    Bytes frame = f.bytes();
    const bool to_host = h.bench.chance(40);
    if (to_host) frame[37] ^= 1;
    if (to_host && h.bench.chance(50)) frame.resize(1 + h.bench.random()() % 41);  // several may be in sight at once
    (to_host ? expected_host : expected_roce).push_back(frame);
    for (const auto& b : test::to_beats<W>(frame, i)) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats, 70);
  test::Sink<Beat<W>> roce(h.bench, h.roce, 60), host(h.bench, h.host, 50);
  h.run(300000 / W + 6000);
  EXPECT_EQ(test::to_packets<W>(roce.tokens), expected_roce);
  EXPECT_EQ(test::to_packets<W>(host.tokens), expected_host);
  EXPECT_EQ(h.stage.frames.v.u64(), 60u);
  EXPECT_EQ(h.stage.host_frames.v.u64(), expected_host.size());
  EXPECT_EQ(h.stage.roce_frames.v.u64(), expected_roce.size());
}

TYPED_TEST(RxEthernet, SortsUnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    sort_under_stalls<W>(seed);
  }
}

}  // namespace
