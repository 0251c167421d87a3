#include "hw/tx/frame.hpp"
#include "packet.hpp"

namespace {

using hw::Beat;
using hw::TxFrame;
using test::Bytes;
using test::Packet;

TxFrame token_of(const Packet& p, uint32_t tag) {
  TxFrame f;
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
  hls::stream<TxFrame> frames;
  hls::stream<Beat<W>> payload, out;
  hw::tx::Frame<W> stage;
  std::vector<Beat<W>> tokens;
  std::vector<hw::Cycles> cycles;

  Harness(const std::vector<Packet>& packets, unsigned percent, uint64_t seed = 1) : bench(seed) {
    std::vector<TxFrame> headers;
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
    test::Source<TxFrame> header_source(bench, frames, headers, percent);
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

TEST(TxFrame, EverySizeOfEveryKind) {
  std::mt19937_64 random(1);
  std::vector<Packet> packets;
  for (uint8_t opcode : {test::kMiddle, test::kOnly}) {
    for (size_t size = 0; size <= 4096; size += size < 300 || size > 4000 ? 1 : 61) {
      packets.push_back(Packet::random(random, opcode, size));
    }
    packets.push_back(Packet::random(random, test::kAck, 0));
  }
  check<512>(packets, 100);
  check<1024>(packets, 100);
}

TEST(TxFrame, RandomStallsOnEveryPort) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets;
    for (int i = 0; i < 60; i++) packets.push_back(test::any_packet(random));
    check<512>(packets, seed % 2 ? 60 : 30, seed);
    check<1024>(packets, seed % 2 ? 60 : 30, seed);
  }
}

// A beat leaves in every cycle, inside packets and between them, whatever their sizes.
TEST(TxFrame, NoBubbles) {
  std::mt19937_64 random(7);
  std::vector<Packet> packets;
  for (int i = 0; i < 100; i++) packets.push_back(test::any_packet(random));
  const Harness<512> run(packets, 100);
  size_t beats = 0;
  for (const Packet& p : packets) beats += (p.frame().size() + 63) / 64;
  ASSERT_EQ(run.cycles.size(), beats);
  for (size_t i = 0; i < beats; i++) EXPECT_EQ(run.cycles[i], i + 2);
}

TEST(TxFrame, HeaderAndFirstPayloadBeatMeetInOneCycle) {
  std::mt19937_64 random(1);
  const Harness<512> middle({Packet::random(random, test::kMiddle, 8)}, 100);
  EXPECT_EQ(middle.cycles, std::vector<hw::Cycles>{2});
  const Harness<512> only({Packet::random(random, test::kOnly, 64)}, 100);
  EXPECT_EQ(only.cycles, (std::vector<hw::Cycles>{2, 3, 4}));
}

}  // namespace
