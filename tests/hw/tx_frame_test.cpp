#include "hw/tx/frame.hpp"
#include "packet.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::Packet;

hw::TxFrame token_of(const Packet& p, uint32_t tag) {
  hw::TxFrame f;
  const Bytes frame = p.frame();
  memcpy(f.bytes.w, frame.data(), p.header_bytes());
  f.header = hw::Bits<7>(p.header_bytes());
  f.payload = hw::PacketBytes(p.payload.size());
  f.body = hw::Bits<1>(!p.payload.empty());
  f.tag.id = tag;
  return f;
}

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<hw::TxFrame> frames;
  hls::stream<Beat<W>> payload, out;
  hw::tx::Frame<W> stage;
  std::vector<Beat<W>> tokens;
  std::vector<hw::Cycles> cycles;

  Harness(const std::vector<Packet>& packets, unsigned percent, uint64_t seed = 1) : bench(seed) {
    std::vector<hw::TxFrame> headers;
    std::vector<Beat<W>> beats;
    size_t bytes = 0;
    for (const Packet& p : packets) {
      headers.push_back(token_of(p, uint32_t(headers.size())));
      for (const Beat<W>& b : test::to_beats<W>(p.payload)) beats.push_back(b);
      bytes += p.payload.size() + 80;
    }
    test::configure(frames, "frames", 2);
    test::configure(payload, "payload", 2);
    test::configure(out, "out", 2);
    test::Source<hw::TxFrame> header_source(bench, frames, headers, percent);
    test::Source<Beat<W>> payload_source(bench, payload, beats, percent);
    test::Sink<Beat<W>> sink(bench, out, percent);
    const hw::Cycles limit = 10 + (bytes / (W / 8) + packets.size()) * 1000 / (percent * percent / 10);
    bench.run(limit, [this] { stage.step(frames, payload, out); });
    EXPECT_TRUE(header_source.done() && payload_source.done() && frames.fill() == 0 && payload.fill() == 0);
    tokens = sink.tokens;
    cycles = sink.cycles;
  }
};

template <unsigned W>
void check(const std::vector<Packet>& packets, unsigned percent, uint64_t seed = 1) {
  const Harness<W> run(packets, percent, seed);
  const std::vector<Bytes> frames = test::to_packets<W>(run.tokens);
  ASSERT_EQ(frames.size(), packets.size());
  for (size_t i = 0; i < frames.size(); i++) EXPECT_EQ(frames[i], packets[i].frame()) << "packet " << i;
  size_t packet = 0;
  for (const Beat<W>& b : run.tokens) {
    EXPECT_EQ(b.tag.id, packet);
    packet += bool(b.last);
  }
}

template <class T>
class TxFrame : public ::testing::Test {};
TYPED_TEST_SUITE(TxFrame, test::Widths, test::WidthNames);

TYPED_TEST(TxFrame, EverySizeOfEveryKind) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  std::vector<Packet> packets;
  for (uint8_t opcode : {0x05, 0x07, 0x0a, 0x0b}) {
    for (size_t size = 0; size <= 4096; size += size < 300 || size > 4000 ? 1 : 61) {
      packets.push_back(Packet::random(random, opcode, size));
    }
    packets.push_back(Packet::random(random, test::kAck, 0));
  }
  check<W>(packets, 100);
}

TYPED_TEST(TxFrame, RandomStallsOnEveryPort) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets;
    for (int i = 0; i < 60; i++) packets.push_back(test::any_packet(random));
    check<W>(packets, seed % 2 ? 60 : 30, seed);
  }
}

// A beat leaves in every cycle, inside packets and between them, whatever their sizes.
TYPED_TEST(TxFrame, NoBubbles) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(7);
  std::vector<Packet> packets;
  for (int i = 0; i < 100; i++) packets.push_back(test::any_packet(random));
  const Harness<W> run(packets, 100);
  size_t beats = 0;
  for (const Packet& p : packets) beats += test::beats_of<W>(p.frame().size());
  ASSERT_EQ(run.cycles.size(), beats);
  for (size_t i = 0; i < beats; i++) EXPECT_EQ(run.cycles[i], i + 2);
}

}  // namespace
