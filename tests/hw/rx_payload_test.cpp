#include "hw/rx/payload.hpp"
#include "packet.hpp"

namespace {

using hw::DmaCommand;
using hw::Placement;
using test::Bytes;
typedef hw::Beat<512> Beat;

struct Harness {
  test::Bench bench;
  hls::stream<Beat> payload, data;
  hls::stream<Placement> placements;
  hls::stream<DmaCommand> command;
  hw::rx::Payload<512> stage;

  explicit Harness(uint64_t seed = 1) : bench(seed) {
    test::configure(payload, "payload", 4);
    test::configure(placements, "placements", 4);
    test::configure(command, "command", 2);
    test::configure(data, "data", 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(payload, placements, command, data); });
  }
};

Placement placement(bool keep, size_t bytes, uint64_t address = 0) {
  Placement p;
  p.keep = hw::Bits<1>(keep);
  p.body = hw::Bits<1>(bytes != 0);
  p.bytes = hw::PacketBytes(bytes);
  p.address = hw::Bits<64>(address);
  return p;
}

void append(std::vector<Beat>& beats, const Bytes& bytes) {
  for (const Beat& b : test::to_beats<512>(bytes)) beats.push_back(b);
}

TEST(RxPayload, KeptPacketsReachTheHostAndOthersVanish) {
  for (unsigned percent : {100u, 70u, 30u}) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
      Harness h(seed);
      std::vector<Beat> beats;
      std::vector<Placement> placements;
      std::vector<Bytes> kept;
      std::vector<uint64_t> addresses;
      unsigned placed = 0;
      for (uint32_t i = 0; i < 100; i++) {
        const bool keep = h.bench.chance(60);
        Bytes bytes(h.bench.chance(20) ? 0 : 1 + h.bench.random()() % 300);
        for (uint8_t& b : bytes) b = uint8_t(h.bench.random()());
        placements.push_back(placement(keep, bytes.size(), h.bench.random()()));
        placements.back().tag.id = i;
        append(beats, bytes);
        placed += keep;
        if (keep && !bytes.empty()) {
          kept.push_back(bytes);
          addresses.push_back(placements.back().address.u64());
        }
      }
      test::Source<Beat> payload(h.bench, h.payload, beats, percent);
      test::Source<Placement> verdicts(h.bench, h.placements, placements, percent);
      test::Sink<DmaCommand> commands(h.bench, h.command, percent);
      test::Sink<Beat> data(h.bench, h.data, percent);
      h.run(6000);
      EXPECT_TRUE(payload.done() && verdicts.done() && h.payload.fill() == 0);
      EXPECT_EQ(test::to_packets<512>(data.tokens), kept);
      ASSERT_EQ(commands.tokens.size(), kept.size());
      for (size_t i = 0; i < kept.size(); i++) {
        EXPECT_EQ(commands.tokens[i].address.u64(), addresses[i]);
        EXPECT_EQ(commands.tokens[i].bytes.u64(), kept[i].size());
      }
      EXPECT_EQ(h.stage.placed_packets.v.u64(), placed);
      EXPECT_EQ(h.stage.dropped_packets.v.u64(), placements.size() - placed);
    }
  }
}

TEST(RxPayload, OneBeatACycleAcrossPacketsCommandWithTheFirstBeat) {
  Harness h;
  std::vector<Beat> beats;
  std::vector<Placement> placements;
  for (int i = 0; i < 20; i++) {
    append(beats, Bytes(130, uint8_t(i)));
    placements.push_back(placement(true, 130));
  }
  test::Source<Beat> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements, placements);
  test::Sink<DmaCommand> commands(h.bench, h.command);
  test::Sink<Beat> data(h.bench, h.data);
  h.run(62);
  ASSERT_EQ(data.cycles.size(), 60u);
  for (size_t i = 0; i < 60; i++) EXPECT_EQ(data.cycles[i], i + 2);
  ASSERT_EQ(commands.cycles.size(), 20u);
  for (size_t i = 0; i < 20; i++) EXPECT_EQ(commands.cycles[i], data.cycles[3 * i]);
}

TEST(RxPayload, TheFirstBeatWaitsForTheCommand) {
  Harness h;
  std::vector<Beat> beats;
  for (int i = 0; i < 3; i++) append(beats, Bytes(64, 1));
  test::Source<Beat> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements,
                                   {placement(true, 64), placement(true, 64), placement(true, 64)});
  test::Sink<Beat> data(h.bench, h.data);
  h.run(20);
  EXPECT_EQ(data.tokens.size(), 2u) << "two commands fit";
  test::Sink<DmaCommand> commands(h.bench, h.command);
  h.run(20);
  EXPECT_EQ(data.tokens.size(), 3u);
}

TEST(RxPayload, ADroppedPacketNeedsNoRoom) {
  Harness h;
  std::vector<Beat> beats;
  for (int i = 0; i < 10; i++) append(beats, Bytes(200, 1));
  std::vector<Placement> placements(10, placement(false, 200));
  test::Source<Beat> payload(h.bench, h.payload, beats);
  test::Source<Placement> verdicts(h.bench, h.placements, placements);
  for (int i = 0; i < 2; i++) {
    h.command.write(DmaCommand());
    h.data.write(Beat());
    h.bench.run(1, [] {});
  }
  ASSERT_TRUE(h.command.full() && h.data.full());
  h.run(60);
  EXPECT_EQ(h.stage.dropped_packets.v.u64(), 10u);
  EXPECT_EQ(h.payload.fill(), 0u);
}

}  // namespace
