#include "hw/rx/l3_length.hpp"
#include "packet.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::RoceFrame;

struct Outcome {
  Bytes bytes;
  bool bad = false;
  bool operator==(const Outcome& o) const { return bytes == o.bytes && bad == o.bad; }
};

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, out;
  hw::rx::L3Length<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(out, "out", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, out); });
  }
};

template <unsigned W>
std::vector<Outcome> packets_of(const std::vector<Beat<W>>& beats) {
  std::vector<Outcome> packets;
  for (const Bytes& bytes : test::to_packets<W>(beats)) packets.push_back(Outcome{bytes, false});
  size_t i = 0;
  for (const Beat<W>& b : beats) {
    if (bool(b.last)) packets[i++].bad = bool(b.bad);
  }
  return packets;
}

// What becomes of one frame, followed by a good one that must come through untouched.
template <unsigned W>
Outcome pass(const Bytes& frame) {
  Harness<W> h;
  std::vector<Beat<W>> beats = test::to_beats<W>(frame);
  const Bytes next = RoceFrame().bytes();
  for (const auto& b : test::to_beats<W>(next)) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(beats.size() + 10);
  const std::vector<Outcome> packets = packets_of<W>(sink.tokens);
  EXPECT_EQ(packets.size(), 2u);
  if (packets.size() != 2) return Outcome();
  EXPECT_EQ(packets[1].bytes, next);
  EXPECT_FALSE(packets[1].bad);
  EXPECT_EQ(h.stage.length_errors.v.u64(), packets[0].bad ? 1u : 0u);
  return packets[0];
}
template <unsigned W>
bool is_bad(const Bytes& frame) {
  return pass<W>(frame).bad;
}

void set_lengths(Bytes& f, unsigned total) {
  RoceFrame::put(f, 16, 2, total);
  RoceFrame::put(f, 38, 2, total - 20);
}

RoceFrame write(unsigned payload) {
  RoceFrame f;
  f.payload = payload;
  return f;
}
RoceFrame ack() {
  RoceFrame f;
  f.opcode = 0x11;
  f.extended = 4;
  f.payload = 0;
  return f;
}

// The beats up to the one with the PadCnt.
template <unsigned W>
Bytes shown(const Bytes& f) {
  return Bytes(f.begin(), f.begin() + long(std::min(test::beats_of<W>(44) * W / 8, f.size())));
}

template <class T>
class RxL3Length : public ::testing::Test {};
TYPED_TEST_SUITE(RxL3Length, test::Widths, test::WidthNames);

TYPED_TEST(RxL3Length, PassesGoodPacketsOfEveryLength) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned payload = 0; payload <= 4096; payload += payload < 300 ? 1 : 61) {
    const Bytes f = write(payload).bytes();
    EXPECT_EQ(pass<W>(f), (Outcome{f, false})) << payload;
  }
  EXPECT_FALSE(is_bad<W>(write(4096).bytes()));
  EXPECT_FALSE(is_bad<W>(ack().bytes()));
}

TYPED_TEST(RxL3Length, CutsWhatFollowsThePacket) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned payload = 0; payload <= 140; payload++) {
    for (unsigned trailer : {1u, 2u, 4u, 18u, 63u, 64u, 65u, 200u}) {
      const Bytes f = write(payload).bytes();
      Bytes longer = f;
      longer.insert(longer.end(), trailer, 0xa5);
      EXPECT_EQ(pass<W>(longer), (Outcome{f, false})) << payload << " + " << trailer;
    }
  }
}

TYPED_TEST(RxL3Length, MarksShortFrames) {
  constexpr unsigned W = TypeParam::value;
  const Bytes f = write(100).bytes();
  for (size_t size = 1; size < f.size(); size++) {
    const Bytes shorter(f.begin(), f.begin() + long(size));
    EXPECT_EQ(pass<W>(shorter), (Outcome{shorter, true})) << size;
  }
}

TYPED_TEST(RxL3Length, TotalLengthAgainstTheOpcodesHeaders) {
  constexpr unsigned W = TypeParam::value;
  const Bytes f = write(400).bytes();
  for (unsigned total = 0; total <= 80; total++) {
    for (unsigned opcode = 0; opcode < 0x11; opcode++) {
      Bytes g = f;
      g[42] = uint8_t(opcode);
      set_lengths(g, total);
      const unsigned smallest = 44 + test::extended_bytes(uint8_t(opcode));
      EXPECT_EQ(is_bad<W>(g), total < smallest || total % 4 != 0) << total << " opcode " << opcode;
    }
  }
}

TYPED_TEST(RxL3Length, LargestDatagram) {
  constexpr unsigned W = TypeParam::value;
  Bytes f = write(4096).bytes();
  f.resize(8000);
  set_lengths(f, 4160);  // RETH, immediate data and 4096 bytes
  EXPECT_FALSE(is_bad<W>(f));
  for (unsigned total : {4161u, 4164u, 8192u, 8192u + 4160u, 65532u}) {
    set_lengths(f, total);
    EXPECT_TRUE(is_bad<W>(f)) << total;
  }
}

TYPED_TEST(RxL3Length, UdpLengthAgainstTotalLength) {
  constexpr unsigned W = TypeParam::value;
  Bytes f = write(64).bytes();
  for (unsigned udp = 0; udp <= 0xffff; udp += udp < 300 ? 1 : 997) {
    RoceFrame::put(f, 38, 2, udp);
    EXPECT_EQ(is_bad<W>(f), udp != write(64).total() - 20) << udp;
  }
}

TYPED_TEST(RxL3Length, PadCountAgainstPayload) {
  constexpr unsigned W = TypeParam::value;
  for (unsigned pad = 0; pad < 4; pad++) {
    Bytes empty = write(0).bytes(), word = write(4).bytes();
    empty[43] = word[43] = uint8_t(pad << 4);
    EXPECT_EQ(is_bad<W>(empty), pad > 0) << pad;
    EXPECT_FALSE(is_bad<W>(word)) << pad;
  }
}

TYPED_TEST(RxL3Length, AcknowledgementsCarryNothing) {
  constexpr unsigned W = TypeParam::value;
  RoceFrame f = ack();
  f.payload = 4;
  EXPECT_TRUE(is_bad<W>(f.bytes()));
}

TYPED_TEST(RxL3Length, OneThatLiesLeavesUpToTheBeatThatShowsIt) {
  constexpr unsigned W = TypeParam::value;
  Bytes f = write(1000).bytes();
  set_lengths(f, 20);
  EXPECT_EQ(pass<W>(f), (Outcome{shown<W>(f), true}));
}

TYPED_TEST(RxL3Length, MovesABeatEveryCycleWithoutDelay) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h;
  std::vector<Beat<W>> beats;
  for (unsigned payload = 0; payload < 600; payload += 16)
    for (const auto& b : test::to_beats<W>(write(payload).bytes())) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(beats.size() + 2);
  ASSERT_EQ(sink.tokens.size(), beats.size());
  for (size_t i = 0; i < beats.size(); i++) EXPECT_EQ(sink.cycles[i], source.cycles[i] + 2);
}

TYPED_TEST(RxL3Length, SwallowsTrailersWhileTheOutputIsFull) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h(1, 1);
  Bytes f = write(64).bytes();
  const size_t beats_of_packet = test::beats_of<W>(f.size());
  f.resize(f.size() + 20 * W / 8);
  const std::vector<Beat<W>> beats = test::to_beats<W>(f);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(2 * beats_of_packet + 4);
  ASSERT_EQ(sink.tokens.size(), beats_of_packet);
  h.out.write(Beat<W>());  // fills the output for good
  h.bench.run(1, [] {});
  const uint64_t read_before = h.in.was_read();
  for (int i = 0; i < 10; i++) {
    hw::world().now++;
    h.stage.step(h.in, h.out);
  }
  EXPECT_GT(h.in.was_read(), read_before);
}

// Frames of every sort under stalls on both ports.
template <unsigned W>
void run_under_stalls(uint64_t seed) {
  Harness<W> h(seed, 1 + seed % 3);
  std::vector<Beat<W>> beats;
  std::vector<Outcome> expected;
  for (unsigned i = 0; i < 60; i++) {
    RoceFrame f = write(unsigned(h.bench.random()() % 300));
    f.fill = uint8_t(i);
    Outcome packet{f.bytes(), false};
    Bytes frame = packet.bytes;
    switch (h.bench.random()() % 4) {
      case 0:
        frame.resize(frame.size() + 1 + h.bench.random()() % 200, 0xee);
        break;
      case 1:
        frame.resize(42 + h.bench.random()() % (frame.size() - 42));
        packet = Outcome{frame, true};
        break;
      case 2:
        frame[38] ^= 1;
        frame.resize(frame.size() + h.bench.random()() % 100);
        packet = Outcome{shown<W>(frame), true};
        break;
      default:
        break;
    }
    expected.push_back(packet);
    for (const auto& b : test::to_beats<W>(frame, i)) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats, 70);
  test::Sink<Beat<W>> sink(h.bench, h.out, 60);
  h.run(300000 / W + 6000);
  EXPECT_EQ(packets_of<W>(sink.tokens), expected) << "seed " << seed;
}

TYPED_TEST(RxL3Length, UnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    run_under_stalls<W>(seed);
  }
}

}  // namespace
