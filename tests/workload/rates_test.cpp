// Rates of completions that come one by one, in bunches, and too few.
#include "sim/workload/rates.hpp"

#include <gtest/gtest.h>

namespace {

constexpr uint32_t kBytes = 1000;
constexpr hw::Picoseconds kCycle = 4000, kPeriod = 100 * kCycle;

// `bunches` times `size` messages, a cycle apart, which take `size` periods to come.
sim::Rates rates_in_bunches(uint64_t bunches, uint64_t size, uint32_t bytes = kBytes) {
  std::vector<hw::Picoseconds> posts;
  std::vector<models::DoneMessage> messages;
  for (uint64_t b = 0; b < bunches; b++)
    for (uint64_t m = 0; m < size; m++) {
      posts.push_back(posts.size());
      messages.push_back({0, bytes, posts.back(), (b + 1) * size * kPeriod + m * kCycle});
    }
  return sim::rates_of(posts, messages);
}

TEST(Rates, SteadyIsTheRateOfWholeBunches) {
  for (const uint64_t size : {1u, 2u, 16u, 50u}) {
    const sim::Rates r = rates_in_bunches(20, size);
    EXPECT_EQ(r.steady_messages * kPeriod, r.steady_time) << size;
    EXPECT_EQ(r.steady_bytes, r.steady_messages * kBytes);
    EXPECT_EQ(r.steady_messages, 16 * size);
  }
}

TEST(Rates, MessagesWithoutBytesCountAlike) {
  const sim::Rates r = rates_in_bunches(20, 16, 0);
  EXPECT_EQ(r.steady_messages * kPeriod, r.steady_time);
  EXPECT_GT(r.steady_messages, 0u);
}

TEST(Rates, NoSteadyStateOfAFewMessages) {
  for (const uint64_t messages : {1u, 2u, 3u, 9u}) {
    const sim::Rates r = rates_in_bunches(messages, 1);
    EXPECT_EQ(r.steady_time, 0u);
    EXPECT_EQ(r.steady_messages, 0u);
    EXPECT_EQ(r.messages, messages);
  }
}

}  // namespace
