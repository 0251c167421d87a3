#include "sim/triage/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using sim::LatencyHistogram;

TEST(LatencyHistogram, PercentilesAreRightToOneInSixteen) {
  std::mt19937 random(1);
  std::lognormal_distribution<> latency(9, 2);
  std::vector<uint64_t> all;
  LatencyHistogram histogram;
  for (int i = 0; i < 10'000; i++) {
    all.push_back(static_cast<uint64_t>(latency(random)));
    histogram.add(static_cast<int64_t>(all.back()));
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(histogram.count(), all.size());
  EXPECT_EQ(histogram.least_ns(), all.front());
  EXPECT_EQ(histogram.most_ns(), all.back());
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9}) {
    const auto exact = static_cast<double>(all[static_cast<size_t>(percent / 100 * 10'000) - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile_ns(percent)), exact, exact / 16 + 1) << percent;
  }
}

TEST(LatencyHistogram, OneValueIsEveryPercentile) {
  for (const int64_t ns : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{8}, int64_t{1'000'000'007}, int64_t{1} << 60}) {
    LatencyHistogram histogram;
    histogram.add(ns);
    for (const double percent : {0.0, 50.0, 100.0})
      EXPECT_EQ(histogram.percentile_ns(percent), static_cast<uint64_t>(ns));
  }
}

TEST(LatencyHistogram, EmptyIsZeroAndSumsAdd) {
  LatencyHistogram a, b;
  EXPECT_EQ(a.percentile_ns(50), 0u);
  a.add(100);
  b.add(900);
  a.add(b);
  EXPECT_EQ(a.count(), 2u);
  EXPECT_EQ(a.least_ns(), 100u);
  EXPECT_EQ(a.most_ns(), 900u);
}

}  // namespace
