// DMA writes to the host: latency, rate, order, and how a slow host holds the NIC up.
#include "tests/models/pcie_bench.hpp"

using hw::DmaCommand;
using models::PcieParams;
using test::command;
using test::slot;
using test::WriteRun;

namespace {

TEST(PcieWrite, LatencyOfOneWrite) {
  for (const test::Calling& calling : test::kCallings) {
    WriteRun<512> r(PcieParams(), calling, {command(0x1000, 64)});
    r.run(57);
    // Taken in cycle 1 (4 ns), 88 bytes on the link take 3.1 ns, visible 220 ns later: the edge of 228 ns.
    ASSERT_EQ(r.visible, std::vector<hw::Picoseconds>{228000});
    EXPECT_EQ(r.bench.now(), 57u);
    hw::world().now = 56;
    EXPECT_EQ(r.memory.read_byte(0x1000), 0);
    hw::world().now = 57;
    EXPECT_EQ(r.memory.read_byte(0x1000), test::pattern(64, 0)[0]);
  }
}

// The last beat of 256 bytes comes in cycle 4 (16 ns), 280 bytes on the link take 9.9 ns, the host 256, and 220 more.
TEST(PcieWrite, LatencyOfOneWriteToASlowHost) {
  PcieParams p;
  p.host_write_gbps = 8;
  for (const test::Calling& calling : test::kCallings) {
    WriteRun<512> r(p, calling, {command(0x1000, 256)});
    r.run(200);
    EXPECT_EQ(r.visible, std::vector<hw::Picoseconds>{504000});
  }
}

TEST(PcieWrite, UnlimitedTakesABeatACycle) {
  PcieParams p;
  p.unlimited = true;
  p.write_latency = 0;
  for (uint64_t bytes : {64u, 256u, 4096u})
    for (const test::Calling& calling : test::kCallings) {
      const std::vector<DmaCommand> list = test::commands_of(bytes, 4096 * 4 / unsigned(bytes));
      const size_t beats = 4096 * 4 / 64;
      WriteRun<512> r(p, calling, list);
      r.run(beats + 2);
      ASSERT_EQ(r.visible.size(), list.size());
      EXPECT_EQ(r.visible.back(), 4000 * (beats + 1));
    }
}

TEST(PcieWrite, RateIsTheFormula) {
  for (unsigned generation : {3u, 4u})
    for (uint64_t bytes : {64u, 100u, 256u, 1000u, 4096u}) {
      const PcieParams p = slot(generation, 8);
      WriteRun<512> r(p, {false, false}, test::commands_of(bytes, 400));
      r.run(120000);
      ASSERT_EQ(r.visible.size(), 400u);
      const double gbps = double(bytes) * 8 * 299 / (double(r.visible[399] - r.visible[100]) / 1000);
      const double bus = double(bytes) * 8 / (double(models::pieces(bytes, 64)) * 4);
      EXPECT_NEAR(gbps, std::min(models::write_gbps(p, bytes), bus), gbps * 0.01) << generation << " " << bytes;
    }
}

// What the NIC has delivered and the link has not begun to carry is bounded, whatever bounds the rate.
template <class Change>
double gbps_and_backlog(Change change, size_t* most_waiting) {
  PcieParams p;
  change(p);
  WriteRun<512> r(p, {false, false}, test::commands_of(1024, 1000));
  *most_waiting = 0;
  while (r.visible.size() < 600) {
    r.run(1);
    *most_waiting = std::max<size_t>(*most_waiting, r.write_data.fill());
  }
  return 1024.0 * 8 * 499 / (double(r.visible[599] - r.visible[100]) / 1000);
}

// A host that takes 40 Gb/s: that is the rate, and the stream from the NIC fills to the brim.
TEST(PcieWrite, ASlowHostBacksUpIntoTheNic) {
  size_t waiting = 0;
  const double slow = gbps_and_backlog([](PcieParams& p) { p.host_write_gbps = 40; }, &waiting);
  EXPECT_NEAR(slow, 40, 0.4);
  EXPECT_EQ(waiting, 64u);
  const double fast = gbps_and_backlog([](PcieParams&) {}, &waiting);
  EXPECT_NEAR(fast, 128, 0.4) << "the bus";
  EXPECT_LE(waiting, 2u);
}

// Little's law: `n` TLPs of MPS in the time until a credit is back, whichever credit is short.
TEST(PcieWrite, CreditsBoundTheRate) {
  const double round_trip = 200 + 280 * 8 / models::tlp_gbps(PcieParams());
  for (unsigned n : {1u, 2u, 4u, 8u}) {
    size_t waiting = 0;
    const double expected = n * 256 * 8 / round_trip;
    EXPECT_NEAR(gbps_and_backlog([n](PcieParams& p) { p.posted_headers = n; }, &waiting), expected, expected * 0.01);
    EXPECT_EQ(waiting, 64u);
    EXPECT_NEAR(gbps_and_backlog([n](PcieParams& p) { p.posted_data = n * 16; }, &waiting), expected, expected * 0.01);
    EXPECT_EQ(waiting, 64u);
  }
}

template <unsigned W>
void write_fills_memory(const PcieParams& p) {
  std::vector<DmaCommand> list;
  std::vector<uint8_t> flat(1 << 16, 0);
  std::mt19937_64 random(9);
  for (uint32_t i = 0; i < 60; i++) {
    const size_t at = random() % 60000, n = 1 + random() % 4096;
    const std::vector<uint8_t> data = test::pattern(n, i);
    list.push_back(command(0x5000 + at, n, i));
    std::copy(data.begin(), data.end(), flat.begin() + long(at));
  }
  std::vector<hw::Picoseconds> first;
  for (const test::Calling& calling : test::kCallings) {
    WriteRun<W> r(p, calling, list, 70);
    r.run(60 * 4096 * 8 / W * 3 + 40000);
    std::vector<uint8_t> got(flat.size());
    r.memory.settle_all();
    r.memory.read(0x5000, got.data(), got.size());
    EXPECT_EQ(got, flat);
    EXPECT_EQ(r.visible.size(), list.size());
    if (first.empty()) first = r.visible;
    EXPECT_EQ(r.visible, first) << "every cycle " << calling.every_cycle;
    EXPECT_EQ(r.write.held(), 0u);
  }
}
template <unsigned W>
void write_fills_memory() {
  write_fills_memory<W>(slot(3, 8));
  PcieParams scarce = slot(4, 16);
  scarce.posted_headers = 3;
  scarce.posted_data = 20;
  scarce.host_write_gbps = 30;
  scarce.posted_bytes = 64;
  write_fills_memory<W>(scarce);
}
TEST(PcieWrite, FillsMemoryInOrder64) {
  write_fills_memory<64>();
}
TEST(PcieWrite, FillsMemoryInOrder512) {
  write_fills_memory<512>();
}
TEST(PcieWrite, FillsMemoryInOrder1024) {
  write_fills_memory<1024>();
}

TEST(PcieWriteDeathTest, DataMustMatchItsCommand) {
  const auto deliver = [](uint64_t asked) {
    test::DmaBench<512> r(PcieParams(), {true, false}, {{}, {command(0, asked)}, 100, {command(0, 64)}});
    r.run(5);
  };
  EXPECT_DEATH(deliver(63), "more data than the command asks for");
  EXPECT_DEATH(deliver(65), "less data than the command asks for");
}

}  // namespace
