#include <map>

#include "hw/tables/memory_region.hpp"
#include "table_bench.hpp"

namespace {

using hw::Bits;
using hw::RegionControl;
using hw::RxChecked;
using Table = test::TableBench<RxChecked, RegionControl>;
__extension__ typedef unsigned __int128 Wide;

RegionControl region(uint32_t rkey, uint64_t va, uint64_t length, uint64_t address, bool valid = true,
                     bool remote_write = true, bool remote_read = true) {
  RegionControl c;
  c.rkey = Bits<32>(rkey);
  c.va = Bits<64>(va);
  c.length = Bits<64>(length);
  c.address = Bits<64>(address);
  c.valid = Bits<1>(valid);
  c.remote_write = Bits<1>(remote_write);
  c.remote_read = Bits<1>(remote_read);
  return c;
}

RxChecked message_of(uint32_t rkey, uint64_t va, uint32_t length, uint8_t opcode = hw::wire::kWriteOnly) {
  RxChecked x;
  x.packet.opcode = Bits<8>(opcode);
  x.packet.rkey = Bits<32>(rkey);
  x.packet.va = Bits<64>(va);
  x.packet.dma_length = Bits<32>(length);
  x.sequence = Bits<2>(hw::kInOrder);
  return x;
}

// The rules in 128-bit arithmetic.
struct Model {
  std::map<uint64_t, RegionControl> rows;
  std::vector<RxChecked> out;
  std::map<std::string, uint64_t> seen;

  void control(const RegionControl& c) { rows[(c.rkey.u64() >> 8) % hw::kMaxRegions] = c; }
  void packet(const RxChecked& p) {
    RxChecked x = p;
    const uint64_t op = p.packet.opcode.u64(), length = p.packet.dma_length.u64(), va = p.packet.va.u64();
    const bool read = op == 0x0c, again = read && p.sequence.u64() == hw::kDuplicate;
    const bool reth = op == 0x06 || op == 0x0a || op == 0x0b || read;
    if ((p.sequence.u64() == hw::kInOrder || again) && p.nak.u64() == 0 && reth && length > 0) {
      const RegionControl& r = rows[(p.packet.rkey.u64() >> 8) % hw::kMaxRegions];
      const Wide begin = va, end = begin + length, first = r.va.u64(), behind = first + r.length.u64();
      const bool right =
          bool(r.valid) && bool(read ? r.remote_read : r.remote_write) && r.rkey.u64() == p.packet.rkey.u64();
      const bool inside = begin >= first && end <= behind;
      if (!right || !inside) x.nak = Bits<8>(0x62);
      if (again) seen["read again"]++;
      seen[!right ? "key" : !inside ? "range" : end == behind ? "to the end" : "inside"]++;
      x.address = Bits<64>(r.address.u64() + va - r.va.u64());
    } else {
      seen["unchecked"]++;
    }
    out.push_back(x);
  }
};

TEST(MemoryRegion, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      std::mt19937_64 random(seed);
      // Two keys of one row, one elsewhere; regions at both ends of the address space and over the 32-bit boundary.
      const uint32_t rkeys[] = {0x101, 0x102, 0x101 + (uint32_t(hw::kMaxRegions) << 8), 0x77700};
      const uint64_t vas[] = {0, 0xfffff000, 0x7fff0000, ~uint64_t(0) - 0xfff};
      const uint64_t lengths[] = {0, 1, 0x1000, 0x100000000};
      std::vector<RegionControl> controls;
      for (uint32_t rkey : rkeys) controls.push_back(region(rkey, 0x7fff0000, 0x1000, 0x55000000));
      for (int i = 0; i < 400; i++)
        controls.push_back(region(rkeys[random() % 4], vas[random() % 4], lengths[random() % 4], random(),
                                  random() % 8 != 0, random() % 8 != 0, random() % 8 != 0));
      std::vector<RxChecked> packets;
      const uint8_t opcodes[] = {0x06, 0x0a, 0x0b, 0x0c, 0x0c, 0x07, 0x04, 0x10};
      for (int i = 0; i < 4000; i++) {
        const uint64_t lies[] = {0, 1, 0xfff, 0x1000, uint64_t(0) - 1};
        const uint32_t bytes[] = {0, 1, 2, 0x1000, 0xffffffff, uint32_t(random() % 0x1000)};
        RxChecked x = message_of(rkeys[random() % 4], vas[random() % 4] + lies[random() % 5], bytes[random() % 6],
                                 opcodes[random() % 8]);
        x.sequence = Bits<2>(random() % 4 ? 0 : random() % 4);
        x.nak = Bits<8>(random() % 8 ? 0 : 0x61);
        packets.push_back(x);
      }
      Table t(seed, pace, packets, controls);
      hls::stream<RxChecked> out;
      test::configure(out, "out", 4);
      test::Sink<RxChecked> sink(t.bench, out, pace.sink);
      hw::tables::MemoryRegion stage;
      Model model;
      t.run(model, [&] { stage.step(t.in, t.control, out); });
      test::expect_equal(sink.tokens, model.out);
      EXPECT_EQ(stage.access_errors.v.u64(), model.seen["key"] + model.seen["range"]);
      for (const auto& s : model.seen) seen[s.first] += s.second;
    }
  }
  for (const char* what : {"key", "range", "to the end", "inside", "unchecked", "read again"})
    EXPECT_GT(seen[what], 100u) << what;
}

TEST(MemoryRegion, TheEdgesOfARegionAreExact) {
  struct Case {
    uint64_t va, length;  // of the region
    uint64_t at;
    uint32_t bytes;  // of the message
    bool good;
  } const cases[] = {
      {0x1000, 0x1000, 0x1000, 0x1000, true},
      {0x1000, 0x1000, 0x0fff, 1, false},
      {0x1000, 0x1000, 0x1fff, 1, true},
      {0x1000, 0x1000, 0x1fff, 2, false},
      {0x1000, 0x1000, 0x2000, 1, false},
      {0x1000, 0x1000, 0x1000, 0x1001, false},
      {0x1000, 0, 0x1000, 1, false},
      {~uint64_t(0), 1, ~uint64_t(0), 1, true},                    // the last byte that there is
      {~uint64_t(0) - 1, 2, ~uint64_t(0) - 1, 0xffffffff, false},  // would wrap
      {0, 0x100, ~uint64_t(0), 2, false},                          // wraps into the region
  };
  for (const Case& c : cases) {
    Table t(1, {}, {}, {region(0x500, c.va, c.length, 0x90000)});
    hls::stream<RxChecked> out;
    test::configure(out, "out", 4);
    test::Sink<RxChecked> sink(t.bench, out);
    hw::tables::MemoryRegion stage;
    t.bench.run(3, [&] { stage.step(t.in, t.control, out); });
    t.in.write(message_of(0x500, c.at, c.bytes));
    t.bench.run(5, [&] { stage.step(t.in, t.control, out); });
    ASSERT_EQ(sink.tokens.size(), 1u);
    EXPECT_EQ(sink.tokens[0].nak.u64(), c.good ? 0u : 0x62u) << std::hex << c.at << "+" << c.bytes;
    if (c.good) {
      EXPECT_EQ(sink.tokens[0].address.u64(), 0x90000 + (c.at - c.va));
    }
  }
}

TEST(MemoryRegion, ReadsAndWritesHaveRightsOfTheirOwn) {
  struct Case {
    bool remote_write, remote_read;
    uint8_t opcode;
    uint64_t sequence;
    uint32_t bytes;
    uint64_t nak;
  } const cases[] = {
      {true, false, 0x0a, hw::kInOrder, 8, 0},      {false, true, 0x0a, hw::kInOrder, 8, 0x62},
      {true, false, 0x06, hw::kInOrder, 8, 0},      {false, true, 0x0b, hw::kInOrder, 8, 0x62},
      {true, false, 0x0c, hw::kInOrder, 8, 0x62},   {false, true, 0x0c, hw::kInOrder, 8, 0},
      {true, false, 0x0c, hw::kDuplicate, 8, 0x62}, {false, true, 0x0c, hw::kDuplicate, 8, 0},
      {false, false, 0x0c, hw::kInOrder, 0, 0},     {false, false, 0x0a, hw::kInOrder, 0, 0},
      {false, false, 0x0c, hw::kGap, 8, 0},         {false, false, 0x0c, hw::kIgnore, 8, 0},
      {false, false, 0x0a, hw::kDuplicate, 8, 0},   {false, false, 0x07, hw::kInOrder, 8, 0},
      {false, false, 0x0c, hw::kDuplicate, 0, 0},
  };
  for (const Case& c : cases) {
    Table t(1, {}, {}, {region(0x500, 0, 64, 0, true, c.remote_write, c.remote_read)});
    hls::stream<RxChecked> out;
    test::configure(out, "out", 4);
    test::Sink<RxChecked> sink(t.bench, out);
    hw::tables::MemoryRegion stage;
    t.bench.run(3, [&] { stage.step(t.in, t.control, out); });
    RxChecked message = message_of(0x500, 0, c.bytes, c.opcode);
    message.sequence = Bits<2>(c.sequence);
    t.in.write(message);
    t.bench.run(5, [&] { stage.step(t.in, t.control, out); });
    ASSERT_EQ(sink.tokens.size(), 1u);
    EXPECT_EQ(sink.tokens[0].nak.u64(), c.nak) << "opcode " << int(c.opcode) << " sequence " << c.sequence;
  }
}

TEST(MemoryRegion, OnePacketACycleWhileControlWrites) {
  std::vector<RxChecked> packets(60, message_of(0x500, 0, 64));
  std::vector<RegionControl> controls(60, region(0x500, 0, 64, 0));
  Table t(1, {}, packets, controls);
  hls::stream<RxChecked> out;
  test::configure(out, "out", 4);
  test::Sink<RxChecked> sink(t.bench, out);
  hw::tables::MemoryRegion stage;
  Model model;
  for (int i = 0; i < 80; i++) t.tick(model, [&] { stage.step(t.in, t.control, out); });
  ASSERT_EQ(sink.cycles.size(), 60u);
  for (size_t i = 0; i < 60; i++) {
    EXPECT_EQ(sink.cycles[i], t.packet_source->cycles[i] + 3);  // offered, taken, judged, read
    EXPECT_EQ(t.control_source->cycles[i], i);
    EXPECT_EQ(t.packet_source->cycles[i], i);
  }
}

}  // namespace
