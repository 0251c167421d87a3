// Card memory against its formula, behind the same commands as the host's memory.
#include "models/card_memory.hpp"

#include "tests/models/pcie_bench.hpp"

using models::CardMemoryParams;
using models::PcieParams;
using test::command;
using test::DmaBench;

namespace {

const hw::Clock kFine(1000000000);
constexpr uint64_t kBase = 0x100000000;

CardMemoryParams card(unsigned gbps) {
  CardMemoryParams p;
  p.base = kBase;
  p.bytes = 1 << 30;
  p.latency = 120000;
  p.gbps = gbps;
  return p;
}

hw::Cycles cycles_of(uint64_t bytes, unsigned gbps) {
  return (bytes * 8 + gbps - 1) / gbps;
}
// The cycle in which the last beat leaves that is offered from `start` on: one a cycle, each when its bytes are there.
hw::Cycles last_beat(hw::Cycles start, uint64_t bytes, unsigned gbps) {
  hw::Cycles cycle = 0;
  for (uint64_t end = 0; end < bytes;) {
    end = std::min(end + 64, bytes);
    cycle = std::max(cycle + 1, start + cycles_of(end, gbps));
  }
  return cycle;
}

TEST(CardMemory, LatencyOfAReadAndOfAWrite) {
  for (const test::Calling& calling : test::kCallings)
    for (unsigned gbps : {64u, 425u})
      for (uint64_t bytes : {1u, 64u, 1000u, 4096u}) {
        const uint64_t at = kBase + 100;
        DmaBench<512> b(PcieParams(), calling, {{command(at, bytes)}, {command(at + 5000, bytes)}}, kFine, card(gbps));
        const std::vector<uint8_t> data = test::pattern(bytes, 4);
        b.card.memory().write(at, data.data(), bytes);
        b.run(2000);
        // Taken in cycle 1, the stream adds a cycle.
        EXPECT_EQ(test::to_packets<512>(b.sink.tokens).at(0), data);
        EXPECT_EQ(b.sink.cycles.back(), last_beat(1 + 120, bytes, gbps) + 1) << gbps << " " << bytes;
        // Its last beat comes in cycle 1 and the following.
        EXPECT_EQ(b.visible.at(0), 1000 * ((bytes + 63) / 64 + cycles_of(bytes, gbps) + 120)) << gbps << " " << bytes;
        std::vector<uint8_t> written(bytes);
        b.card.memory().read(at + 5000, written.data(), bytes);
        EXPECT_EQ(written, test::pattern(bytes, 0));
        EXPECT_EQ(b.memory.pages(), 0u);
      }
}

TEST(CardMemory, RateIsTheFormulaAndThePortsDoNotDisturbEachOther) {
  for (unsigned gbps : {100u, 300u}) {
    std::vector<hw::DmaCommand> list = test::commands_of(1024, 400);
    for (hw::DmaCommand& c : list) c.address = hw::Bits<64>(kBase + c.address.u64());
    PcieParams p;
    p.posted_bytes = 1024;
    DmaBench<512> b(p, {false, false}, {list, list}, kFine, card(gbps));
    b.run(40000);
    const std::vector<hw::Cycles> ends = b.read_ends();
    ASSERT_EQ(ends.size(), 400u);
    ASSERT_EQ(b.visible.size(), 400u);
    EXPECT_NEAR(1024.0 * 8 * 299 / double(ends[399] - ends[100]), gbps, gbps * 0.01);
    EXPECT_NEAR(1024.0 * 8 * 299 * 1000 / double(b.visible[399] - b.visible[100]), gbps, gbps * 0.01);
  }
}

// Commands for both memories in one stream: the data comes in the order of the commands, from the right memory.
TEST(CardMemory, HostAndCardInOneStream) {
  std::vector<hw::Cycles> first;
  for (const test::Calling& calling : test::kCallings) {
    std::vector<hw::DmaCommand> list;
    for (uint32_t i = 0; i < 60; i++) list.push_back(command((i % 3 ? 0 : kBase) + i * uint64_t(4096), 700 + i, i));
    DmaBench<512> b(PcieParams(), calling, {list, {}, 80}, kFine, card(425));
    for (const hw::DmaCommand& c : list) {
      const std::vector<uint8_t> data = test::pattern(c.bytes.u64(), c.tag.id);
      models::HostMemory& memory = c.tag.id % 3 ? b.memory : b.card.memory();
      memory.write(c.address.u64(), data.data(), data.size());
    }
    b.run(5000);
    const auto packets = test::to_packets<512>(b.sink.tokens);
    ASSERT_EQ(packets.size(), list.size());
    for (size_t i = 0; i < list.size(); i++) EXPECT_EQ(packets[i], test::pattern(700 + i, i)) << i;
    if (first.empty()) first = b.sink.cycles;
    EXPECT_EQ(b.sink.cycles, first);
  }
}

TEST(CardMemory, ABadParameterIsNamed) {
  CardMemoryParams p;
  p.base = ~uint64_t(0) - 10;
  p.bytes = 100;
  EXPECT_THROW(models::check(p), std::invalid_argument);
  p = CardMemoryParams();
  p.gbps = 0;
  EXPECT_THROW(models::check(p), std::invalid_argument);
}

}  // namespace
