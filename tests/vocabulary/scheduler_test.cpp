#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "hw/bus/world.hpp"

namespace {

using hw::Cycles;
using hw::Scheduler;

std::set<int> stages(const Scheduler::Mask& mask) {
  std::set<int> s;
  for (int i = 0; i < Scheduler::kMaxStages; i++)
    if ((mask.w[i / 64] >> (i % 64)) & 1) s.insert(i);
  return s;
}

TEST(Scheduler, NothingIsDueBeforeAnythingIsAskedFor) {
  Scheduler s;
  EXPECT_EQ(s.next(), hw::kForever);
  EXPECT_TRUE(stages(s.advance(0)).empty());
  EXPECT_EQ(s.next(), hw::kForever);
}

TEST(Scheduler, EveryDistanceIsExact) {
  for (Cycles start : {0, 1, 62, 63, 64, 1000}) {
    for (Cycles distance = 1; distance < 300; distance++) {
      Scheduler s;
      s.advance(start);
      s.wake(77, start + distance);
      ASSERT_EQ(s.next(), start + distance);
      EXPECT_EQ(stages(s.advance(start + distance)), std::set<int>{77});
      EXPECT_EQ(s.next(), hw::kForever);
      EXPECT_EQ(s.now(), start + distance);
    }
  }
}

// Any mixture of near wake-ups and of deadlines, one far one pending per stage: none is lost, early or late.
TEST(Scheduler, WakesExactlyThoseAskedFor) {
  for (uint64_t seed = 1; seed <= 30; seed++) {
    std::mt19937_64 random(seed);
    Scheduler s;
    std::map<Cycles, std::set<int>> expected;
    std::map<int, Cycles> far;
    Cycles now = 0;
    s.advance(0);
    for (int step = 0; step < 3000; step++) {
      for (uint64_t wakes = random() % 4; wakes > 0; wakes--) {
        const int stage = int(random() % Scheduler::kMaxStages);
        Cycles at = now + 1 + random() % (Scheduler::kSlots - 1);
        if (random() % 4 == 0 && (!far.count(stage) || far[stage] <= now)) {
          at = far[stage] = now + Scheduler::kSlots + random() % 500;
        }
        s.wake(stage, at);
        expected[at].insert(stage);
      }
      ASSERT_EQ(s.next(), expected.empty() ? hw::kForever : expected.begin()->first);
      // Either straight to the next cycle with work, or cycle by cycle.
      now = expected.empty() || random() % 2 ? now + 1 : expected.begin()->first;
      ASSERT_EQ(stages(s.advance(now)), expected.count(now) ? expected[now] : std::set<int>());
      expected.erase(now);
    }
  }
}

TEST(Scheduler, TheEarliestDeadlineOfAStageWins) {
  Scheduler s;
  s.advance(0);
  s.wake(5, 1000);
  s.wake(5, 500);
  s.wake(5, 2000);
  EXPECT_EQ(s.next(), 500u);
  EXPECT_EQ(stages(s.advance(500)), std::set<int>{5});
}

TEST(Scheduler, TellsTheListenerOfWakeUpsFromOutside) {
  Scheduler s;
  int calls = 0;
  s.set_listener([](void* context) { ++*static_cast<int*>(context); }, &calls);
  s.wake(1, 3);
  EXPECT_EQ(calls, 0);
  s.wake_from_outside(2, 3);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(s.next(), 3u);
}

}  // namespace
