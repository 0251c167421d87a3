#include "sim/extract/host_line.hpp"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(HostLine, IsIdleForWhatComesFirst) {
  HostLine line;
  HostLine::Turn turn = line.first_turn();
  line.packet(7000);
  EXPECT_TRUE(line.was_idle_since(turn));
}

TEST(HostLine, ConnectionsThatBeginOnABusyLineMayHaveWaited) {
  HostLine line;
  HostLine::Turn first = line.first_turn();
  line.packet(1000);
  line.was_idle_since(first);
  HostLine::Turn second = line.first_turn();
  line.packet(1100);
  EXPECT_FALSE(line.was_idle_since(second));
}

TEST(HostLine, APauseCountsForEveryConnectionUntilItSends) {
  HostLine line;
  HostLine::Turn a = line.first_turn(), b = a;
  line.packet(0);
  line.was_idle_since(a);
  line.packet(100);
  line.was_idle_since(b);
  line.packet(601);  // 501 ns behind the one before
  EXPECT_TRUE(line.was_idle_since(a));
  line.packet(700);
  EXPECT_TRUE(line.was_idle_since(b)) << "it had not sent since the pause";
  line.packet(800);
  EXPECT_FALSE(line.was_idle_since(b));
  line.packet(1300);
  EXPECT_FALSE(line.was_idle_since(a)) << "500 ns are no pause";
}

}  // namespace
}  // namespace sim
