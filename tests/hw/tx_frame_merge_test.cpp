#include "bench.hpp"
#include "frames.hpp"
#include "hw/tx/frame_merge.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> roce, replies, out;
  hw::tx::FrameMerge<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 2) : bench(seed) {
    for (hls::stream<Beat<W>>* s : {&roce, &replies, &out}) test::configure(*s, "port", capacity);
  }
  void step() { stage.step(roce, replies, out); }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { step(); });
  }
};

// Numbered frames of one source; the first byte tells the source, the second the number.
Bytes frame(bool reply, unsigned number, size_t bytes) {
  Bytes f(bytes, uint8_t(number * 7));
  f[0] = uint8_t(reply);
  f[1] = uint8_t(number);
  return f;
}
template <unsigned W>
std::vector<Beat<W>> frames(bool reply, unsigned count, size_t beats) {
  std::vector<Beat<W>> all;
  for (unsigned i = 0; i < count; i++)
    for (const auto& b : test::to_beats<W>(frame(reply, i, beats * W / 8 - 3))) all.push_back(b);
  return all;
}

template <class T>
class TxFrameMerge : public ::testing::Test {};
TYPED_TEST_SUITE(TxFrameMerge, test::Widths, test::WidthNames);

TYPED_TEST(TxFrameMerge, EitherAloneHasEveryCycle) {
  constexpr unsigned W = TypeParam::value;
  for (bool reply : {false, true}) {
    for (size_t beats : {1, 2, 5}) {
      Harness<W> h;
      test::Source<Beat<W>> source(h.bench, reply ? h.replies : h.roce, frames<W>(reply, 20, beats));
      test::Sink<Beat<W>> out(h.bench, h.out);
      h.run(20 * beats + 2);
      ASSERT_EQ(out.tokens.size(), 20 * beats);
      for (size_t i = 0; i < out.cycles.size(); i++) EXPECT_EQ(out.cycles[i], i + 2);
    }
  }
}

TYPED_TEST(TxFrameMerge, TurnsFrameByFrameWithoutABubbleAndRoceBegins) {
  constexpr unsigned W = TypeParam::value;
  for (size_t beats : {1, 2, 5}) {
    Harness<W> h;
    test::Source<Beat<W>> roce(h.bench, h.roce, frames<W>(false, 20, beats)),
        replies(h.bench, h.replies, frames<W>(true, 20, beats));
    test::Sink<Beat<W>> out(h.bench, h.out);
    h.run(40 * beats + 2);
    const auto packets = test::to_packets<W>(out.tokens);
    ASSERT_EQ(packets.size(), 40u);
    for (unsigned i = 0; i < 40; i++) {
      EXPECT_EQ(packets[i], frame(i % 2 == 1, i / 2, beats * W / 8 - 3)) << i;
      EXPECT_EQ(out.cycles[i * beats], i * beats + 2);
    }
  }
}

// A frame is held together also where its beats come with gaps, and who may begin follows from who waits.
TYPED_TEST(TxFrameMerge, KeepsFramesWholeAndBoundsTheWait) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Harness<W> h(seed, 1 + seed % 3);
    const size_t beats = 1 + seed % 4;
    test::Source<Beat<W>> roce(h.bench, h.roce, frames<W>(false, 100, beats), 30 + seed * 3),
        replies(h.bench, h.replies, frames<W>(true, 100, beats), 80 - seed * 3);
    test::Sink<Beat<W>> out(h.bench, h.out, 70);
    bool owed = false;
    for (unsigned i = 0; i < 6000; i++) {
      const bool both = !h.roce.empty() && !h.replies.empty();
      const uint64_t before = h.out.written();
      h.bench.tick([&] { h.step(); });
      if (h.out.written() == before || before % beats != 0) continue;  // no frame begins
      const bool reply = h.out.newest().data.template get<0, 8>().u64() == 1;
      if (both) {
        EXPECT_EQ(reply, owed);
      }
      owed = both && !reply;
    }
    const auto packets = test::to_packets<W>(out.tokens);
    ASSERT_EQ(packets.size(), 200u);
    unsigned next[2] = {0, 0};
    for (const Bytes& p : packets) {
      EXPECT_EQ(p, frame(p[0] == 1, next[p[0]]++, beats * W / 8 - 3));
    }
  }
}

}  // namespace
