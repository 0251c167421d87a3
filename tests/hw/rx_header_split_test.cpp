#include "hw/rx/header_split.hpp"
#include "packet.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using hw::RxHeader;
using test::Bytes;
using test::Packet;
using test::RoceFrame;

// What must come out for one frame.
struct Expected {
  Bytes headers;
  Bytes payload;
  bool claims_payload = true;  // RxHeader.payload is what the frame has
};

// The frame as far as its headers go by its opcode.
Bytes headers_of(const Bytes& frame) {
  const size_t all = 54 + (frame.size() > 42 ? test::extended_bytes(frame[42]) : 0);
  return Bytes(frame.begin(), frame.begin() + long(std::min(all, frame.size())));
}

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, payload;
  hls::stream<RxHeader> headers;
  hw::rx::HeaderSplit<W> stage;

  explicit Harness(uint64_t seed = 1, unsigned capacity = 4) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(headers, "headers", capacity);
    test::configure(payload, "payload", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, headers, payload); });
  }
};

template <unsigned W>
std::vector<Beat<W>> beats_of(const std::vector<Bytes>& frames) {
  std::vector<Beat<W>> beats;
  for (size_t i = 0; i < frames.size(); i++) {
    for (const Beat<W>& b : test::to_beats<W>(frames[i], uint32_t(i))) beats.push_back(b);
  }
  return beats;
}

template <unsigned W>
void check(const std::vector<Bytes>& frames, const std::vector<Expected>& expected, unsigned percent, uint64_t seed) {
  Harness<W> h(seed, percent == 100 ? 2 : 1 + seed % 4);
  const std::vector<Beat<W>> beats = beats_of<W>(frames);
  test::Source<Beat<W>> source(h.bench, h.in, beats, percent);
  test::Sink<RxHeader> headers(h.bench, h.headers, percent);
  test::Sink<Beat<W>> payload(h.bench, h.payload, percent);
  h.run(1000 + 1000 * (beats.size() + frames.size()) / (percent * percent / 10));
  ASSERT_TRUE(source.done() && h.in.fill() == 0);
  ASSERT_EQ(headers.tokens.size(), frames.size());
  const std::vector<Bytes> payloads = test::to_packets<W>(payload.tokens);
  std::vector<hw::Cycles> first_beat;
  std::vector<uint32_t> tags;
  for (size_t i = 0; i < payload.tokens.size(); i++) {
    if (i > 0 && !bool(payload.tokens[i - 1].last)) continue;
    first_beat.push_back(payload.cycles[i]);
    tags.push_back(payload.tokens[i].tag.id);
  }
  size_t next = 0;
  for (size_t i = 0; i < frames.size(); i++) {
    const RxHeader& token = headers.tokens[i];
    EXPECT_EQ(memcmp(token.bytes.w, expected[i].headers.data(), expected[i].headers.size()), 0) << "frame " << i;
    EXPECT_EQ(token.tag.id, i);
    EXPECT_EQ(token.drop.u64(), hw::kKeep);
    ASSERT_EQ(bool(token.body), !expected[i].payload.empty()) << "frame " << i;
    if (expected[i].claims_payload) {
      EXPECT_EQ(token.payload.u64(), expected[i].payload.size()) << "frame " << i;
    }
    if (!bool(token.body)) continue;
    ASSERT_LT(next, payloads.size());
    EXPECT_EQ(payloads[next], expected[i].payload) << "frame " << i << " of " << frames[i].size() << " bytes";
    EXPECT_EQ(tags[next], i);
    if (percent == 100) {
      EXPECT_LE(headers.cycles[i], first_beat[next]) << "header behind its payload";
    }
    next++;
  }
  EXPECT_EQ(next, payloads.size());
}

template <unsigned W>
void check_packets(const std::vector<Packet>& packets, unsigned percent, uint64_t seed) {
  std::vector<Bytes> frames;
  std::vector<Expected> expected;
  for (const Packet& p : packets) {
    frames.push_back(p.frame_and_trailer());
    expected.push_back(Expected{headers_of(frames.back()), p.payload});
  }
  check<W>(frames, expected, percent, seed);
}

template <class T>
class RxHeaderSplit : public ::testing::Test {};
TYPED_TEST_SUITE(RxHeaderSplit, test::Widths, test::WidthNames);

TYPED_TEST(RxHeaderSplit, EverySizeOfEveryKind) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  std::vector<Packet> packets;
  for (uint8_t opcode : {0x00, 0x03, 0x06, 0x07, 0x0b, 0x0d}) {
    for (size_t size = 0; size <= 4096; size += size < 300 || size > 4000 ? 1 : 61) {
      packets.push_back(Packet::random(random, opcode, size));
    }
    packets.push_back(Packet::random(random, test::kAck, 0));
  }
  check_packets<W>(packets, 100, 1);
}

TYPED_TEST(RxHeaderSplit, RandomStallsOnEveryPort) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets;
    for (int i = 0; i < 60; i++) packets.push_back(test::any_packet(random));
    const unsigned percent = seed % 2 ? 60 : 30;
    check_packets<W>(packets, percent, seed);
  }
}

// A frame and its headers may disagree; then `body` says what the beats show and the next packet is not harmed.
Expected judge(const Bytes& f) {
  Expected e{headers_of(f), {}, true};
  if (f.size() <= 54 || f.size() <= 54 + test::extended_bytes(f[42])) return e;
  const size_t start = e.headers.size();
  const long total = f[16] << 8 | f[17];
  const long claimed = (total - long(start) + 14 - 4 - (f[43] >> 4 & 3)) & 0x1fff;
  if (claimed == 0) return e;
  const size_t present = std::min<size_t>(size_t(claimed), f.size() - start);
  e.payload.assign(f.begin() + long(start), f.begin() + long(start + present));
  e.claims_payload = present == size_t(claimed);
  return e;
}

TYPED_TEST(RxHeaderSplit, FramesThatLieAboutTheirLength) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Bytes> frames;
    std::vector<Expected> expected;
    for (int i = 0; i < 100; i++) {
      Packet p = test::any_packet(random);
      if (random() % 3 == 0) p.opcode = uint8_t(random() % 32);
      Bytes f = p.frame_and_trailer();
      const size_t sizes[] = {1 + random() % 200, 1 + random() % 5000, f.size()};
      f.resize(sizes[random() % 3], 0x77);
      const uint64_t totals[] = {random() % 200, random() % 65536, 44 + 4096 + random() % 24, f.size() - 14};
      if (f.size() >= 18) RoceFrame::put(f, 16, 2, totals[random() % 4]);
      if (f.size() >= 44) f[43] = uint8_t(random());
      frames.push_back(f);
      expected.push_back(judge(f));
    }
    check<W>(frames, expected, seed % 2 ? 100 : 50, seed);
  }
}

// Beats are taken in every cycle, across packets too. A header leaves with the beat in which its payload begins, each
// beat of the payload with the beat behind that one, the last one with the first beat of the next packet if need be.
TYPED_TEST(RxHeaderSplit, OneBeatACycleAcrossPackets) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h(1, 2);
  std::vector<Bytes> frames;
  std::vector<hw::Cycles> header_cycles, payload_cycles;
  hw::Cycles begin = 2;  // one cycle in each stream
  for (int i = 0; i < 200; i++) {
    const Packet p = test::any_packet(h.bench.random());
    frames.push_back(p.frame_and_trailer());
    header_cycles.push_back(begin + p.header_bytes() * 8 / W);
    for (size_t k = 0; k < test::beats_of<W>(p.payload.size()); k++)
      payload_cycles.push_back(header_cycles.back() + 1 + k);
    begin += test::beats_of<W>(frames.back().size());
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats_of<W>(frames));
  test::Sink<RxHeader> headers(h.bench, h.headers);
  test::Sink<Beat<W>> payload(h.bench, h.payload);
  h.run(begin + 2);
  EXPECT_EQ(headers.cycles, header_cycles);
  EXPECT_EQ(payload.cycles, payload_cycles);
}

}  // namespace
