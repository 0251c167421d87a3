#include "traces/psn_sequence.hpp"

#include <gtest/gtest.h>

namespace {

using traces::PacketClass;
using traces::PsnSequence;
using traces::SequenceStep;

constexpr int64_t kMicrosecond = 1000;

/// A sequence that begins at `start` and has seen the PSNs start + each of `seen`, ten microseconds apart.
struct Seen {
  explicit Seen(uint32_t start, std::initializer_list<uint32_t> seen) : start(start) {
    sequence.start(start);
    for (const uint32_t offset : seen) see(offset);
  }
  SequenceStep see(uint32_t offset, int64_t after_ns = 10 * kMicrosecond) {
    now += after_ns;
    return sequence.step((start + offset) & 0xffffff, 1, now);
  }
  void acknowledge(uint32_t offset) { sequence.acknowledge((start + offset) & 0xffffff); }
  void refuse(uint32_t offset) { sequence.refuse((start + offset) & 0xffffff); }

  uint32_t start;
  int64_t now = 0;
  PsnSequence sequence;
};

// Every case at the begin of the numbers, in the middle, and across the wrap.
class PsnSequenceAt : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Starts, PsnSequenceAt, testing::Values(0u, 0x700000u, 0xfffffeu, 0xffffffu));

TEST_P(PsnSequenceAt, InOrderIsNew) {
  Seen seen(GetParam(), {});
  for (uint32_t i = 0; i < 10; ++i) {
    const SequenceStep step = seen.see(i);
    EXPECT_EQ(step.packet_class, PacketClass::kNew);
    EXPECT_EQ(step.gap, 0u);
  }
  EXPECT_EQ(seen.sequence.next(), (GetParam() + 10) & 0xffffff);
}

TEST_P(PsnSequenceAt, AHoleThatANakNamesIsLostOnTheWire) {
  Seen seen(GetParam(), {0, 1, 3, 4});
  seen.refuse(2);
  const SequenceStep first = seen.see(2);
  EXPECT_EQ(first.packet_class, PacketClass::kRetransmission);
  EXPECT_TRUE(first.retry);
  EXPECT_TRUE(first.fills_hole);
  const SequenceStep second = seen.see(3);
  EXPECT_EQ(second.packet_class, PacketClass::kRetransmission);
  EXPECT_FALSE(second.retry);
  EXPECT_FALSE(second.fills_hole);
  seen.sequence.finish();
  EXPECT_EQ(seen.sequence.losses().wire, 1u);
  EXPECT_EQ(seen.sequence.losses().ranges, 1u);
  EXPECT_EQ(seen.sequence.losses().tap + seen.sequence.losses().unknown + seen.sequence.losses().behind, 0u);
}

TEST_P(PsnSequenceAt, AHoleThatARetryBeginsInIsLostOnTheWire) {
  Seen seen(GetParam(), {0, 1, 4});
  EXPECT_TRUE(seen.see(2, 2 * PsnSequence::kReorderWindow_ns).retry);
  seen.see(3);
  seen.see(4);
  EXPECT_EQ(seen.sequence.losses().wire, 2u);
  EXPECT_EQ(seen.sequence.losses().ranges, 1u);
}

TEST_P(PsnSequenceAt, AHoleThatARetryOnlyPassesOverIsUnknown) {
  Seen seen(GetParam(), {0, 1, 3});
  EXPECT_TRUE(seen.see(1, 2 * PsnSequence::kReorderWindow_ns).retry);
  seen.see(2);
  seen.see(3);
  EXPECT_EQ(seen.sequence.losses().wire, 0u);
  EXPECT_EQ(seen.sequence.losses().unknown, 1u);
}

TEST_P(PsnSequenceAt, AHoleThatAnAckCoversIsLostByTheTap) {
  Seen seen(GetParam(), {0, 1, 4, 5});
  seen.acknowledge(2);
  EXPECT_EQ(seen.sequence.losses().tap, 1u);
  seen.acknowledge(5);
  EXPECT_EQ(seen.sequence.losses().tap, 2u);
  EXPECT_EQ(seen.sequence.losses().ranges, 1u);
  EXPECT_FALSE(seen.sequence.has_holes());
}

TEST_P(PsnSequenceAt, AHoleThatNothingFollowsIsUnknown) {
  Seen seen(GetParam(), {0, 1, 3});
  seen.sequence.finish();
  EXPECT_EQ(seen.sequence.losses().unknown, 1u);
  EXPECT_EQ(seen.sequence.losses().wire + seen.sequence.losses().tap, 0u);
}

TEST_P(PsnSequenceAt, ANakOfWhatTheTapHasSeenIsALossBehindIt) {
  Seen seen(GetParam(), {0, 1, 2, 3});
  seen.refuse(2);
  seen.refuse(2);
  EXPECT_EQ(seen.sequence.losses().behind, 1u);
  seen.see(2);
  seen.refuse(2);
  EXPECT_EQ(seen.sequence.losses().behind, 2u) << "lost again after it was sent again";
}

TEST_P(PsnSequenceAt, ALatePacketIsOutOfOrderAndNotLost) {
  Seen seen(GetParam(), {0, 2, 3});
  const SequenceStep late = seen.see(1);
  EXPECT_EQ(late.packet_class, PacketClass::kOutOfOrder);
  EXPECT_EQ(seen.see(4).packet_class, PacketClass::kNew);
  seen.sequence.finish();
  EXPECT_EQ(seen.sequence.losses().ranges, 0u);
}

TEST_P(PsnSequenceAt, ALatePacketThatTurnsOutToBeARetryIsReclassified) {
  Seen seen(GetParam(), {0, 3, 4});
  EXPECT_EQ(seen.see(1).packet_class, PacketClass::kOutOfOrder);
  EXPECT_EQ(seen.see(2).packet_class, PacketClass::kOutOfOrder);
  const SequenceStep step = seen.see(3);
  EXPECT_EQ(step.packet_class, PacketClass::kRetransmission);
  EXPECT_TRUE(step.retry);
  EXPECT_EQ(step.reclassified, 2u);
  EXPECT_EQ(seen.sequence.losses().wire, 2u);
  EXPECT_EQ(seen.sequence.losses().ranges, 1u);
}

TEST_P(PsnSequenceAt, APacketThatARetryPassesOverWasLostAgain) {
  Seen seen(GetParam(), {0, 1, 2, 3, 4});
  EXPECT_TRUE(seen.see(1).retry);
  EXPECT_FALSE(seen.see(3).retry) << "2 is missing in the retry, which goes on";
  seen.refuse(2);
  EXPECT_TRUE(seen.see(2).retry);
  EXPECT_EQ(seen.sequence.losses().wire, 1u);
  EXPECT_EQ(seen.sequence.losses().behind, 0u);
}

TEST_P(PsnSequenceAt, TheSameRetryAgainIsAnotherOne) {
  Seen seen(GetParam(), {0, 1});
  EXPECT_TRUE(seen.see(1).retry);
  EXPECT_TRUE(seen.see(1).retry);
}

TEST_P(PsnSequenceAt, HolesBeyondThoseRememberedAreUnknown) {
  Seen seen(GetParam(), {0});
  for (uint32_t i = 2; i <= 40; i += 2) seen.see(i);  // 20 holes
  seen.sequence.finish();
  EXPECT_EQ(seen.sequence.losses().unknown, 20u);
  EXPECT_EQ(seen.sequence.losses().ranges, 20u);
}

TEST(PsnSequence, AReadUsesUpSeveralPsns) {
  PsnSequence sequence;
  sequence.start(10);
  sequence.step(10, 4, 0);
  EXPECT_EQ(sequence.next(), 14u);
  EXPECT_EQ(sequence.step(14, 1, 10).gap, 0u);
  EXPECT_EQ(sequence.step(12, 2, 20).packet_class, PacketClass::kRetransmission) << "the tail of the READ again";
}

}  // namespace
