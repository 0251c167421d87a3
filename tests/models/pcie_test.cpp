// The formulas against the figures of docs/timing-model.md, and the DMA models against the formulas.
#include "models/pcie.hpp"

#include "models/pcie_read.hpp"
#include "models/pcie_write.hpp"
#include "tests/models/kernel.hpp"

using hw::DmaCommand;
using models::HostMemory;
using models::PcieParams;

namespace {

PcieParams slot(unsigned generation, unsigned lanes) {
  PcieParams p;
  p.generation = generation;
  p.lanes = lanes;
  return p;
}

TEST(Pcie, RatesOfTheFactSheet) {
  EXPECT_NEAR(models::raw_gbps(slot(3, 8)), 63.02, 0.005);
  EXPECT_NEAR(models::tlp_gbps(slot(3, 8)), 57.88, 0.006);
  EXPECT_NEAR(models::tlp_gbps(slot(3, 16)), 113.7, 0.05);
  EXPECT_NEAR(models::tlp_gbps(slot(4, 16)), 227.4, 0.05);
  EXPECT_NEAR(models::tlp_gbps(slot(5, 16)), 454.8, 0.05);
}

TEST(Pcie, EffectiveRatesOfTheFactSheet) {
  const PcieParams p = slot(4, 16);
  EXPECT_NEAR(models::write_gbps(p, 64), 165, 0.5);
  EXPECT_NEAR(models::write_gbps(p, 256), 208, 0.5);
  EXPECT_NEAR(models::write_gbps(p, 4096), 208, 0.5);
  EXPECT_NEAR(models::read_gbps(p, 64), 173, 0.5);
}

TEST(Pcie, BytesOnTheLink) {
  PcieParams p;
  p.max_payload = 256;
  p.max_read_request = 512;
  EXPECT_EQ(models::write_link_bytes(p, 1), 25u);
  EXPECT_EQ(models::write_link_bytes(p, 256), 280u);
  EXPECT_EQ(models::write_link_bytes(p, 257), 305u);
  EXPECT_EQ(models::read_request_link_bytes(p, 512), 24u);
  EXPECT_EQ(models::read_request_link_bytes(p, 513), 48u);
  EXPECT_EQ(models::read_data_link_bytes(p, 512), 552u);
  p.cut_at_boundary = true;
  EXPECT_EQ(models::read_data_link_bytes(p, 512), 512u + 8 * 20);
}

TEST(Pcie, ABadParameterIsNamed) {
  const auto message = [](PcieParams p) -> std::string {
    try {
      models::check(p);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(PcieParams()), "accepted");
  EXPECT_EQ(message(slot(2, 8)), "pcie.generation = 2: allowed are 3, 4, 5");
  EXPECT_EQ(message(slot(4, 12)), "pcie.lanes = 12: allowed are 1, 2, 4, 8, 16");
  PcieParams p;
  p.max_payload = 64;
  EXPECT_EQ(message(p), "pcie.max_payload = 64: allowed are powers of two, 128 .. 4096");
}

const hw::Clock kClock(250000000);

DmaCommand command(uint64_t address, uint64_t bytes, uint32_t tag = 0) {
  DmaCommand c;
  c.address = hw::Bits<64>(address);
  c.bytes = hw::PacketBytes(bytes);
  c.tag.id = tag;
  return c;
}

template <unsigned W>
struct ReadRun {
  test::Bench bench;
  HostMemory memory;
  hls::stream<DmaCommand> commands;
  hls::stream<hw::Beat<W>> data;
  models::PcieRead<W> model;
  test::Kernel kernel;
  test::Source<DmaCommand> source;
  test::Sink<hw::Beat<W>> sink;

  ReadRun(const PcieParams& p, test::Calling calling, std::vector<DmaCommand> list, unsigned percent = 100)
      : model(p, kClock, memory),
        kernel(calling),
        source(bench, commands, std::move(list), percent),
        sink(bench, data, percent) {
    test::configure(commands, "commands", 16);
    test::configure(data, "data", 64);
    const models::Waker w = kernel.add(model, commands, data);
    commands.connect_reader(kernel.end(w));
    data.connect_writer(kernel.end(w), 1);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

TEST(PcieRead, LatencyOfOneRead) {
  PcieParams p;
  for (const test::Calling& calling : test::kCallings) {
    ReadRun<512> r(p, calling, {command(0x1000, 64, 5)});
    r.run(200);
    ASSERT_EQ(r.sink.tokens.size(), 1u);
    // Taken in cycle 1 (4 ns), data 480 ns later, its completion of 84 bytes takes 84 * 8 / 227.4 = 2.955 ns, so the
    // first edge is that of 488 ns, and the stream adds a cycle.
    EXPECT_EQ(r.sink.cycles[0], 488u / 4 + 1);
    EXPECT_EQ(r.sink.tokens[0].tag.id, 5u);
    EXPECT_EQ(r.model.held(), 0u);
  }
}

// Back-to-back reads run at the rate of the formula, at any size and generation.
TEST(PcieRead, RateIsTheFormula) {
  for (unsigned generation : {3u, 4u})
    for (uint64_t bytes : {64u, 100u, 256u, 512u, 1000u, 4096u}) {
      PcieParams p = slot(generation, 8);
      p.max_read_request = 4096;
      p.outstanding_reads = 256;
      std::vector<DmaCommand> list;
      for (uint64_t i = 0; i < 400; i++) list.push_back(command(i * 4096, bytes));
      ReadRun<512> r(p, {false, false}, list);
      r.run(120000);
      std::vector<hw::Cycles> ends;
      for (size_t i = 0; i < r.sink.tokens.size(); i++)
        if (bool(r.sink.tokens[i].last)) ends.push_back(r.sink.cycles[i]);
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
  std::vector<DmaCommand> list;
  for (uint64_t i = 0; i < 100; i++) list.push_back(command(i * 4096, 4096));
  ReadRun<512> r(p, {false, false}, list);
  r.run(60000);
  ASSERT_EQ(r.sink.tokens.size(), 6400u);
  const double ns = double(r.sink.cycles.back() - r.sink.cycles[640]) * 4;
  const double bytes = 90.0 * 4096, trip = 480 + 20;  // the answer of a request takes 18.7 ns
  EXPECT_NEAR(bytes / ns, 4 * 512 / trip, 0.1 * 4 * 512 / trip);
}

template <unsigned W>
void read_returns_memory() {
  const std::vector<uint8_t> all = test::pattern(1 << 16, 3);
  for (bool unlimited : {false, true}) {
    PcieParams p;
    p.unlimited = unlimited;
    p.read_latency = unlimited ? 0 : 480000;
    std::vector<DmaCommand> list;
    std::mt19937_64 random(7);
    for (uint32_t i = 0; i < 60; i++) list.push_back(command(0x5000 + random() % 60000, 1 + random() % 4096, i));
    std::vector<hw::Cycles> first;
    for (const test::Calling& calling : test::kCallings) {
      ReadRun<W> r(p, calling, list, 70);
      r.memory.write(0x5000, all.data(), all.size());
      r.run(60 * 4096 * 8 / W * 3 + 2000);
      const auto packets = test::to_packets<W>(r.sink.tokens);
      ASSERT_EQ(packets.size(), list.size());
      for (size_t i = 0; i < list.size(); i++) {
        const auto begin = all.begin() + long(list[i].address.u64() - 0x5000);
        ASSERT_EQ(packets[i], std::vector<uint8_t>(begin, begin + long(list[i].bytes.u64()))) << i;
      }
      if (first.empty()) first = r.sink.cycles;
      EXPECT_EQ(r.sink.cycles, first) << "every cycle " << calling.every_cycle;
      EXPECT_EQ(r.model.held(), 0u);
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

template <unsigned W>
struct WriteRun {
  test::Bench bench;
  HostMemory memory;
  hls::stream<DmaCommand> commands;
  hls::stream<hw::Beat<W>> data;
  models::PcieWrite<W> model;
  test::Kernel kernel;
  test::Source<DmaCommand> source;
  test::Source<hw::Beat<W>> beats;
  std::vector<hw::Picoseconds> visible;

  WriteRun(const PcieParams& p, test::Calling calling, std::vector<DmaCommand> list, std::vector<hw::Beat<W>> in,
           unsigned percent = 100)
      : model(p, kClock, memory),
        kernel(calling),
        source(bench, commands, std::move(list), percent),
        beats(bench, data, std::move(in), percent) {
    test::configure(commands, "commands", 16);
    test::configure(data, "data", 64);
    const models::Waker w = kernel.add(model, commands, data);
    commands.connect_reader(kernel.end(w));
    data.connect_reader(kernel.end(w));
    model.observe([this](const DmaCommand&, hw::Picoseconds at) { visible.push_back(at); });
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

TEST(PcieWrite, LatencyOfOneWrite) {
  for (const test::Calling& calling : test::kCallings) {
    const std::vector<uint8_t> bytes = test::pattern(64, 1);
    WriteRun<512> r(PcieParams(), calling, {command(0x1000, 64)}, test::to_beats<512>(bytes));
    r.run(57);
    // Taken in cycle 1 (4 ns), 88 bytes on the link take 3.1 ns, visible 220 ns later: the edge of 228 ns.
    ASSERT_EQ(r.visible, std::vector<hw::Picoseconds>{228000});
    EXPECT_EQ(r.bench.now(), 57u);
    hw::world().now = 56;
    EXPECT_EQ(r.memory.read_byte(0x1000), 0);
    hw::world().now = 57;
    EXPECT_EQ(r.memory.read_byte(0x1000), bytes[0]);
  }
}

TEST(PcieWrite, UnlimitedTakesABeatACycle) {
  PcieParams p;
  p.unlimited = true;
  p.write_latency = 0;
  for (uint64_t bytes : {64u, 256u, 4096u}) {
    std::vector<DmaCommand> list;
    std::vector<hw::Beat<512>> beats;
    for (uint64_t i = 0; i < 4096 * 4 / bytes; i++) {
      list.push_back(command(i * bytes, bytes));
      for (const auto& b : test::to_beats<512>(test::pattern(bytes, i))) beats.push_back(b);
    }
    for (const test::Calling& calling : test::kCallings) {
      WriteRun<512> r(p, calling, list, beats);
      r.run(beats.size() + 2);
      ASSERT_EQ(r.visible.size(), list.size());
      EXPECT_EQ(r.visible.back(), 4000 * (beats.size() + 1));
    }
  }
}

TEST(PcieWrite, RateIsTheFormula) {
  for (unsigned generation : {3u, 4u})
    for (uint64_t bytes : {64u, 100u, 256u, 1000u, 4096u}) {
      const PcieParams p = slot(generation, 8);
      std::vector<DmaCommand> list;
      std::vector<hw::Beat<512>> beats;
      for (uint64_t i = 0; i < 400; i++) {
        list.push_back(command(i * 4096, bytes));
        for (const auto& b : test::to_beats<512>(test::pattern(bytes, i))) beats.push_back(b);
      }
      WriteRun<512> r(p, {false, false}, list, beats);
      r.run(120000);
      ASSERT_EQ(r.visible.size(), 400u);
      const double gbps = double(bytes) * 8 * 299 / (double(r.visible[399] - r.visible[100]) / 1000);
      const double bus = double(bytes) * 8 / (double(models::pieces(bytes, 64)) * 4);
      EXPECT_NEAR(gbps, std::min(models::write_gbps(p, bytes), bus), gbps * 0.01) << generation << " " << bytes;
    }
}

template <unsigned W>
void write_fills_memory() {
  std::vector<DmaCommand> list;
  std::vector<hw::Beat<W>> beats;
  std::vector<uint8_t> flat(1 << 16, 0);
  std::mt19937_64 random(9);
  for (uint32_t i = 0; i < 60; i++) {
    const size_t at = random() % 60000, n = 1 + random() % 4096;
    const std::vector<uint8_t> data = test::pattern(n, i);
    list.push_back(command(0x5000 + at, n, i));
    for (const auto& b : test::to_beats<W>(data)) beats.push_back(b);
    std::copy(data.begin(), data.end(), flat.begin() + long(at));
  }
  std::vector<hw::Picoseconds> first;
  for (const test::Calling& calling : test::kCallings) {
    WriteRun<W> r(slot(3, 8), calling, list, beats, 70);
    r.run(60 * 4096 * 8 / W * 3 + 8000);
    std::vector<uint8_t> got(flat.size());
    r.memory.settle_all();
    r.memory.read(0x5000, got.data(), got.size());
    EXPECT_EQ(got, flat);
    if (first.empty()) first = r.visible;
    EXPECT_EQ(r.visible, first) << "every cycle " << calling.every_cycle;
    EXPECT_EQ(r.model.held(), 0u);
  }
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
  const std::vector<uint8_t> bytes = test::pattern(64, 1);
  WriteRun<512> longer(PcieParams(), {true, false}, {command(0, 63)}, test::to_beats<512>(bytes));
  EXPECT_DEATH(longer.run(5), "more data than the command asks for");
  WriteRun<512> shorter(PcieParams(), {true, false}, {command(0, 65)}, test::to_beats<512>(bytes));
  EXPECT_DEATH(shorter.run(5), "less data than the command asks for");
}

}  // namespace
