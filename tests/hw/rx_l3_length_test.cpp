#include "bench.hpp"
#include "frames.hpp"
#include "hw/rx/l3_length.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::RoceFrame;

struct Packet {
  Bytes bytes;
  bool bad = false;
  bool operator==(const Packet& o) const { return bytes == o.bytes && bad == o.bad; }
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
std::vector<Packet> packets_of(const std::vector<Beat<W>>& beats) {
  std::vector<Packet> packets;
  for (const Bytes& bytes : test::to_packets<W>(beats)) packets.push_back(Packet{bytes, false});
  size_t i = 0;
  for (const Beat<W>& b : beats) {
    if (bool(b.last)) packets[i++].bad = bool(b.bad);
  }
  return packets;
}

// What becomes of one frame, followed by a good one that must come through untouched.
template <unsigned W>
Packet pass(const Bytes& frame) {
  Harness<W> h;
  std::vector<Beat<W>> beats = test::to_beats<W>(frame);
  const Bytes next = RoceFrame().bytes();
  for (const auto& b : test::to_beats<W>(next)) beats.push_back(b);
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> sink(h.bench, h.out);
  h.run(300);
  const std::vector<Packet> packets = packets_of<W>(sink.tokens);
  EXPECT_EQ(packets.size(), 2u);
  if (packets.size() != 2) return Packet();
  EXPECT_EQ(packets[1].bytes, next);
  EXPECT_FALSE(packets[1].bad);
  EXPECT_EQ(h.stage.length_errors.v.u64(), packets[0].bad ? 1u : 0u);
  return packets[0];
}
bool is_bad(const Bytes& frame) {
  return pass<512>(frame).bad;
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

TEST(RxL3Length, PassesGoodPacketsOfEveryLength) {
  for (unsigned payload = 0; payload <= 4096; payload += payload < 300 ? 1 : 61) {
    const Bytes f = write(payload).bytes();
    EXPECT_EQ(pass<512>(f), (Packet{f, false})) << payload;
    EXPECT_EQ(pass<1024>(f), (Packet{f, false})) << payload;
  }
  EXPECT_FALSE(is_bad(write(4096).bytes()));
  EXPECT_FALSE(is_bad(ack().bytes()));
}

TEST(RxL3Length, CutsWhatFollowsThePacket) {
  for (unsigned payload = 0; payload <= 140; payload++) {
    for (unsigned trailer : {1u, 2u, 4u, 18u, 63u, 64u, 65u, 200u}) {
      const Bytes f = write(payload).bytes();
      Bytes longer = f;
      longer.insert(longer.end(), trailer, 0xa5);
      EXPECT_EQ(pass<512>(longer), (Packet{f, false})) << payload << " + " << trailer;
      EXPECT_EQ(pass<1024>(longer), (Packet{f, false})) << payload << " + " << trailer;
    }
  }
}

TEST(RxL3Length, MarksShortFrames) {
  const Bytes f = write(100).bytes();
  for (size_t size = 42; size < f.size(); size++) {
    const Bytes shorter(f.begin(), f.begin() + long(size));
    EXPECT_EQ(pass<512>(shorter), (Packet{shorter, true})) << size;
    EXPECT_EQ(pass<1024>(shorter), (Packet{shorter, true})) << size;
  }
}

TEST(RxL3Length, TotalLengthAgainstTheOpcodesHeaders) {
  const Bytes f = write(400).bytes();
  for (unsigned total = 0; total <= 80; total++) {
    for (unsigned opcode : {0x06, 0x07, 0x08, 0x0a}) {
      Bytes g = f;
      g[42] = uint8_t(opcode);
      set_lengths(g, total);
      const unsigned smallest = opcode == 0x06 || opcode == 0x0a ? 60 : 44;
      EXPECT_EQ(is_bad(g), total < smallest || total % 4 != 0) << total << " opcode " << opcode;
    }
  }
}

TEST(RxL3Length, LargestDatagram) {
  Bytes f = write(4096).bytes();
  f.resize(8000);
  set_lengths(f, 4156);
  EXPECT_FALSE(is_bad(f));
  for (unsigned total : {4157u, 4160u, 8192u, 8192u + 4156u, 65532u}) {
    set_lengths(f, total);
    EXPECT_TRUE(is_bad(f)) << total;
  }
}

TEST(RxL3Length, UdpLengthAgainstTotalLength) {
  Bytes f = write(64).bytes();
  for (unsigned udp = 0; udp <= 0xffff; udp += udp < 300 ? 1 : 997) {
    RoceFrame::put(f, 38, 2, udp);
    EXPECT_EQ(is_bad(f), udp != write(64).total() - 20) << udp;
  }
}

TEST(RxL3Length, PadCountAgainstPayload) {
  for (unsigned pad = 0; pad < 4; pad++) {
    Bytes empty = write(0).bytes(), word = write(4).bytes();
    empty[43] = word[43] = uint8_t(pad << 4);
    EXPECT_EQ(is_bad(empty), pad > 0) << pad;
    EXPECT_FALSE(is_bad(word)) << pad;
  }
}

TEST(RxL3Length, AcknowledgementsCarryNothing) {
  RoceFrame f = ack();
  f.payload = 4;
  EXPECT_TRUE(is_bad(f.bytes()));
}

TEST(RxL3Length, OneThatLiesLeavesAsItsFirstBeat) {
  Bytes f = write(1000).bytes();
  set_lengths(f, 20);
  const Bytes first(f.begin(), f.begin() + 64);
  EXPECT_EQ(pass<512>(f), (Packet{first, true}));
}

TEST(RxL3Length, MovesABeatEveryCycleWithoutDelay) {
  Harness<512> h;
  std::vector<Beat<512>> beats;
  for (unsigned payload = 0; payload < 600; payload += 16)
    for (const auto& b : test::to_beats<512>(write(payload).bytes())) beats.push_back(b);
  test::Source<Beat<512>> source(h.bench, h.in, beats);
  test::Sink<Beat<512>> sink(h.bench, h.out);
  h.run(beats.size() + 2);
  ASSERT_EQ(sink.tokens.size(), beats.size());
  for (size_t i = 0; i < beats.size(); i++) EXPECT_EQ(sink.cycles[i], source.cycles[i] + 2);
}

TEST(RxL3Length, SwallowsTrailersWhileTheOutputIsFull) {
  Harness<512> h(1, 1);
  Bytes f = write(64).bytes();
  const size_t beats_of_packet = (f.size() + 63) / 64;
  f.resize(f.size() + 640);
  const std::vector<Beat<512>> beats = test::to_beats<512>(f);
  test::Source<Beat<512>> source(h.bench, h.in, beats);
  test::Sink<Beat<512>> sink(h.bench, h.out);
  h.run(2 * beats_of_packet + 4);
  ASSERT_EQ(sink.tokens.size(), beats_of_packet);
  h.out.write(Beat<512>());  // fills the output for good
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
  std::vector<Packet> expected;
  for (unsigned i = 0; i < 60; i++) {
    RoceFrame f = write(unsigned(h.bench.random()() % 300));
    f.fill = uint8_t(i);
    Packet packet{f.bytes(), false};
    Bytes frame = packet.bytes;
    switch (h.bench.random()() % 4) {
      case 0:
        frame.resize(frame.size() + 1 + h.bench.random()() % 200, 0xee);
        break;
      case 1:
        frame.resize(42 + h.bench.random()() % (frame.size() - 42));
        packet = Packet{frame, true};
        break;
      case 2:
        frame[38] ^= 1;
        frame.resize(frame.size() + h.bench.random()() % 100);
        packet = Packet{Bytes(frame.begin(), frame.begin() + long(std::min<size_t>(W / 8, frame.size()))), true};
        break;
      default:
        break;
    }
    expected.push_back(packet);
    for (const auto& b : test::to_beats<W>(frame, i)) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats, 70);
  test::Sink<Beat<W>> sink(h.bench, h.out, 60);
  h.run(4000);
  EXPECT_EQ(packets_of<W>(sink.tokens), expected) << "seed " << seed;
}

TEST(RxL3Length, UnderRandomStalls) {
  for (uint64_t seed = 1; seed <= 30; seed++) {
    run_under_stalls<512>(seed);
    run_under_stalls<1024>(seed);
  }
}

}  // namespace
