#include "models/host_memory.hpp"

#include "tests/models/kernel.hpp"

using models::HostMemory;

namespace {

std::vector<uint8_t> read(HostMemory& memory, uint64_t address, size_t bytes) {
  std::vector<uint8_t> v(bytes, 0xee);
  memory.read(address, v.data(), bytes);
  return v;
}

TEST(HostMemory, UnwrittenBytesReadZeroAndCostNothing) {
  test::Bench bench;
  HostMemory memory;
  EXPECT_EQ(read(memory, 0xffffffff00000000u, 10000), std::vector<uint8_t>(10000, 0));
  EXPECT_EQ(memory.pages(), 0u);
}

// Against a flat array, over ranges that straddle pages, far more pages than are kept at hand.
TEST(HostMemory, IsAnArray) {
  test::Bench bench;
  HostMemory memory;
  const uint64_t base = 0x7f0012345678u;
  std::vector<uint8_t> flat(4 << 20, 0);
  for (int i = 0; i < 2000; i++) {
    const size_t at = bench.random()() % (flat.size() - 10000), n = bench.random()() % 10000;
    const std::vector<uint8_t> data = test::pattern(n, uint64_t(i));
    memory.write(base + at, data.data(), n);
    std::copy(data.begin(), data.end(), flat.begin() + long(at));
    const size_t from = bench.random()() % (flat.size() - 10000);
    ASSERT_EQ(read(memory, base + from, 10000),
              std::vector<uint8_t>(flat.begin() + long(from), flat.begin() + long(from) + 10000));
  }
  EXPECT_EQ(read(memory, base, flat.size()), flat);
}

TEST(HostMemory, PostedWriteIsVisibleFromItsCycleOn) {
  test::Bench bench;
  HostMemory memory;
  const uint8_t one = 1;
  EXPECT_EQ(memory.post(5, 100, &one, 1), 5u);
  for (hw::Cycles c = 0; c < 8; c++) {
    hw::world().now = c;
    EXPECT_EQ(memory.read_byte(100), c >= 5) << "cycle " << c;
  }
}

TEST(HostMemory, PostedWritesKeepTheirOrder) {
  test::Bench bench;
  HostMemory memory;
  const uint8_t data[] = {1, 2};
  EXPECT_EQ(memory.post(9, 100, &data[0], 1), 9u);
  EXPECT_EQ(memory.post(3, 100, &data[1], 1), 9u);
  hw::world().now = 8;
  EXPECT_EQ(memory.read_byte(100), 0);
  hw::world().now = 9;
  EXPECT_EQ(memory.read_byte(100), 2);
}

TEST(HostMemory, SettleAllLetsEverythingIn) {
  test::Bench bench;
  HostMemory memory;
  const std::vector<uint8_t> data = test::pattern(5000, 1);
  memory.post(1000, 100, data.data(), data.size());
  memory.settle_all();
  EXPECT_EQ(read(memory, 100, 5000), data);
  EXPECT_EQ(memory.posted(), 0u);
}

TEST(HostMemory, WatchSeesExactlyTheWritesThatCoverItsByte) {
  test::Bench bench;
  HostMemory memory;
  std::vector<hw::Cycles> seen;
  memory.watch(1000, [&](hw::Cycles visible) { seen.push_back(visible); });
  const std::vector<uint8_t> data(64, 7);
  memory.post(10, 936, data.data(), 64);  // up to 999
  memory.post(11, 937, data.data(), 64);  // up to 1000
  memory.post(12, 1000, data.data(), 1);
  memory.post(13, 1001, data.data(), 64);
  EXPECT_EQ(seen, (std::vector<hw::Cycles>{11, 12}));
}

TEST(HostMemoryDeathTest, NothingIsVisibleInItsOwnCycle) {
  test::Bench bench;
  HostMemory memory;
  const uint8_t one = 1;
  hw::world().now = 4;
  EXPECT_DEATH(memory.post(4, 0, &one, 1), "write visible in its own cycle");
}

}  // namespace
