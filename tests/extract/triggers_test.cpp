#include <gtest/gtest.h>

#include "sim/extract/extract.hpp"

namespace sim {
namespace {

// A WRITE that begins then, on an idle line, and is completed so much later.
ObservedMessage write_at(int64_t begun_ns, int64_t takes_ns = 1000) {
  ObservedMessage m;
  m.bytes = 64;
  m.begun_ns = m.sent_ns = begun_ns;
  m.completed_ns = begun_ns + takes_ns;
  m.follows_idle_line = true;
  return m;
}

std::vector<Trigger> triggers(const std::vector<ObservedMessage>& own, const std::vector<ObservedMessage>& peers = {}) {
  ObservedConnection c;
  c.messages = {own, peers};
  return triggers_of(c, 0, 0);
}

TEST(Triggers, OneAtATimeWithoutThinking) {
  for (const Trigger& t : triggers({write_at(0), write_at(2600), write_at(5200), write_at(7800)})) {
    EXPECT_EQ(t.depth, 1u);
    EXPECT_EQ(t.received, 0u);
    EXPECT_EQ(t.think_ns, 0);
  }
}

TEST(Triggers, ThinksBeyondTheTurnaround) {
  const auto t = triggers({write_at(0), write_at(2600), write_at(12000)});
  EXPECT_EQ(t[1].think_ns, 0) << "the fastest turnaround, 1600 ns, is the host's own";
  EXPECT_EQ(t[2].depth, 1u);
  EXPECT_EQ(t[2].think_ns, 12000 - 3600 - 1600);
}

// No NIC takes 20 us from a completion to the next request.
TEST(Triggers, WhoAlwaysTakesLongThinks) {
  const auto t = triggers({write_at(0), write_at(21000), write_at(42000)});
  EXPECT_EQ(t[1].think_ns, 20000 - 2500);
  EXPECT_EQ(t[2].think_ns, 20000 - 2500);
}

TEST(Triggers, DepthIsWhatIsUnderWay) {
  std::vector<ObservedMessage> own;
  for (int i = 0; i < 12; i++) {
    // Three at once, then each with the completion of the third before it.
    own.push_back(write_at(i / 3 * 4000 + i % 3 * 100, 2400));
    own.back().follows_idle_line = i % 3 == 0;
  }
  for (const Trigger& t : triggers(own)) EXPECT_EQ(t.depth, 3u);
}

TEST(Triggers, AFullLineTellsNoDepth) {
  std::vector<ObservedMessage> own;
  for (int i = 0; i < 50; i++) {
    own.push_back(write_at(i * 100));
    own.back().follows_idle_line = i == 0;
  }
  for (const Trigger& t : triggers(own)) EXPECT_EQ(t.depth, 0u);
}

TEST(Triggers, AnAnswerFollowsTheMessageOfThePeer) {
  const auto t = triggers({write_at(5000), write_at(15000)}, {write_at(3400), write_at(13400)});
  EXPECT_EQ(t[0].received, 1u);
  EXPECT_EQ(t[0].think_ns, 0);
  EXPECT_EQ(t[1].received, 2u);
  EXPECT_EQ(t[1].think_ns, 0);
}

TEST(Triggers, ReadsAndMessagesWithoutBytesShowNothingToThePeer) {
  std::vector<ObservedMessage> peers{write_at(3400), write_at(3400)};
  peers[0].kind = MessageKind::kRead;
  peers[1].bytes = 0;
  EXPECT_EQ(triggers({write_at(5000)}, peers)[0].received, 0u);
}

TEST(Triggers, WithoutACauseItIsTimeAfterThePostBefore) {
  auto first = write_at(700), second = write_at(9000);
  first.completed_ns.reset();
  const auto t = triggers({first, second});
  EXPECT_EQ(t[0].think_ns, 700);
  EXPECT_EQ(t[1].think_ns, 8300);
}

}  // namespace
}  // namespace sim
