// From completions to a steady rate that the line could have carried, or to none.
#include "sim/workload/rates.hpp"

#include <gtest/gtest.h>

namespace sim {
namespace {

constexpr LineLimit kLine = {100, 4096};
constexpr uint32_t kBytes = 4096;
// 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12 bytes beside 4096, 80 ps each.
constexpr hw::Picoseconds kOnTheLine = (kBytes + 82) * 80;

struct Seen {
  std::vector<hw::Picoseconds> posts;
  std::vector<models::DoneMessage> messages;

  void add(hw::Picoseconds post, hw::Picoseconds completion, uint32_t bytes = kBytes) {
    posts.push_back(post);
    messages.push_back({0, bytes, post, completion});
  }
  Rates rates() const { return rates_of(posts, messages, kLine); }
};

// `depth` outstanding; a message crosses the line every `gap`, and completions are seen `bunch` at a time.
Seen closed_loop(size_t count, size_t depth, hw::Picoseconds gap, size_t bunch, uint32_t bytes = kBytes) {
  Seen seen;
  for (size_t i = 0; i < count; i++) {
    const hw::Picoseconds post = i < depth ? 0 : seen.messages[i - depth].completion;
    const size_t last = std::min(count, (i / bunch + 1) * bunch);
    seen.add(post, last * gap + 1000, bytes);
  }
  return seen;
}

TEST(Rates, SteadyBetweenTwoCompletions) {
  const Rates r = closed_loop(100, 4, 400000, 1).rates();
  ASSERT_TRUE(r.steady);
  EXPECT_EQ(r.steady->messages, 80u);
  EXPECT_EQ(r.steady->bytes, 80u * kBytes);
  EXPECT_EQ(r.steady->time, 80u * 400000);
}

TEST(Rates, ABunchAtTheBeginCountsOutside) {
  const Rates r = closed_loop(200, 4, 400000, 4).rates();
  ASSERT_TRUE(r.steady);
  EXPECT_EQ(r.steady->bytes * 400000, r.steady->time * kBytes) << "bunches of four, and still a message every 400 ns";
}

TEST(Rates, MessagesWithoutBytesCountAlike) {
  const Rates r = closed_loop(100, 4, 400000, 1, 0).rates();
  ASSERT_TRUE(r.steady);
  EXPECT_EQ(r.steady->messages, 80u);
}

// All were posted before the first completion: what comes in the window may have crossed the line before it.
TEST(Rates, NoSteadyStateWhereMostWasPostedBefore) {
  for (const size_t count : {1, 2, 8, 100, 128})
    for (const size_t bunch : {1, 7, 64, 128}) EXPECT_FALSE(closed_loop(count, 128, 400000, bunch).rates().steady);
  EXPECT_FALSE(closed_loop(100, 4, 400000, 100).rates().steady) << "one bunch";
}

TEST(Rates, NeverAboveTheLine) {
  for (const size_t depth : {1, 2, 4, 16, 100})
    for (const size_t bunch : {1, 2, 3, 5, 16, 100})
      for (hw::Picoseconds late = 0; late < 40 * kOnTheLine; late += kOnTheLine / 2) {
        Seen seen = closed_loop(400, depth, kOnTheLine, bunch);
        for (size_t i = 0; i < 45; i++) seen.messages[i].completion += late;  // an ACK that was lost at the begin
        for (size_t i = 1; i < seen.messages.size(); i++)
          seen.messages[i].completion = std::max(seen.messages[i].completion, seen.messages[i - 1].completion);
        const Rates r = seen.rates();
        if (!r.steady) continue;
        EXPECT_GE(r.steady->time, r.steady->messages * kOnTheLine) << depth << " " << bunch << " " << late;
        EXPECT_LE(r.steady->time, r.steady->messages * kOnTheLine * 101 / 100 + bunch * kOnTheLine);
      }
}

}  // namespace
}  // namespace sim
