#include "hw/rx/payload.hpp"
#include "packet.hpp"
#include "token_text.hpp"

namespace {

using hw::DmaCommand;
using hw::Placement;
using hw::ReceiveCompletion;
using hw::RxAck;
using test::Bytes;

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<hw::Beat<W>> payload, data;
  hls::stream<Placement> placements;
  hls::stream<DmaCommand> command;
  hls::stream<ReceiveCompletion> completions;
  hls::stream<RxAck> acks;
  hw::rx::Payload<W> stage;

  explicit Harness(uint64_t seed = 1) : bench(seed) {
    test::configure(payload, "payload", 4);
    test::configure(placements, "placements", 4);
    test::configure(command, "command", 2);
    test::configure(data, "data", 2);
    test::configure(completions, "completions", 2);
    test::configure(acks, "acks", 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(payload, placements, command, data, completions, acks); });
  }
};

// What is told of a packet has the number of the packet in it.
Placement placement(bool keep, size_t bytes, uint64_t address = 0, bool completes = false, bool acknowledges = false,
                    uint32_t number = 0) {
  Placement p;
  p.keep = hw::Bits<1>(keep);
  p.body = hw::Bits<1>(bytes != 0);
  p.bytes = hw::PacketBytes(bytes);
  p.address = hw::Bits<64>(address);
  p.completes = hw::Bits<1>(completes);
  p.completion.index = hw::Bits<16>(number);
  p.completion.bytes = hw::Bits<32>(bytes);
  p.acknowledges = hw::Bits<1>(acknowledges);
  p.ack.psn = hw::Psn(number);
  p.tag.id = number;
  return p;
}

template <unsigned W>
void append(std::vector<hw::Beat<W>>& beats, const Bytes& bytes) {
  for (const hw::Beat<W>& b : test::to_beats<W>(bytes)) beats.push_back(b);
}

template <class T>
class RxPayload : public testing::Test {
 protected:
  static constexpr unsigned kWidth = T::value;
  static constexpr size_t kBytes = kWidth / 8;
  typedef hw::Beat<kWidth> Beat;
};
template <unsigned W>
using Width = std::integral_constant<unsigned, W>;
using Widths = testing::Types<Width<64>, Width<128>, Width<256>, Width<512>, Width<1024>>;
TYPED_TEST_SUITE(RxPayload, Widths);

TYPED_TEST(RxPayload, KeptPacketsReachTheHostAndOthersVanishAndEachIsTold) {
  constexpr unsigned W = TestFixture::kWidth;
  for (unsigned percent : {100u, 70u, 30u}) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
      Harness<W> h(seed);
      std::vector<hw::Beat<W>> beats;
      std::vector<Placement> placements;
      std::vector<Bytes> kept;
      std::vector<uint64_t> addresses;
      std::vector<uint64_t> completed, acknowledged;
      unsigned placed = 0, dropped = 0;
      for (uint32_t i = 0; i < 100; i++) {
        const bool keep = h.bench.chance(60), completes = keep && h.bench.chance(50), acks = h.bench.chance(40);
        Bytes bytes(h.bench.chance(20) ? 0 : 1 + h.bench.random()() % 300);
        for (uint8_t& b : bytes) b = uint8_t(h.bench.random()());
        placements.push_back(placement(keep, bytes.size(), h.bench.random()(), completes, acks, i));
        append(beats, bytes);
        placed += keep;
        dropped += !keep && (!acks || !bytes.empty());
        if (completes) completed.push_back(i);
        if (acks) acknowledged.push_back(i);
        if (keep && !bytes.empty()) {
          kept.push_back(bytes);
          addresses.push_back(placements.back().address.u64());
        }
      }
      test::Source<hw::Beat<W>> payload(h.bench, h.payload, beats, percent);
      test::Source<Placement> verdicts(h.bench, h.placements, placements, percent);
      test::Sink<DmaCommand> commands(h.bench, h.command, percent);
      test::Sink<hw::Beat<W>> data(h.bench, h.data, percent);
      test::Sink<ReceiveCompletion> completions(h.bench, h.completions, percent);
      test::Sink<RxAck> acks(h.bench, h.acks, percent);
      h.run(hw::Cycles(8000 * 64 / (W < 512 ? W / 8 : 64)));
      EXPECT_TRUE(payload.done() && verdicts.done() && h.payload.fill() == 0);
      EXPECT_EQ(test::to_packets<W>(data.tokens), kept);
      ASSERT_EQ(commands.tokens.size(), kept.size());
      for (size_t i = 0; i < kept.size(); i++) {
        EXPECT_EQ(commands.tokens[i].address.u64(), addresses[i]);
        EXPECT_EQ(commands.tokens[i].bytes.u64(), kept[i].size());
      }
      ASSERT_EQ(completions.tokens.size(), completed.size());
      for (size_t i = 0; i < completed.size(); i++)
        EXPECT_EQ(test::text(completions.tokens[i]), test::text(placements[completed[i]].completion));
      ASSERT_EQ(acks.tokens.size(), acknowledged.size());
      for (size_t i = 0; i < acknowledged.size(); i++)
        EXPECT_EQ(test::text(acks.tokens[i]), test::text(placements[acknowledged[i]].ack));
      EXPECT_EQ(h.stage.placed_packets.v.u64(), placed);
      EXPECT_EQ(h.stage.dropped_packets.v.u64(), dropped);
    }
  }
}

TYPED_TEST(RxPayload, OneBeatACycleAcrossPacketsCommandWithTheFirstBeatTheRestWithTheLast) {
  constexpr unsigned W = TestFixture::kWidth;
  Harness<W> h;
  std::vector<hw::Beat<W>> beats;
  std::vector<Placement> placements;
  for (uint32_t i = 0; i < 20; i++) {
    append(beats, Bytes(2 * TestFixture::kBytes + 2, uint8_t(i)));
    placements.push_back(placement(true, 2 * TestFixture::kBytes + 2, 0, true, true, i));
  }
  test::Source<hw::Beat<W>> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements, placements);
  test::Sink<DmaCommand> commands(h.bench, h.command);
  test::Sink<hw::Beat<W>> data(h.bench, h.data);
  test::Sink<ReceiveCompletion> completions(h.bench, h.completions);
  test::Sink<RxAck> acks(h.bench, h.acks);
  h.run(62);
  ASSERT_EQ(data.cycles.size(), 60u);
  for (size_t i = 0; i < 60; i++) EXPECT_EQ(data.cycles[i], i + 2);
  ASSERT_EQ(commands.cycles.size(), 20u);
  ASSERT_EQ(completions.cycles.size(), 20u);
  ASSERT_EQ(acks.cycles.size(), 20u);
  for (size_t i = 0; i < 20; i++) {
    EXPECT_EQ(commands.cycles[i], data.cycles[3 * i]);
    EXPECT_EQ(completions.cycles[i], data.cycles[3 * i + 2]);
    EXPECT_EQ(acks.cycles[i], data.cycles[3 * i + 2]);
  }
}

TYPED_TEST(RxPayload, APacketWithoutPayloadACycle) {
  Harness<TestFixture::kWidth> h;
  std::vector<Placement> placements;
  for (uint32_t i = 0; i < 40; i++) placements.push_back(placement(i % 2 != 0, 0, 0, i % 2 != 0, i % 4 == 0, i));
  test::Source<Placement> verdicts(h.bench, h.placements, placements);
  test::Sink<ReceiveCompletion> completions(h.bench, h.completions);
  test::Sink<RxAck> acks(h.bench, h.acks);
  h.run(50);
  ASSERT_EQ(completions.tokens.size(), 20u);
  ASSERT_EQ(acks.tokens.size(), 10u);
  for (size_t i = 0; i < 20; i++) EXPECT_EQ(completions.cycles[i], 2 * i + 1 + 2);
  for (size_t i = 0; i < 10; i++) EXPECT_EQ(acks.cycles[i], 4 * i + 2);
  EXPECT_EQ(h.stage.placed_packets.v.u64(), 20u);
  EXPECT_EQ(h.stage.dropped_packets.v.u64(), 10u);  // acknowledgements are no drops
  EXPECT_TRUE(h.command.empty());
}

TYPED_TEST(RxPayload, TheFirstBeatWaitsForTheCommand) {
  constexpr unsigned W = TestFixture::kWidth;
  Harness<W> h;
  std::vector<hw::Beat<W>> beats;
  for (int i = 0; i < 3; i++) append(beats, Bytes(TestFixture::kBytes, 1));
  const Placement one = placement(true, TestFixture::kBytes);
  test::Source<hw::Beat<W>> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements, {one, one, one});
  test::Sink<hw::Beat<W>> data(h.bench, h.data);
  h.run(20);
  EXPECT_EQ(data.tokens.size(), 2u) << "two commands fit";
  test::Sink<DmaCommand> commands(h.bench, h.command);
  h.run(20);
  EXPECT_EQ(data.tokens.size(), 3u);
}

TYPED_TEST(RxPayload, NoPacketEndsBeforeItCanBeTold) {
  constexpr unsigned W = TestFixture::kWidth;
  for (const bool completes : {true, false}) {
    Harness<W> h;
    std::vector<hw::Beat<W>> beats;
    std::vector<Placement> placements;
    for (int i = 0; i < 4; i++) {
      append(beats, Bytes(TestFixture::kBytes, 1));
      placements.push_back(placement(true, TestFixture::kBytes, 0, completes, !completes));
    }
    test::Source<hw::Beat<W>> payload(h.bench, h.payload, beats);
    test::Source<Placement> verdicts(h.bench, h.placements, placements);
    test::Sink<DmaCommand> commands(h.bench, h.command);
    test::Sink<hw::Beat<W>> data(h.bench, h.data);
    h.run(20);
    EXPECT_EQ(data.tokens.size(), 2u) << "two fit";
    test::Sink<ReceiveCompletion> completions(h.bench, h.completions);
    test::Sink<RxAck> acks(h.bench, h.acks);
    h.run(20);
    EXPECT_EQ(data.tokens.size(), 4u);
    EXPECT_EQ(completions.tokens.size(), completes ? 4u : 0u);
    EXPECT_EQ(acks.tokens.size(), completes ? 0u : 4u);
  }
}

TYPED_TEST(RxPayload, ADroppedPacketNeedsNoRoom) {
  constexpr unsigned W = TestFixture::kWidth;
  Harness<W> h;
  std::vector<hw::Beat<W>> beats;
  for (int i = 0; i < 10; i++) append(beats, Bytes(200, 1));
  std::vector<Placement> placements(10, placement(false, 200));
  test::Source<hw::Beat<W>> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements, placements);
  for (int i = 0; i < 2; i++) {
    h.command.write(DmaCommand());
    h.data.write(hw::Beat<W>());
    h.completions.write(ReceiveCompletion());
    h.acks.write(RxAck());
    h.bench.run(1, [] {});
  }
  ASSERT_TRUE(h.command.full() && h.data.full() && h.completions.full() && h.acks.full());
  h.run(400);
  EXPECT_EQ(h.stage.dropped_packets.v.u64(), 10u);
  EXPECT_EQ(h.payload.fill(), 0u);
}

}  // namespace
