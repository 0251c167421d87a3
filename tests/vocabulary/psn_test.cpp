#include "hw/bus/psn.hpp"

#include <gtest/gtest.h>

namespace {

using hw::Psn;

constexpr uint64_t kPsns = uint64_t(1) << 24;

// All 2^24 distances from PSNs on both sides of the wrap and of the window's end.
TEST(Psn, OrderIsASignedDistanceModulo24Bits) {
  for (uint64_t from : {uint64_t(0), uint64_t(1), kPsns - 1, kPsns / 2, kPsns / 2 - 1, uint64_t(0x123456)}) {
    const Psn o(from);
    uint64_t wrong = 0;
    for (uint64_t ahead = 0; ahead < kPsns; ahead++) {
      const Psn psn((from + ahead) % kPsns);
      wrong += psn.distance(o).u64() != ahead;
      wrong += psn.before(o) != (ahead >= kPsns / 2);
      wrong += (psn == o) != (ahead == 0);
      wrong += (psn != o) != (ahead != 0);
    }
    EXPECT_EQ(wrong, 0u) << "from PSN " << from;
  }
}

TEST(Psn, NextAndPreviousGoRound) {
  uint64_t wrong = 0;
  for (uint64_t psn = 0; psn < kPsns; psn++) {
    wrong += Psn(psn).next() != Psn((psn + 1) % kPsns);
    wrong += Psn(psn).previous() != Psn((psn + kPsns - 1) % kPsns);
    wrong += !Psn(psn).before(Psn(psn).next()) || Psn(psn).before(Psn(psn).previous());
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Psn, TakesTheLower24Bits) {
  EXPECT_EQ(Psn(kPsns + 5), Psn(5));
  EXPECT_EQ(Psn(), Psn(0));
}

}  // namespace
