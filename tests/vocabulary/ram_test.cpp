// Rule 4, against Rams that remember every cycle.
#include "hw/bus/ram.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace {

using hw::Bits;

constexpr int kRows = 13;
typedef Bits<hw::clog2(kRows)> Address;
typedef Bits<70> Row;

class Rams : public testing::Test {
 protected:
  void SetUp() override { hw::reset_world(0); }
};
typedef Rams RamsDeathTest;

// The rows as they stood at the start of every cycle, and the requests made.
struct History {
  std::vector<std::vector<Row>> at_start{std::vector<Row>(kRows)};
  std::vector<std::pair<size_t, size_t>> requests;  // cycle, row

  // The last request made before the running cycle.
  const std::pair<size_t, size_t>* last() const {
    for (size_t i = requests.size(); i > 0; i--)
      if (requests[i - 1].first < at_start.size() - 1) return &requests[i - 1];
    return nullptr;
  }
};

TEST_F(Rams, DataIsTheRowOfTheLastRequestInEveryOrderOfCalls) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    hw::world().now = 0;
    hw::Ram<Row, kRows> ram;
    hw::RamForward<Row, kRows> forward;
    std::mt19937_64 random(seed);
    History h;
    const uint64_t rows = 1 + seed % kRows;  // few rows: requests and writes meet often
    for (int cycle = 0; cycle < 2000; cycle++) {
      std::vector<Row> next = h.at_start.back();
      int order[] = {0, 1, 2};
      std::shuffle(order, order + 3, random);
      for (int call : order) {
        const uint64_t row = random() % rows;
        if (call == 0 && random() % 2) {
          ram.request(Address(row));
          forward.request(Address(row));
          h.requests.emplace_back(cycle, row);
        }
        if (call == 1 && random() % 2) {
          next[row] = Row(random());
          ram.write(Address(row), next[row]);
          forward.write(Address(row), next[row]);
        }
        const auto* last = h.last();
        if (call == 2 && last) {
          EXPECT_EQ(ram.data(), h.at_start[last->first][last->second]) << "cycle " << cycle;
          EXPECT_EQ(forward.data(), h.at_start.back()[last->second]) << "cycle " << cycle;
        }
      }
      h.at_start.push_back(next);
      hw::world().now++;
    }
    for (uint64_t row = 0; row < kRows; row++) EXPECT_EQ(ram.peek(row), h.at_start.back()[row]);
  }
}

TEST_F(Rams, HeldDataStaysThroughAStall) {
  hw::Ram<Row, kRows> ram;
  hw::RamForward<Row, kRows> forward;
  ram.request(Address(3));
  forward.request(Address(3));
  for (uint64_t i = 1; i < 50; i++) {
    hw::world().now++;
    EXPECT_EQ(ram.data(), Row(0));
    EXPECT_EQ(forward.data(), Row(i - 1));
    ram.write(Address(3), Row(i));
    forward.write(Address(3), Row(i));
  }
}

TEST_F(Rams, LargeOnesCostNothingUntilUsed) {
  hw::Ram<Bits<1024>, 1 << 24> ram;  // 2 GiB if rows were touched
  ram.request(Bits<24>(12345678));
  hw::world().now++;
  EXPECT_EQ(ram.data(), Bits<1024>());
}

TEST_F(RamsDeathTest, BreachesOfTheContractEnd) {
  hw::Ram<Row, kRows> ram;
  EXPECT_DEATH(ram.data(), "data before any request");
  EXPECT_DEATH((ram.request(Address(1)), ram.data()), "data before any request");
  EXPECT_DEATH((ram.request(Address(1)), ram.request(Address(1))), "second request in a step");
  EXPECT_DEATH((ram.write(Address(1), Row()), ram.write(Address(2), Row())), "second write in a step");
  EXPECT_DEATH(ram.request(Address(kRows)), "address outside the rows");
  EXPECT_DEATH(ram.write(Address(kRows), Row()), "address outside the rows");
}

}  // namespace
