// The kernel without SystemC: sleeping, exact skipping, order independence, discipline, the graph and the reports.
#include "sim/kernel/domain.hpp"

#include <gtest/gtest.h>

#include "hw/bus/counter.hpp"
#include "sim/kernel/elaborate.hpp"

namespace {

using hw::Bits;
using hw::Cycles;
using Word = Bits<32>;
using Stream = hls::stream<Word>;

// A timer: a token every `period` cycles, later when the output is full.
struct Pacer {
  uint64_t period = 13;
  uint64_t count = 0, value = 0;
  void step(Stream& out) {
    if (count + 1 < period) {
      count++;
      return;
    }
    if (out.full()) return;
    out.write(Word(value++));
    count = 0;
  }
  Cycles quiet() const { return period - 1 - count; }
  void skip(Cycles n) { count = std::min(count + n, period - 1); }
};

// Passes every token on after having held it for one cycle in a register.
struct Relay {
  Word token;
  bool busy = false;
  void step(Stream& in, Stream& out) {
    if (busy && !out.full()) {
      out.write(token);
      busy = false;
    }
    if (!busy && !in.empty()) {
      token = in.read();
      busy = true;
    }
  }
};

// A relay that tells what it holds at the end of a run.
struct Holder : Relay {
  uint64_t held() const { return busy; }
};

// Takes a token in every cycle divisible by `every` and writes down when.
struct Log {
  uint64_t every = 1;
  std::vector<std::pair<Cycles, uint64_t>> seen;
  void step(Stream& in) {
    const Cycles cycle = hw::world().now;
    if (cycle % every != 0 || in.empty()) return;
    seen.emplace_back(cycle, in.read().u64());
  }
  Cycles quiet() const { return every == 1 ? hw::kForever : every - 1 - hw::world().now % every; }
};

struct Chain {
  sim::Domain domain;
  sim::Elaboration e{"nic", 512, domain};
  Stream a, b;
  Pacer pacer;
  Relay relay;
  Log log;
  explicit Chain(const sim::DomainOptions& o, uint64_t every = 1) : domain(o) {
    log.every = every;
    e.stream(a, "a", 2, hw::Kind::reg);
    e.stream(b, "b", 3, hw::Kind::bram_fast);
    e.stage(pacer, "pacer", hw::out(a));
    e.stage(relay, "relay", hw::in(a), hw::out(b));
    e.stage(log, "log", hw::in(b));
  }
};

TEST(Domain, TokensArriveInTheExactCycles) {
  Chain chain{sim::DomainOptions{}};
  chain.domain.run(60);
  // The pacer writes in 12, 25, 38, ...; readable 2 later (depth 2); the relay holds one cycle; depth 2 + latency 1.
  ASSERT_EQ(chain.log.seen.size(), 4u);
  for (size_t i = 0; i < chain.log.seen.size(); i++) {
    EXPECT_EQ(chain.log.seen[i].first, 12 + 13 * i + 2 + 1 + 3);
    EXPECT_EQ(chain.log.seen[i].second, i);
  }
}

TEST(Domain, SleepingShufflingAndEveryCycleAgree) {
  for (uint64_t every : {1, 2, 7, 40}) {
    Chain plain{sim::DomainOptions{}, every};
    plain.domain.run(5000);
    ASSERT_GT(plain.log.seen.size(), 100u);
    for (int mode = 1; mode < 4; mode++) {
      sim::DomainOptions o;
      o.every_cycle = mode & 1;
      o.shuffle = mode & 2;
      o.seed = uint64_t(mode) + every;
      Chain other{o, every};
      for (Cycles end = 0; end <= 5000; end += 1 + Cycles(mode)) other.domain.run(end);
      other.domain.run(5000);
      EXPECT_EQ(plain.log.seen, other.log.seen) << "mode " << mode << ", sink every " << every;
    }
  }
}

TEST(Domain, SleepersAreNotCalled) {
  Chain chain{sim::DomainOptions{}};
  chain.domain.run(13000);
  // 1000 tokens: the pacer steps twice a token (write, then the step after it).
  EXPECT_LE(chain.domain.stages()[0].calls, 2002u);
  EXPECT_LE(chain.domain.cycles_run(), 9 * 1000u);
}

// Farther apart than the scheduler's wheel is long, closer together, and both mixed: every token is read in the first
// cycle in which it is readable.
TEST(Domain, TokensFarOnTheirWayAllWakeTheReader) {
  for (const unsigned depth : {1u, 2u, 63u, 64u, 65u, 200u})
    for (const uint64_t period : {1u, 2u, 5u, 63u, 64u, 70u, 150u}) {
      sim::Domain domain{sim::DomainOptions{}};
      sim::Elaboration e{"nic", 512, domain, {{"pacer", depth}}};
      Stream a;
      Pacer pacer;
      pacer.period = period;
      Log log;
      e.stream(a, "a", 256, hw::Kind::reg);
      e.stage(pacer, "pacer", hw::out(a));
      e.stage(log, "log", hw::in(a));
      domain.run(3000);
      ASSERT_EQ(log.seen.size(), (3000 - depth) / period) << "depth " << depth << ", period " << period;
      for (size_t i = 0; i < log.seen.size(); i++) ASSERT_EQ(log.seen[i].first, period * (i + 1) - 1 + depth);
    }
}

TEST(Domain, FarDeadlinesAreExact) {
  sim::Domain domain{sim::DomainOptions{}};
  sim::Elaboration e{"nic", 512, domain};
  Stream a;
  Pacer pacer;
  pacer.period = 1000003;
  Log log;
  e.stream(a, "a", 4, hw::Kind::reg);
  e.stage(pacer, "pacer", hw::out(a));
  e.stage(log, "log", hw::in(a));
  domain.run(10000000);
  ASSERT_EQ(log.seen.size(), 9u);
  for (size_t i = 0; i < 9; i++) EXPECT_EQ(log.seen[i].first, 1000003 * (i + 1) - 1 + 2);
  EXPECT_LT(domain.cycles_run(), 100u);
}

struct Greedy {
  void step(Stream& in) {
    if (in.empty()) return;
    in.read();
    in.read();
  }
};
struct Careless {
  void step(Stream& out) { out.write(Word(1)); }
};
struct Thief {
  Stream* foreign;
  void step(Stream&) {
    if (!foreign->empty()) foreign->read();
  }
};

TEST(DomainDeathTest, DisciplineIsCheckedAndTheOffenderNamed) {
  sim::Domain domain{sim::DomainOptions{}};
  sim::Elaboration e{"nic", 512, domain};
  Stream a;
  e.stream(a, "a", 4, hw::Kind::reg);
  Careless careless;
  e.stage(careless, "careless", hw::out(a));
  EXPECT_DEATH(domain.run(100), "nic.careless: write while full on nic.a in cycle 4");

  Greedy greedy;
  e.stage(greedy, "greedy", hw::in(a));
  EXPECT_DEATH(domain.run(100), "nic.greedy: second read in a step on nic.a");
}

TEST(DomainDeathTest, AStrangerAtAStreamIsNamed) {
  sim::DomainOptions o;
  o.every_cycle = true;
  sim::Domain domain{o};
  sim::Elaboration e{"nic", 512, domain};
  Stream a, b;
  Pacer pacer;
  Log log;
  Thief thief{&a};
  e.stream(a, "a", 4, hw::Kind::reg);
  e.stage(pacer, "pacer", hw::out(a));
  e.stage(thief, "thief", hw::in(b));
  e.stage(log, "log", hw::in(a));
  EXPECT_DEATH(domain.run(100), "nic.thief: read by a stranger on nic.a");
}

TEST(Elaboration, SmallStreamsAreWarnedAbout) {
  Chain chain{sim::DomainOptions{}};
  const auto lines = sim::throughput_warnings(chain.e.streams());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "nic.a: capacity 2 allows 0.67 tokens a cycle, 3 would allow 1");
  EXPECT_EQ(lines[1], "nic.b: capacity 3 allows 0.75 tokens a cycle, 4 would allow 1");
}

TEST(Elaboration, ACycleOfWaitingIsFoundUnlessIndependent) {
  for (bool independent : {false, true}) {
    sim::Domain domain{sim::DomainOptions{}};
    sim::Elaboration e{"nic", 512, domain};
    Stream a, b;
    Relay one, two;
    e.stream(a, "a", 4, hw::Kind::reg);
    e.stream(b, "b", 4, hw::Kind::reg);
    e.stage(one, "one", hw::in(a), hw::out(b));
    e.stage(two, "two", hw::in(b), hw::out(a));
    if (independent) e.independent(b, a);
    const auto cycle = sim::wait_cycle(domain, e);
    EXPECT_EQ(cycle.size(), independent ? 0u : 2u);
  }
}

TEST(Elaboration, LeftoversAndWaitersAreNamed) {
  sim::Domain domain{sim::DomainOptions{}};
  sim::Elaboration e{"nic", 512, domain};
  Stream a, b;
  Pacer pacer;
  Holder relay;
  e.stream(a, "a", 2, hw::Kind::reg);
  e.stream(b, "b", 2, hw::Kind::reg);
  e.stage(pacer, "pacer", hw::out(a));
  e.stage(relay, "relay", hw::in(a), hw::out(b));
  domain.run(1000);
  EXPECT_EQ(sim::leftovers(domain, e.streams()),
            (std::vector<std::string>{"stream nic.a (2 of 2) is not empty", "stream nic.b (2 of 2) is not empty",
                                      "stage nic.relay still holds 1"}));
  EXPECT_EQ(sim::waiting(domain),
            (std::vector<std::string>{"nic.relay does not take nic.a (2 of 2); it waits for room in nic.b (2 of 2)"}));
}

}  // namespace
