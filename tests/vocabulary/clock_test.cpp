#include "hw/bus/clock.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <random>

namespace {

using boost::multiprecision::cpp_int;
using hw::Clock;

const uint64_t kRates[] = {1, 3, 156250000, 250000000, 322265625, 390625000, 999999999, 1000000000, 3000000001};

TEST(Clock, EdgesAreExactOverAnyTime) {
  std::mt19937_64 random(1);
  for (uint64_t hertz : kRates) {
    const Clock clock(hertz);
    EXPECT_EQ(clock.hertz(), hertz);
    for (int i = 0; i < 1000; i++) {
      // Up to about half a year of simulated time, as far as picoseconds go in 64 bits.
      const uint64_t cycle = (random() >> (random() % 64)) % (hertz * uint64_t(10000000) + 1);
      EXPECT_EQ(clock.edge(cycle), uint64_t(cpp_int(cycle) * cpp_int(1000000000000u) / cpp_int(hertz)));
    }
  }
}

TEST(Clock, MacClockDoesNotDrift) {
  const Clock mac(322265625);
  EXPECT_EQ(mac.edge(1), 3103u);  // 3103.03 ps
  EXPECT_EQ(mac.edge(33), 102400u);
  EXPECT_EQ(mac.edge(uint64_t(322265625) * 3600), uint64_t(3600) * 1000000000000u);
}

TEST(Clock, FindsTheNextEdge) {
  std::mt19937_64 random(2);
  for (uint64_t hertz : kRates) {
    const Clock clock(hertz);
    for (int i = 0; i < 1000; i++) {
      const uint64_t cycle = 1 + random() % (hertz * uint64_t(1000));
      for (int64_t offset : {-1, 0, 1, 2}) {
        const hw::Picoseconds time = clock.edge(cycle) + uint64_t(offset);
        const uint64_t found = clock.edge_at_or_after(time);
        EXPECT_GE(clock.edge(found), time);
        EXPECT_LT(clock.edge(found - 1), time);
        const uint64_t after = clock.edge_after(time);
        EXPECT_GT(clock.edge(after), time);
        EXPECT_LE(clock.edge(after - 1), time);
      }
    }
    EXPECT_EQ(clock.edge_at_or_after(0), 0u);
    EXPECT_EQ(clock.edge_after(0), 1u);
  }
}

}  // namespace
