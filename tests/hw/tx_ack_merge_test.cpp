#include <deque>
#include <map>

#include "hw/tx/ack_merge.hpp"
#include "sleeper.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::Cycles;
using hw::Psn;
using hw::RxAck;

constexpr uint64_t kAck = 0x1f, kRnr = 0x2e, kNak = 0x60, kInvalid = 0x61, kAccess = 0x62;

RxAck ack(uint32_t qpn, uint32_t psn, uint64_t syndrome = kAck, uint32_t msn = 0) {
  RxAck a;
  a.qpn = hw::Qpn(qpn);
  a.psn = Psn(psn);
  a.syndrome = Bits<8>(syndrome);
  a.msn = Bits<24>(msn);
  return a;
}

struct Queue {
  hw::tx::AckMerge stage;
  hls::stream<RxAck> in;
  hls::stream<RxAck> out;
  explicit Queue(unsigned room = 2) {
    test::configure(in, "in", 4);
    test::configure(out, "out", room);
  }
  void step() { stage.step(in, out); }
};

// What waits, by QP, and in which order QPs came. Told what was taken and what left, cycle by cycle.
struct Model {
  std::map<uint64_t, RxAck> waiting;
  std::deque<uint64_t> order;
  uint64_t merged = 0;

  void cycle(const RxAck* taken, const RxAck* left) {
    if (left && waiting.empty()) {
      ASSERT_TRUE(taken) << "nothing waited";
      ASSERT_EQ(test::text(*left), test::text(*taken));
      return;
    }
    if (left) {
      ASSERT_EQ(left->qpn.u64(), order.front());
      ASSERT_EQ(test::text(*left), test::text(waiting[order.front()]));
      waiting.erase(order.front());
      order.pop_front();
    }
    if (taken) keep(*taken);
  }
  void keep(const RxAck& a) {
    const auto found = waiting.find(a.qpn.u64());
    if (found == waiting.end()) {
      waiting[a.qpn.u64()] = a;
      order.push_back(a.qpn.u64());
      return;
    }
    merged++;
    RxAck& old = found->second;
    const int32_t ahead = int32_t(uint32_t(a.psn.v.u64() - old.psn.v.u64()) << 8) >> 8;
    const bool fatal = old.syndrome.u64() > kNak, behind = ahead < 0 && a.syndrome.u64() <= kNak;
    if (!fatal && !behind) old = a;
  }
};

RxAck random_ack(std::mt19937_64& random) {
  const uint64_t r = random() % 20;
  return ack(uint32_t(random() % 12), uint32_t(0xfffff8 + random() % 16) & 0xffffff,
             r < 13   ? kAck
             : r < 17 ? kNak
             : r < 19 ? kRnr
                      : kInvalid + random() % 3,
             uint32_t(random()));
}

TEST(TxAckMerge, FollowsTheModelUnderRandomTrafficAndStalls) {
  uint64_t merged = 0;
  for (const unsigned source_percent : {100u, 50u, 10u}) {
    for (const unsigned sink_percent : {100u, 50u, 20u, 3u}) {
      test::Bench bench(source_percent * 7 + sink_percent);
      Queue q;
      std::vector<RxAck> acks;
      for (int i = 0; i < 5000; i++) acks.push_back(random_ack(bench.random()));
      test::Source<RxAck> source(bench, q.in, acks, source_percent);
      test::Sink<RxAck> sink(bench, q.out, sink_percent);
      Model model;
      size_t taken = 0;
      for (Cycles rest = 0; rest < 2000; rest += source.done())
        bench.tick([&] {
          q.step();
          const bool took = q.in.last_read() == bench.now(), wrote = q.out.last_write() == bench.now();
          model.cycle(took ? &acks[taken++] : nullptr, wrote ? &q.out.newest() : nullptr);
        });
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_EQ(taken, acks.size());
      EXPECT_TRUE(model.waiting.empty());
      EXPECT_EQ(q.stage.held(), 0u);
      EXPECT_EQ(q.stage.merged.v.u64(), model.merged);
      merged += model.merged;
    }
  }
  EXPECT_GT(merged, 1000u);
}

TEST(TxAckMerge, MergeRules) {
  struct Case {
    RxAck first, second;
    bool second_wins;
  } const cases[] = {
      {ack(1, 5), ack(1, 6), true},
      {ack(1, 0xffffff), ack(1, 0), true},
      {ack(1, 5), ack(1, 6, kNak), true},
      {ack(1, 5), ack(1, 6, kAccess), true},
      {ack(1, 5, kNak), ack(1, 4), false},  // behind the gap: the NAK acknowledges it
      {ack(1, 0, kNak), ack(1, 0xffffff), false},
      {ack(1, 5, kNak), ack(1, 5), true},  // the gap is closed
      {ack(1, 5, kNak), ack(1, 6), true},
      {ack(1, 0xffffff, kNak), ack(1, 0), true},
      {ack(1, 5, kNak), ack(1, 9, kNak), true},
      {ack(1, 9, kNak), ack(1, 5, kNak), false},  // overtaken on the way
      {ack(1, 9), ack(1, 5), false},
      {ack(1, 9), ack(1, 5, kNak), false},
      {ack(1, 5), ack(1, 6, kRnr), true},
      {ack(1, 6, kRnr), ack(1, 5), false},
      {ack(1, 6, kRnr), ack(1, 6), true},
      {ack(1, 6, kRnr), ack(1, 6, kInvalid), true},
      {ack(1, 6, kRnr), ack(1, 5, kInvalid), true},  // the QP is in error, whatever came before
      {ack(1, 5, kNak), ack(1, 7, kInvalid), true},
      {ack(1, 5, kAccess), ack(1, 6), false},
      {ack(1, 5, kAccess), ack(1, 6, kNak), false},
      {ack(1, 5, kInvalid), ack(1, 6, kAccess), false},
  };
  for (const Case& c : cases) {
    test::Bench bench;
    Queue q(1);
    test::Source<RxAck> source(bench, q.in, {ack(2, 0), c.first, c.second});
    bench.run(10, [&] { q.step(); });  // that of QP 2 blocks the output, the others meet
    test::Sink<RxAck> sink(bench, q.out);
    bench.run(20, [&] { q.step(); });
    ASSERT_EQ(sink.tokens.size(), 2u);
    EXPECT_EQ(test::text(sink.tokens[1]), test::text(c.second_wins ? c.second : c.first))
        << test::text(c.first) << "then " << test::text(c.second);
    EXPECT_EQ(q.stage.merged.v.u64(), 1u);
  }
}

TEST(TxAckMerge, PassesInTheCycleInWhichItIsTakenWhenNothingWaits) {
  test::Bench bench;
  Queue q;
  std::vector<RxAck> acks;
  for (uint32_t i = 0; i < 50; i++) acks.push_back(ack(3, i));
  test::Source<RxAck> source(bench, q.in, acks);
  test::Sink<RxAck> sink(bench, q.out);
  bench.run(60, [&] { q.step(); });
  ASSERT_EQ(sink.tokens.size(), 50u);
  for (size_t i = 0; i < 50; i++) {
    EXPECT_EQ(source.cycles[i], i);
    EXPECT_EQ(sink.cycles[i], i + 2);
  }
  EXPECT_EQ(q.stage.merged.v.u64(), 0u);
}

TEST(TxAckMerge, TakesOneACycleWhileTheOutputIsBlocked) {
  test::Bench bench;
  Queue q;
  std::vector<RxAck> acks;
  for (uint32_t i = 0; i < 200; i++) acks.push_back(ack(i % 40, i));
  test::Source<RxAck> source(bench, q.in, acks);
  bench.run(205, [&] { q.step(); });
  ASSERT_TRUE(source.done());
  for (size_t i = 0; i < 200; i++) EXPECT_EQ(source.cycles[i], i);
  EXPECT_EQ(q.stage.held(), 40u);
}

// Input and output press at the same time: each has every second cycle.
TEST(TxAckMerge, InputAndOutputTakeTurns) {
  test::Bench bench;
  Queue q;
  std::vector<RxAck> acks;
  for (uint32_t i = 0; i < 400; i++) acks.push_back(ack(i, i));
  test::Source<RxAck> source(bench, q.in, acks);
  bench.run(100, [&] { q.step(); });
  test::Sink<RxAck> sink(bench, q.out);
  bench.run(20, [&] { q.step(); });
  const size_t first_out = sink.tokens.size(), first_in = source.cycles.size();
  bench.run(200, [&] { q.step(); });
  EXPECT_EQ(sink.tokens.size(), first_out + 100);
  EXPECT_EQ(source.cycles.size(), first_in + 100);
}

// Between two packets of a ring that drains lie the request of its next head and the request of that QP's row.
TEST(TxAckMerge, DrainsEverySecondCycle) {
  test::Bench bench;
  Queue q;
  std::vector<RxAck> acks;
  for (uint32_t i = 0; i < 40; i++) acks.push_back(ack(i, i));
  test::Source<RxAck> source(bench, q.in, acks);
  bench.run(60, [&] { q.step(); });
  test::Sink<RxAck> sink(bench, q.out);
  bench.run(100, [&] { q.step(); });
  ASSERT_EQ(sink.tokens.size(), 40u);
  for (size_t i = 4; i < 40; i++) EXPECT_EQ(sink.cycles[i], sink.cycles[3] + 2 * (i - 3));
}

TEST(TxAckMerge, SleepingChangesNothing) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    test::Bench bench(seed);
    Queue every, sleeping;
    test::Sleeper<hw::tx::AckMerge, RxAck, RxAck> sleeper(sleeping.stage, sleeping.in, sleeping.out);
    std::vector<std::string> sent_every, sent_sleeping;
    const auto drain = [&](Queue& q, std::vector<std::string>& log, bool takes) {
      if (takes && !q.out.empty()) log.push_back(std::to_string(bench.now()) + " " + test::text(q.out.read()));
    };
    for (int i = 0; i < 20000; i++) {
      const bool offer = bench.chance(i % 2000 < 1000 ? 40 : 3), takes = bench.chance(seed % 2 ? 30 : 90);
      const bool spurious = bench.chance(3);
      const RxAck a = random_ack(bench.random());
      bench.tick([&] {
        every.step();
        sleeper.cycle(bench.now(), spurious);
        drain(every, sent_every, takes);
        drain(sleeping, sent_sleeping, takes);
        if (offer && !every.in.full() && !sleeping.in.full()) {
          every.in.write(a);
          sleeping.in.write(a);
        }
      });
    }
    EXPECT_TRUE(sent_every == sent_sleeping);
    EXPECT_GT(sent_every.size(), 1000u);
    EXPECT_LT(sleeper.calls, 20000u);
  }
}

}  // namespace
