// DMA reads of the host: latency, rate, tags, credits, order.
#include "tests/models/pcie_bench.hpp"

using hw::DmaCommand;
using models::PcieParams;
using test::command;
using test::ReadRun;
using test::slot;

namespace {

TEST(PcieRead, LatencyOfOneRead) {
  PcieParams p;
  for (const test::Calling& calling : test::kCallings) {
    ReadRun<512> r(p, calling, {command(0x1000, 64, 5)});
    r.run(200);
    ASSERT_EQ(r.sink.tokens.size(), 1u);
    // Taken in cycle 1 (4 ns), the request of 24 bytes takes 24 * 8 / 227.4 = 0.844 ns, data 480 ns later, its
    // completion of 84 bytes 2.955 ns, so the first edge is that of 488 ns, and the stream adds a cycle.
    EXPECT_EQ(r.sink.cycles[0], 488u / 4 + 1);
    EXPECT_EQ(r.sink.tokens[0].tag.id, 5u);
    EXPECT_EQ(r.read.held(), 0u);
  }
}

// The place of a request is known a cycle later, and its data cannot have begun to come before: a host without latency,
// and a clock that is slower than the host.
TEST(PcieRead, LatenciesBelowAPeriod) {
  PcieParams instant, usual;
  instant.read_latency = instant.write_latency = 0;
  const struct {
    PcieParams params;
    hw::Clock clock;
  } cases[] = {{instant, test::kClock}, {usual, hw::Clock(1000000)}, {instant, hw::Clock(1000000)}};
  for (const auto& c : cases)
    for (const test::Calling& calling : test::kCallings) {
      ReadRun<512> r(c.params, calling, {command(0x1000, 64, 5)}, 100, c.clock);
      r.run(20);
      ASSERT_EQ(r.sink.tokens.size(), 1u);
      // Taken in cycle 1, placed in cycle 2, its completion is there within that cycle, and the stream adds one.
      EXPECT_EQ(r.sink.cycles[0], 4u);
    }
}

// Back-to-back reads run at the rate of the formula, at any size and generation.
TEST(PcieRead, RateIsTheFormula) {
  for (unsigned generation : {3u, 4u})
    for (uint64_t bytes : {64u, 100u, 256u, 512u, 1000u, 4096u}) {
      PcieParams p = slot(generation, 8);
      p.max_read_request = 4096;
      p.outstanding_reads = 256;
      ReadRun<512> r(p, {false, false}, test::commands_of(bytes, 400));
      r.run(120000);
      const std::vector<hw::Cycles> ends = r.read_ends();
      ASSERT_EQ(ends.size(), 400u);
      const double gbps = double(bytes) * 8 * 299 / (double(ends[399] - ends[100]) * 4);
      // A bus of 64 bytes at 250 MHz carries a command in whole beats, and a request leaves every cycle at most.
      const double bus = double(bytes) * 8 / (double(models::pieces(bytes, 64)) * 4);
      EXPECT_NEAR(gbps, std::min(models::read_gbps(p, bytes), bus), gbps * 0.01) << generation << " " << bytes;
    }
}

// Little's law: with few tags the rate is tags * MRRS / round trip.
TEST(PcieRead, TagsBoundTheRate) {
  PcieParams p;
  p.outstanding_reads = 4;
  ReadRun<512> r(p, {false, false}, test::commands_of(4096, 100));
  r.run(60000);
  ASSERT_EQ(r.sink.tokens.size(), 6400u);
  const double ns = double(r.sink.cycles.back() - r.sink.cycles[640]) * 4;
  const double bytes = 90.0 * 4096, trip = 480 + 20;  // the answer of a request takes 18.7 ns
  EXPECT_NEAR(bytes / ns, 4 * 512 / trip, 0.1 * 4 * 512 / trip);
}

// The same with few credits: they come back `credit_latency` after the request has crossed the link.
TEST(PcieRead, CreditsBoundTheRate) {
  for (unsigned n : {1u, 3u}) {
    PcieParams p;
    p.nonposted_headers = n;
    ReadRun<512> r(p, {false, false}, test::commands_of(512, 100));
    r.run(60000);
    const std::vector<hw::Cycles> ends = r.read_ends();
    ASSERT_EQ(ends.size(), 100u);
    const double trip = 200 + 24 * 8 / models::tlp_gbps(p) + 2;  // and half a cycle until the next edge
    const unsigned trips = 90 / n;
    EXPECT_NEAR(double(ends[90] - ends[0]) * 4, trips * trip, 0.03 * trips * trip);
  }
}

// The n-th of a train of reads that miss the cache comes `dram` later.
TEST(PcieRead, MemoryAddsItsLatency) {
  const auto cycles = [](unsigned llc_percent, unsigned remote_ns) {
    PcieParams p;
    p.memory.llc_percent = llc_percent;
    p.memory.remote = remote_ns * 1000;
    ReadRun<512> r(p, {false, false}, {command(0, 64)}, 100, hw::Clock(1000000000));
    r.run(2000);
    return r.sink.cycles.at(0);
  };
  EXPECT_EQ(cycles(0, 0) - cycles(100, 0), 55u);
  EXPECT_EQ(cycles(100, 110) - cycles(100, 0), 110u);
  EXPECT_EQ(cycles(0, 110) - cycles(100, 0), 165u);
}

TEST(PcieRead, ShareOfTheCacheIsAShare) {
  PcieParams p;
  p.memory.llc_percent = 70;
  models::MemoryLatency latency(p.memory, 5);
  unsigned dram = 0;
  for (int i = 0; i < 100000; i++) dram += latency.next() == 55000;
  EXPECT_NEAR(dram, 30000, 600);
}

// Completions that overtake each other are put back in order: nothing is lost, and a late one holds up those behind it.
TEST(PcieRead, ReorderedCompletionsComeInOrder) {
  PcieParams p;
  const std::vector<DmaCommand> list = test::commands_of(512, 200);
  ReadRun<512> straight(p, {false, false}, list);
  straight.run(20000);
  p.memory.reorder = 300000;
  ReadRun<512> shuffled(p, {false, false}, list);
  shuffled.run(20000);
  ASSERT_EQ(straight.sink.tokens.size(), 1600u);
  ASSERT_EQ(shuffled.sink.tokens.size(), 1600u);
  for (size_t i = 0; i < 1600; i++) EXPECT_EQ(shuffled.sink.tokens[i].tag.id, i / 8);
  EXPECT_GE(shuffled.sink.cycles.back(), straight.sink.cycles.back());
  EXPECT_LE(shuffled.sink.cycles[7], straight.sink.cycles[7] + 75);
}

// Without limits; as it is; with every random delay and few tags and credits; moved as a whole; without latency.
std::vector<PcieParams> kinds() {
  std::vector<PcieParams> all(5);
  all[0].unlimited = true;
  all[0].read_latency = all[0].write_latency = 0;
  all[2].memory.llc_percent = 50;
  all[2].memory.reorder = 400000;
  all[2].outstanding_reads = 6;
  all[2].nonposted_headers = 2;
  all[3].device_gbps = 57;
  all[3].device_read_latency = 70000;
  all[3].memory.reorder = 50000;
  all[4].read_latency = all[4].write_latency = all[4].credit_latency = 0;
  return all;
}

template <unsigned W>
void read_returns_memory() {
  const std::vector<uint8_t> all = test::pattern(1 << 16, 3);
  for (const PcieParams& p : kinds()) {
    std::vector<DmaCommand> list;
    std::mt19937_64 random(7);
    for (uint32_t i = 0; i < 60; i++) list.push_back(command(0x5000 + random() % 60000, 1 + random() % 4096, i));
    std::vector<hw::Cycles> first;
    for (const test::Calling& calling : test::kCallings) {
      ReadRun<W> r(p, calling, list, 70);
      r.memory.write(0x5000, all.data(), all.size());
      r.run(60 * 4096 * 8 / W * 3 + 30000);
      const auto packets = test::to_packets<W>(r.sink.tokens);
      ASSERT_EQ(packets.size(), list.size());
      for (size_t i = 0; i < list.size(); i++) {
        const auto begin = all.begin() + long(list[i].address.u64() - 0x5000);
        ASSERT_EQ(packets[i], std::vector<uint8_t>(begin, begin + long(list[i].bytes.u64()))) << i;
      }
      if (first.empty()) first = r.sink.cycles;
      EXPECT_EQ(r.sink.cycles, first) << "every cycle " << calling.every_cycle;
      EXPECT_EQ(r.read.held(), 0u);
    }
  }
}
TEST(PcieRead, ReturnsMemoryInOrder64) {
  read_returns_memory<64>();
}
TEST(PcieRead, ReturnsMemoryInOrder512) {
  read_returns_memory<512>();
}
TEST(PcieRead, ReturnsMemoryInOrder1024) {
  read_returns_memory<1024>();
}

}  // namespace
