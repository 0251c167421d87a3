// Rule 2, cycle by cycle.
#include "hw/bus/stream.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

namespace {

using hw::Clock;
using hw::Cycles;
using hw::Kind;
typedef hw::Bits<64> Token;
typedef hls::stream<Token> Stream;

const Kind kKinds[] = {Kind::reg, Kind::lutram, Kind::bram_fast, Kind::bram, Kind::uram};

// By the rule, not by the code under test.
Cycles latency(Kind kind) {
  return kind == Kind::bram_fast ? 1 : kind == Kind::bram ? 2 : kind == Kind::uram ? 3 : 0;
}

class Streams : public testing::Test {
 protected:
  void SetUp() override { hw::reset_world(0); }
};
typedef Streams StreamsDeathTest;

void set_up(Stream& s, unsigned capacity, Kind kind, unsigned depth) {
  s.configure(hw::StreamSpec{"s", capacity, kind});
  s.connect_writer(hw::StreamBase::End(), depth);
}

TEST_F(Streams, ATokenIsReadableAfterDepthAndLatency) {
  for (Kind kind : kKinds) {
    for (unsigned depth = 1; depth <= 6; depth++) {
      hw::world().now = 100;
      Stream s;
      set_up(s, 4, kind, depth);
      s.write(Token(7));
      for (; hw::world().now < 100 + depth + latency(kind); hw::world().now++) EXPECT_TRUE(s.empty());
      EXPECT_FALSE(s.empty());
      EXPECT_EQ(s.read(), Token(7));
    }
  }
}

TEST_F(Streams, CapacityCountsTokensInFlightAndASlotIsFreeTheCycleAfterTheRead) {
  for (Kind kind : kKinds) {
    for (unsigned capacity = 1; capacity <= 70; capacity++) {
      Stream s;
      set_up(s, capacity, kind, 1);
      for (unsigned i = 0; i < capacity; i++) {
        EXPECT_FALSE(s.full());
        s.write(Token(i));
        hw::world().now++;
      }
      EXPECT_TRUE(s.full());
      hw::world().now += 10;
      s.read();
      EXPECT_TRUE(s.full());
      hw::world().now++;
      EXPECT_FALSE(s.full());
      s.write(Token(0));
      hw::world().now++;
      EXPECT_TRUE(s.full());
      EXPECT_EQ(s.max_fill(), capacity);
    }
  }
}

TEST_F(Streams, NothingChangesWithinAStep) {
  Stream s;
  set_up(s, 1, Kind::reg, 1);
  s.write(Token(1));
  EXPECT_TRUE(s.empty());
  EXPECT_FALSE(s.full());
  hw::world().now++;
  s.read();
  EXPECT_FALSE(s.empty());
  EXPECT_TRUE(s.full());
  hw::world().now++;
  EXPECT_TRUE(s.empty());
  EXPECT_FALSE(s.full());
}

// Tokens that get through in a long run, writer and reader as eager as can be.
TEST_F(Streams, ThroughputIsCapacityOverTheRoundTrip) {
  for (Kind kind : kKinds) {
    for (unsigned depth = 1; depth <= 4; depth++) {
      for (unsigned capacity = 1; capacity <= 10; capacity++) {
        Stream s;
        set_up(s, capacity, kind, depth);
        const unsigned round_trip = unsigned(depth + latency(kind) + 1);
        const unsigned cycles = 1000 * round_trip;
        for (unsigned i = 0; i < cycles; i++) {
          if (!s.full()) s.write(Token(i));
          if (!s.empty()) s.read();
          hw::world().now++;
        }
        const unsigned expected = std::min(cycles, cycles / round_trip * capacity);
        EXPECT_LE(s.was_read(), expected);
        EXPECT_GE(s.was_read() + round_trip, expected);
      }
    }
  }
}

// A stream by the letter of the rule: all tokens with their cycles.
struct Reference {
  unsigned capacity;
  Cycles delay;
  std::deque<std::pair<Cycles, uint64_t>> tokens;  // ready cycle, value
  uint64_t held = 0;                               // at the start of the cycle

  bool full() const { return held == capacity; }
  bool empty(Cycles now) const { return tokens.empty() || tokens.front().first > now; }
};

TEST_F(Streams, FollowTheRuleUnderRandomStallsWhoeverIsCalledFirst) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    std::mt19937_64 random(seed);
    const Kind kind = kKinds[seed % 5];
    const unsigned capacity = 1 + unsigned(random() % 9), depth = 1 + unsigned(random() % 3);
    const unsigned write_percent = 20 + unsigned(random() % 81), read_percent = 20 + unsigned(random() % 81);
    Stream s;
    set_up(s, capacity, kind, depth);
    Reference r{capacity, depth + latency(kind), {}, 0};
    for (uint64_t i = 0; i < 2000; i++) {
      const Cycles now = hw::world().now;
      const bool r_full = r.full(), r_empty = r.empty(now);
      const bool reader_first = random() % 2;
      bool wrote = false, read = false;
      for (bool reader : {reader_first, !reader_first}) {
        ASSERT_EQ(s.full(), r_full) << "seed " << seed << " cycle " << now;
        ASSERT_EQ(s.empty(), r_empty) << "seed " << seed << " cycle " << now;
        if (reader && !r_empty && random() % 100 < read_percent) {
          ASSERT_EQ(s.read().u64(), r.tokens.front().second);
          read = true;
        } else if (!reader && !r_full && random() % 100 < write_percent) {
          s.write(Token(i));
          wrote = true;
        }
      }
      if (read) r.tokens.pop_front();
      if (wrote) r.tokens.emplace_back(now + r.delay, i);
      r.held = r.held + wrote - read;
      ASSERT_EQ(s.fill(), r.held);
      hw::world().now++;
    }
  }
}

// Two edges of the receiving clock, the first of them strictly later.
Cycles two_edges_after(const Clock& clock, hw::Picoseconds time) {
  Cycles edge = 0;
  while (clock.edge(edge) <= time) edge++;
  return edge + 1;
}

TEST_F(Streams, CrossingAClockTakesTwoEdgesEachWay) {
  const std::pair<uint64_t, uint64_t> rates[] = {{250000000, 322265625}, {322265625, 250000000}, {1000, 3000}, {7, 7}};
  for (const auto& rate : rates) {
    const Clock writer(rate.first), reader(rate.second);
    for (Cycles at = 0; at < 150; at++) {
      for (unsigned depth : {1u, 3u}) {
        Stream s;
        set_up(s, 1, Kind::lutram, depth);
        s.cross(writer, reader);
        hw::world().now = at;
        s.write(Token(1));
        const Cycles ready = two_edges_after(reader, writer.edge(at + depth));
        hw::world().now = ready - 1;
        EXPECT_TRUE(s.empty());
        hw::world().now = ready;
        ASSERT_FALSE(s.empty());
        s.read();
        const Cycles free = two_edges_after(writer, reader.edge(ready + 1));
        hw::world().now = free - 1;
        EXPECT_TRUE(s.full());
        hw::world().now = free;
        EXPECT_FALSE(s.full());
      }
    }
  }
}

// Writer and reader in their own clocks, in the order of time: every token once, in order, and the crossing sustains
// the slower clock.
TEST_F(Streams, CrossingKeepsOrderAtFullRate) {
  const Clock writer(322265625), reader(250000000);
  Stream s;
  set_up(s, 16, Kind::lutram, 1);
  s.cross(writer, reader);
  Cycles w = 0, r = 0;
  uint64_t sent = 0, got = 0;
  while (r < 10000) {
    if (writer.edge(w) <= reader.edge(r)) {
      hw::world().now = w++;
      if (!s.full()) s.write(Token(sent++));
    } else {
      hw::world().now = r++;
      if (s.empty()) continue;
      ASSERT_EQ(s.read().u64(), got++);
    }
  }
  EXPECT_GT(got, 9990u);
}

TEST_F(Streams, WakeTheReaderWhenReadableAndTheWriterWhenThereIsRoom) {
  hw::Scheduler scheduler;
  Stream s;
  s.configure(hw::StreamSpec{"s", 2, Kind::uram});
  s.connect_writer(hw::StreamBase::End{&scheduler, 1}, 2);
  s.connect_reader(hw::StreamBase::End{&scheduler, 2});
  const auto due = [&](Cycles cycle) {
    EXPECT_EQ(scheduler.next(), cycle);
    hw::world().now = cycle;
    return scheduler.advance(cycle).w[0];
  };
  scheduler.advance(0);
  s.write(Token(1));
  EXPECT_EQ(due(5), uint64_t(1) << 2);
  s.write(Token(2));
  s.read();  // was not full: nobody waits for room
  EXPECT_EQ(due(10), uint64_t(1) << 2);
  s.write(Token(3));
  hw::world().now = 11;
  s.read();
  EXPECT_EQ(due(12), uint64_t(1) << 1);
  EXPECT_EQ(due(15), uint64_t(1) << 2);
}

// Two credits come back while the writer's domain sleeps, far behind: it is woken for the first, and its look at a full
// stream asks for the second.
TEST_F(Streams, CrossingWakesTheWriterForEveryCredit) {
  const Clock writer(1000), reader(500);
  hw::Scheduler scheduler;
  scheduler.advance(0);
  Stream s;
  s.configure(hw::StreamSpec{"s", 2, Kind::reg});
  s.connect_writer(hw::StreamBase::End{&scheduler, 1}, 1);
  s.cross(writer, reader);
  for (Cycles at : {0, 1}) {
    hw::world().now = at;
    s.write(Token(at));
  }
  for (Cycles at : {100, 101}) {
    hw::world().now = at;
    s.read();
  }
  const Cycles first = two_edges_after(writer, reader.edge(101)), second = two_edges_after(writer, reader.edge(102));
  ASSERT_LT(first, second);
  ASSERT_EQ(scheduler.next(), first);
  scheduler.advance(hw::world().now = first);
  ASSERT_FALSE(s.full());
  s.write(Token(2));
  scheduler.advance(hw::world().now = first + 1);
  EXPECT_TRUE(s.full());
  EXPECT_EQ(scheduler.next(), second);
}

TEST_F(StreamsDeathTest, BreachesOfTheContractEnd) {
  Stream s;
  set_up(s, 2, Kind::reg, 1);
  EXPECT_DEATH(s.read(), "read while empty on s in cycle 0");
  EXPECT_DEATH((s.write(Token(1)), s.write(Token(2))), "second write in a step on s");
  s.write(Token(1));
  EXPECT_DEATH(s.read(), "read while empty");
  hw::world().now++;
  EXPECT_DEATH((s.read(), s.read()), "second read in a step on s");
  s.write(Token(2));
  hw::world().now++;
  EXPECT_DEATH(s.write(Token(3)), "write while full on s");
  hw::world().stage = 3;
  EXPECT_DEATH(s.read(), "read by a stranger");
}

}  // namespace
