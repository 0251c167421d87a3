#include <map>

#include "hw/tables/timer.hpp"
#include "sleeper.hpp"

namespace {

using hw::Bits;
using hw::Cycles;
using hw::TimerCommand;
using hw::TimerExpired;

TimerCommand start(uint32_t qpn, unsigned exponent, bool start = true) {
  TimerCommand c;
  c.qpn = hw::Qpn(qpn);
  c.start = Bits<1>(start);
  c.exponent = Bits<5>(exponent);
  return c;
}
TimerCommand stop(uint32_t qpn) {
  return start(qpn, 3, false);
}

std::vector<TimerCommand> random_commands(std::mt19937_64& random, size_t count, uint32_t qps, unsigned max_exponent) {
  std::vector<TimerCommand> commands;
  for (size_t i = 0; i < count; i++)
    commands.push_back(start(uint32_t(random() % qps), unsigned(random() % (max_exponent + 1)), random() % 5 != 0));
  return commands;
}

// A timer with its streams.
struct Timed {
  hw::tables::Timer timer;
  hls::stream<TimerCommand> in;
  hls::stream<TimerExpired> fired;
  explicit Timed(uint32_t qps, uint32_t unit) {
    timer.params.qps = qps;
    timer.params.unit_cycles = unit;
    test::configure(in, "in", 4);
    test::configure(fired, "fired", 2);
  }
  void step() { timer.step(in, fired); }
};

// Checks each expiry as it leaves against the deadlines in plain integers; `delays_` counts the cycles by which
// commands and a full output may make a scan longer.
struct Deadlines {
  explicit Deadlines(const std::vector<TimerCommand>& commands, uint32_t unit) : commands_(commands), unit_(unit) {}

  void watch(Timed& t, Cycles now) {
    const bool commanded = t.in.last_read() == now;
    if (commanded || t.fired.full()) delays_++;
    if (t.fired.last_write() == now) fire(t.fired.newest().qpn.u64(), now, t.timer.params.qps);
    if (commanded) take(commands_[next_++], now);
  }
  bool all_taken() const { return next_ == commands_.size(); }
  size_t running() const { return running_.size(); }
  uint64_t fired = 0;

 private:
  struct Running {
    Cycles deadline;
    uint64_t delays;  // until it was started
  };
  void fire(uint64_t qpn, Cycles now, Cycles scan) {
    ASSERT_TRUE(running_.count(qpn)) << "fired without a start: " << qpn;
    const Running& r = running_[qpn];
    EXPECT_GE(now, r.deadline) << "early";
    EXPECT_LE(now, r.deadline + 2 + 2 * scan + (delays_ - r.delays)) << "late";
    running_.erase(qpn);
    fired++;
  }
  void take(const TimerCommand& c, Cycles now) {
    running_.erase(c.qpn.u64());
    if (bool(c.start) && c.exponent.u64() != 0)
      running_[c.qpn.u64()] = Running{now + (Cycles(unit_) << c.exponent.u64()), delays_};
  }
  std::vector<TimerCommand> commands_;
  uint32_t unit_;
  size_t next_ = 0;
  uint64_t delays_ = 0;
  std::map<uint64_t, Running> running_;
};

TEST(Timer, NeverEarlyAndWithinOneScanUnderRandomCommandsAndStalls) {
  for (const unsigned command_percent : {100u, 20u, 2u}) {
    for (const unsigned sink_percent : {100u, 10u}) {
      test::Bench bench(command_percent + sink_percent);
      Timed t(48, 4);
      const std::vector<TimerCommand> commands = random_commands(bench.random(), 4000, 48, 7);
      test::Source<TimerCommand> source(bench, t.in, commands, command_percent);
      test::Sink<TimerExpired> sink(bench, t.fired, sink_percent);
      Deadlines deadlines(commands, 4);
      for (Cycles rest = 0; rest < 3000; rest += deadlines.all_taken())
        bench.tick([&] {
          t.step();
          deadlines.watch(t, bench.now());
        });
      EXPECT_EQ(deadlines.running(), 0u) << "never fired";
      EXPECT_GT(deadlines.fired, 40u);
      EXPECT_EQ(t.timer.expired.v.u64(), deadlines.fired);
    }
  }
}

TEST(Timer, OneTimeoutFiresInTheExactCycle) {
  for (const uint32_t qpn : {0u, 1u, 13u, 47u}) {
    for (const unsigned exponent : {1u, 2u, 5u}) {
      test::Bench bench;
      Timed t(48, 4);
      t.in.write(start(qpn, exponent));  // taken in cycle 1
      test::Sink<TimerExpired> sink(bench, t.fired);
      bench.run(400, [&] { t.step(); });
      ASSERT_EQ(sink.tokens.size(), 1u);
      EXPECT_EQ(sink.tokens[0].qpn.u64(), qpn);
      // The scan begins in the cycle after the deadline and compares row i in the (1 + 2i)th cycle after that.
      EXPECT_EQ(sink.cycles[0] - 1, 1 + (Cycles(4) << exponent) + 3 + 2 * qpn);
    }
  }
}

TEST(Timer, WhatHasExpiredCausesNoFurtherScan) {
  test::Bench bench;
  Timed t(16, 4);
  t.in.write(start(3, 1));  // taken in cycle 1, due in 9, scanned until 42
  test::Sink<TimerExpired> sink(bench, t.fired);
  bench.run(43, [&] { t.step(); });
  EXPECT_EQ(sink.tokens.size(), 1u);
  EXPECT_EQ(t.timer.quiet(), hw::kForever);
}

TEST(Timer, ExponentZeroAndStopMeanNever) {
  test::Bench bench;
  Timed t(16, 4);
  test::Source<TimerCommand> source(bench, t.in, {start(1, 4), start(2, 4), start(1, 0), stop(2), start(3, 0)});
  test::Sink<TimerExpired> sink(bench, t.fired);
  bench.run(500, [&] { t.step(); });
  EXPECT_TRUE(source.done());
  EXPECT_TRUE(sink.tokens.empty());
}

TEST(Timer, CommandsDoNotWaitForTheOutput) {
  test::Bench bench;
  Timed t(16, 1);
  std::vector<TimerCommand> commands;
  for (uint32_t i = 0; i < 8; i++) commands.push_back(start(i, 1));
  for (uint32_t i = 0; i < 200; i++) commands.push_back(start(8 + i % 8, 2));
  test::Source<TimerCommand> source(bench, t.in, commands);
  bench.run(230, [&] { t.step(); });  // nobody reads what has fired
  EXPECT_TRUE(source.done());
  EXPECT_TRUE(t.fired.full());
}

TEST(Timer, ACommandWaitsOneCycleAtMost) {
  test::Bench bench;
  Timed t(16, 1);
  std::vector<TimerCommand> commands;
  for (uint32_t i = 0; i < 400; i++) commands.push_back(start(i % 16, 1));
  test::Source<TimerCommand> source(bench, t.in, commands);
  test::Sink<TimerExpired> sink(bench, t.fired);
  Cycles waited = 0;
  for (int i = 0; i < 820; i++)
    bench.tick([&] {
      const bool waits = !t.in.empty();
      t.step();
      waited = waits && t.in.last_read() != bench.now() ? waited + 1 : 0;
      EXPECT_LE(waited, 1u);
    });
  EXPECT_TRUE(source.done());
  EXPECT_GT(sink.tokens.size(), 20u) << "the scan must get its turn, too";
}

using Sleeper = test::Sleeper<hw::tables::Timer, TimerCommand, TimerExpired>;

TEST(Timer, SkippedStepsEqualStepsThatWereMade) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    test::Bench bench(seed);
    const uint32_t qps = seed % 3 == 0 ? 64 : 37, unit = seed % 2 ? 3 : 64;
    Timed every(qps, unit), sleeping(qps, unit);
    const unsigned sink_percent = seed % 4 == 0 ? 20 : 100;
    Sleeper sleeper(sleeping.timer, sleeping.in, sleeping.fired);
    std::vector<std::pair<Cycles, uint64_t>> fired_every, fired_sleeping;
    const auto drain = [&](Timed& t, std::vector<std::pair<Cycles, uint64_t>>& log, bool takes) {
      if (takes && !t.fired.empty()) t.fired.read();
      if (t.fired.last_write() == bench.now()) log.emplace_back(bench.now(), t.fired.newest().qpn.u64());
    };
    for (int i = 0; i < 60000; i++) {
      const bool command = bench.chance(i % 2000 < 1000 ? 10 : 1);
      const TimerCommand c = random_commands(bench.random(), 1, qps, 7)[0];
      const bool takes = bench.chance(sink_percent), spurious = bench.chance(3);
      bench.tick([&] {
        every.step();
        sleeper.cycle(bench.now(), spurious);
        drain(every, fired_every, takes);
        drain(sleeping, fired_sleeping, takes);
        if (command && !every.in.full()) {
          every.in.write(c);
          sleeping.in.write(c);
        }
      });
    }
    EXPECT_EQ(fired_every, fired_sleeping);
    EXPECT_GT(fired_every.size(), 100u);
    EXPECT_LT(sleeper.calls, 60000u);
  }
}

// One second at 250 MHz: the stage is called for what happens, not for the time that passes.
TEST(Timer, RunningTimersCostNothingUntilOneExpires) {
  test::Bench bench;
  const Cycles second = 250000000;
  Timed t(512, 1024);
  Sleeper sleeper(t.timer, t.in, t.fired);
  for (uint32_t qpn = 0; qpn < 500; qpn++) {
    t.in.write(start(qpn, 14));
    for (int i = 0; i < 2; i++) {
      hw::world().now++;
      sleeper.cycle(hw::world().now);
    }
  }
  uint64_t fired = 0;
  while (hw::world().now < second) {
    hw::world().now = std::max(hw::world().now + 1, std::min(sleeper.wake, second));
    sleeper.cycle(hw::world().now);
    if (t.fired.empty()) continue;
    t.in.write(start(uint32_t(t.fired.read().qpn.u64()), 14));
    fired++;
  }
  EXPECT_EQ(fired, 500u * (second / (1024u << 14)));
  EXPECT_LT(sleeper.calls, 3 * fired);
}

}  // namespace
