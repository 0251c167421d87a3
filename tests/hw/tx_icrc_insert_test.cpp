#include "bench.hpp"
#include "frames.hpp"
#include "hw/tx/icrc_insert.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::RoceFrame;

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, out;
  hw::tx::IcrcInsert<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(out, "out", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, out); });
  }
};

Bytes frame(unsigned payload, unsigned extended = 16) {
  RoceFrame f;
  f.extended = extended;
  f.payload = payload;
  f.fill = uint8_t(payload);
  return f.bytes();
}
Bytes without_icrc(Bytes f) {
  f.resize(f.size() - 4);
  return f;
}

template <unsigned W>
std::vector<Bytes> insert(const std::vector<Bytes>& frames, uint64_t seed, unsigned in_percent, unsigned out_percent) {
  Harness<W> h(seed, 1 + seed % 3);
  std::vector<Beat<W>> beats;
  for (const Bytes& f : frames)
    for (const auto& b : test::to_beats<W>(without_icrc(f), uint32_t(f.size()))) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats, in_percent);
  test::Sink<Beat<W>> sink(h.bench, h.out, out_percent);
  h.run(10 * beats.size() + 20);
  size_t i = 0;
  for (const Beat<W>& b : sink.tokens) {
    EXPECT_EQ(b.tag.id, frames[i].size()) << "tag of packet " << i;
    if (bool(b.last)) i++;
  }
  return test::to_packets<W>(sink.tokens);
}

template <class T>
class TxIcrcInsert : public ::testing::Test {};
TYPED_TEST_SUITE(TxIcrcInsert, test::Widths, test::WidthNames);

TYPED_TEST(TxIcrcInsert, EveryLength) {
  constexpr unsigned W = TypeParam::value;
  std::vector<Bytes> frames;
  for (unsigned extended : {0u, 4u, 16u, 20u})
    for (unsigned payload = 0; payload <= 4096; payload += payload < 300 ? 1 : 61)
      frames.push_back(frame(payload, extended));
  EXPECT_EQ(insert<W>(frames, 1, 100, 100), frames);
}

// Beats are filled byte by byte, so that the ICRC meets the end of a beat at every place.
TYPED_TEST(TxIcrcInsert, EveryByteCountOfTheLastBeat) {
  constexpr unsigned W = TypeParam::value;
  std::vector<Bytes> frames;
  for (size_t size = 62; size <= 350; size++) {
    Bytes f = frame(400);
    f.resize(size);
    RoceFrame::put_icrc(f);
    frames.push_back(f);
  }
  EXPECT_EQ(insert<W>(frames, 1, 100, 100), frames);
}

TYPED_TEST(TxIcrcInsert, OneBubbleWhereTheIcrcDoesNotFit) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned payload = 0; payload <= 256; payload += 4) {
    Harness<W> h(1, 8);
    std::vector<Beat<W>> beats;
    for (int i = 0; i < 10; i++)
      for (const auto& b : test::to_beats<W>(without_icrc(frame(payload)))) beats.push_back(b);
    test::Source<Beat<W>> source(h.bench, h.in, beats);
    test::Sink<Beat<W>> sink(h.bench, h.out);
    const size_t beats_out = test::beats_of<W>(frame(payload).size());
    h.run(10 * beats_out + 10);
    ASSERT_EQ(sink.tokens.size(), 10 * beats_out);
    for (size_t i = 0; i < sink.tokens.size(); i++) EXPECT_EQ(sink.cycles[i], 2 + i);
  }
}

TYPED_TEST(TxIcrcInsert, UnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Bytes> frames;
    for (int i = 0; i < 60; i++) frames.push_back(frame(unsigned(random() % 400), random() % 2 ? 16 : 4));
    EXPECT_EQ(insert<W>(frames, seed, 70, 60), frames);
  }
}

}  // namespace
