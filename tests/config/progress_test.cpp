#include "sim/report/progress.hpp"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Progress, OneLine) {
  const Progress progress = {1234567890, 308641, 0.125, 250000000, 12345, "nic0.rx.payload_in", 60, 64};
  EXPECT_EQ(progress_line(progress),
            "1.235 ms simulated, 2.47 Mcycle/s (101x slower than hardware), 12345 packets, nic0.rx.payload_in 60/64");
}

TEST(Progress, BeforeTheFirstCycle) {
  EXPECT_EQ(progress_line(Progress()), "0.000 ms simulated, 0 packets");
}

}  // namespace
}  // namespace sim
