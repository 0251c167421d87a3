// tx/work_queue: the packets of messages against IBTA's opcode table and a plain splitter, turns and credits by exact
// cycles, lives of a QP, and random traffic under stalls.
#include <set>

#include "work_queue_bench.hpp"

namespace {

using hw::Cycles;
using hw::kOpRead;
using hw::kOpSend;
using hw::kOpWrite;
using hw::Operation;
using test::work_request;
using test::WorkQueueBench;

TEST(WorkQueue, OpcodesAreThoseOfIbtaTable38) {
  const struct {
    Operation operation;
    bool immediate;
    uint64_t length;
    std::vector<uint64_t> opcodes;
  } cases[] = {
      {kOpSend, false, 0, {0x04}},
      {kOpSend, true, 256, {0x05}},
      {kOpSend, false, 257, {0x00, 0x02}},
      {kOpSend, true, 700, {0x00, 0x01, 0x03}},
      {kOpWrite, false, 256, {0x0a}},
      {kOpWrite, true, 0, {0x0b}},
      {kOpWrite, false, 1024, {0x06, 0x07, 0x07, 0x08}},
      {kOpWrite, true, 512, {0x06, 0x09}},
      {kOpRead, false, 0, {0x0c}},
      {kOpRead, false, 4097, {0x0c, 0x0c}},
      {kOpRead, true, 5, {0x0c}},
  };
  WorkQueueBench b;
  b.open_and_wait(5, 1);
  std::vector<uint64_t> want, got;
  for (const auto& c : cases) {
    hw::Wqe w = work_request(5, c.operation, c.length);
    w.has_immediate = hw::Bits<1>(c.immediate);
    b.post(w);
    want.insert(want.end(), c.opcodes.begin(), c.opcodes.end());
  }
  b.run_until_done(500);
  for (const hw::TxPacket& p : b.packets) got.push_back(p.opcode.u64());
  EXPECT_EQ(got, want);
  EXPECT_EQ(b.queue.work_requests.v.u64(), std::size(cases));
}

TEST(WorkQueue, SizesAroundEveryPmtu) {
  for (unsigned code = 1; code <= 5; code++) {
    const uint64_t pmtu = 128u << code;
    WorkQueueBench b(code);
    b.open_and_wait(7, code);
    uint64_t index = 0;
    for (const Operation operation : {kOpWrite, kOpSend, kOpRead})
      for (const bool immediate : {false, true})
        for (const uint64_t length : {uint64_t(0), uint64_t(1), pmtu - 1, pmtu, pmtu + 1, 2 * pmtu, 2 * pmtu + 1,
                                      15 * pmtu + 3, 16 * pmtu, 16 * pmtu + 1, 100 * pmtu - 1}) {
          hw::Wqe w = work_request(7, operation, length, index++);
          w.has_immediate = w.solicited = hw::Bits<1>(immediate);
          b.post(w);
        }
    b.run_until_done(5000);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(WorkQueue, LargestMessage) {
  WorkQueueBench b;
  b.delay = 1;
  b.open_and_wait(0, 5);
  b.post(work_request(0, kOpRead, uint64_t(1) << 31));
  b.run_until_done(400000);
  EXPECT_EQ(b.packets.size(), (uint64_t(1) << 31) / (16 * 4096));
}

// A READ request never takes more PSNs than can be in flight.
TEST(WorkQueue, ReadsAreCut) {
  for (const uint32_t read_psns : {1, 3, 16})
    for (const uint32_t window : {2, 16, 100})
      for (const uint32_t entries : {5, 100}) {
        WorkQueueBench b;
        b.queue.params.read_psns = read_psns;
        b.queue.params.window_packets = window;
        b.queue.params.entries = entries;
        b.open_and_wait(1, 1);
        uint64_t index = 0;
        for (const uint64_t psns : {1, 2, 3, 4, 15, 16, 17, 33}) b.post(work_request(1, kOpRead, psns * 256, index++));
        b.run_until_done(10000);
        const uint64_t cut = std::min(std::min(read_psns, window), entries);
        EXPECT_EQ(b.packets.back().psns.u64(), (33 - 1) % cut + 1);
        ASSERT_FALSE(HasFatalFailure());
      }
}

// 64 QPs, one with messages of 1 MB, the others of 4 KB: while all have work each has one of any 64 packets.
TEST(WorkQueue, TurnsAreFairByPacket) {
  WorkQueueBench b;
  for (uint64_t qpn = 0; qpn < 64; qpn++) b.open_and_wait(qpn, 5);
  for (int round = 0; round < 30; round++)
    for (uint64_t qpn = 0; qpn < 64; qpn++)
      if (qpn != 9 || round == 0) b.post(work_request(qpn, kOpWrite, qpn == 9 ? 1 << 20 : 4096, round));
  b.out_percent = 0;
  b.run(6000);
  b.out_percent = 100;
  b.run(64 * 29 * 3);
  ASSERT_GT(b.packets.size(), 64u * 28);
  for (size_t i = 64; i < 64 * 28; i++) EXPECT_EQ(b.packets[i].qpn.u64(), b.packets[i - 64].qpn.u64()) << i;
  std::set<uint64_t> one_round;
  for (size_t i = 64; i < 128; i++) one_round.insert(b.packets[i].qpn.u64());
  EXPECT_EQ(one_round.size(), 64u);
}

// Written in 0, taken in 1, served in 2; its turn from 3 to 5, read in 6.
TEST(WorkQueue, LatencyOfAnIdleQueue) {
  WorkQueueBench b;
  b.open_and_wait(3, 3);
  b.post(work_request(3, kOpWrite, 64));
  b.run(20);
  ASSERT_EQ(b.packets.size(), 1u);
  EXPECT_EQ(b.cycles[0] - b.posted[0], 6u);
}

// One packet every three cycles, its work request and its credit included: on one QP, on many, of any message size.
TEST(WorkQueue, ThreeCyclesAPacket) {
  for (const uint64_t qps : {1, 2, 3, 16})
    for (const uint64_t length : {64, 10 * 256}) {
      WorkQueueBench b;
      for (uint64_t qpn = 0; qpn < qps; qpn++) b.open_and_wait(qpn, 1);
      const unsigned messages = length == 64 ? 2000 : 200;
      for (unsigned i = 0; i < messages; i++) b.post(work_request(i % qps, kOpWrite, length, i));
      b.run_until_done(10000);
      ASSERT_EQ(b.packets.size(), 2000u);
      for (size_t i = 1; i < 2000; i++) ASSERT_EQ(b.cycles[i] - b.cycles[i - 1], 3u) << qps << " QPs, packet " << i;
    }
}

// A QP that lacks credit holds nobody up, and needs no more turns; its credit brings it back.
TEST(WorkQueue, NoQpWaitsForTheCreditOfAnother) {
  WorkQueueBench b;
  b.queue.params.window_packets = 4;
  b.open_and_wait(1, 1);
  b.open_and_wait(2, 1);
  b.gives_back = false;
  b.post(work_request(1, kOpWrite, 100 * 256));
  b.run(100);
  ASSERT_EQ(b.packets.size(), 4u);
  b.gives_back = true;
  b.delay = 1;
  for (int i = 0; i < 300; i++) b.post(work_request(2, kOpWrite, 64, i));
  b.run(1000);
  ASSERT_EQ(b.packets.size(), 304u);
  for (size_t i = 5; i < 304; i++) ASSERT_EQ(b.cycles[i] - b.cycles[i - 1], 3u);
  b.gives_back = false;
  for (uint64_t psns : {1, 2, 4}) {
    const size_t before = b.packets.size();
    const Cycles given = b.bench.now() - 1;  // as if given in the cycle that has just ended
    b.qps[1].in_flight -= psns;
    b.total -= psns;
    b.give_credit(1, psns);
    b.run(40);
    ASSERT_EQ(b.packets.size(), before + psns);
    for (size_t i = 0; i < psns; i++) EXPECT_EQ(b.cycles[before + i] - given, 7 + 3 * i);
  }
}

TEST(WorkQueue, ReadsUnderWayAreLimited) {
  for (unsigned max_reads = 1; max_reads <= 4; max_reads++) {
    WorkQueueBench b;
    b.open_and_wait(1, 1, max_reads);
    b.open_and_wait(2, 1, 0);
    b.gives_back = false;
    for (int i = 0; i < 10; i++) b.post(work_request(1, kOpRead, 256, i));
    b.post(work_request(1, kOpWrite, 256, 10));
    b.post(work_request(2, kOpSend, 64));
    for (unsigned answers = 0; answers + max_reads < 10; answers++) {
      b.run(100);
      ASSERT_EQ(b.packets.size(), max_reads + answers + 1) << "READs, and what QP 2 sends";
      b.give_credit(1, 1);  // alone is not enough
      b.run(100);
      ASSERT_EQ(b.packets.size(), max_reads + answers + 1);
      b.qps[1].reads--;
      b.answer_read(1);
    }
    b.run(100);
    EXPECT_EQ(b.packets.size(), 12u) << "the last READ lets the WRITE behind it pass";
  }
}

// Over all QPs no more than `entries`; a READ that needs many is not overtaken for ever by those that need one.
TEST(WorkQueue, EntriesAreSharedInOrder) {
  WorkQueueBench b(3);
  b.queue.params.entries = 20;
  b.queue.params.ack_interval = 1000;
  for (uint64_t qpn = 0; qpn < 5; qpn++) b.open_and_wait(qpn, 1);
  b.delay = 50;
  for (uint64_t qpn = 1; qpn < 5; qpn++) b.post(work_request(qpn, kOpWrite, 200 * 256));
  b.run(300);
  const size_t before = b.packets.size();
  b.post(work_request(0, kOpRead, 16 * 256));
  b.run(200);
  size_t read = before;
  while (read < b.packets.size() && b.packets[read].qpn.u64() != 0) read++;
  EXPECT_LT(read, before + 20 + 4);
  b.run_until_done(20000);
}

std::vector<size_t> that_ask(const WorkQueueBench& b) {
  std::vector<size_t> asking;
  for (size_t i = 0; i < b.packets.size(); i++)
    if (bool(b.packets[i].ack_request)) asking.push_back(i);
  return asking;
}

TEST(WorkQueue, AsksAtTheEndOfAMessageAndInBetween) {
  WorkQueueBench b;
  b.queue.params.ack_interval = 3;
  b.open_and_wait(1, 1);
  b.post(work_request(1, kOpWrite, 8 * 256));
  b.post(work_request(1, kOpSend, 2 * 256));
  b.post(work_request(1, kOpSend, 4 * 256));
  b.run_until_done(200);
  EXPECT_EQ(that_ask(b), (std::vector<size_t>{2, 5, 7, 9, 12, 13}));
}

TEST(WorkQueue, AsksWithItsLastCredit) {
  WorkQueueBench b;
  b.queue.params.ack_interval = 1000;
  b.queue.params.window_packets = 4;
  b.open_and_wait(1, 1);
  b.gives_back = false;
  b.post(work_request(1, kOpWrite, 9 * 256));
  b.run(50);
  EXPECT_EQ(that_ask(b), (std::vector<size_t>{3}));
  b.qps[1].in_flight = b.total = 0;
  b.give_credit(1, 4);
  b.run(50);
  EXPECT_EQ(that_ask(b), (std::vector<size_t>{3, 7}));
}

// From where a READ request might lack entries.
TEST(WorkQueue, AsksWithTheLastEntries) {
  WorkQueueBench b;
  b.queue.params.ack_interval = 1000;
  b.queue.params.entries = 20;
  b.queue.params.read_psns = 16;
  b.gives_back = false;
  for (uint64_t qpn = 0; qpn < 3; qpn++) b.open_and_wait(qpn, 1);
  for (uint64_t qpn = 0; qpn < 3; qpn++) b.post(work_request(qpn, kOpWrite, 100 * 256));
  b.run(200);
  ASSERT_EQ(b.packets.size(), 20u);
  std::vector<size_t> want;
  for (size_t i = 4; i < 20; i++) want.push_back(i);
  EXPECT_EQ(that_ask(b), want);
}

// A dead QP needs no credit of any kind, and each of its work requests leaves as one last packet.
TEST(WorkQueue, DeadQpDrains) {
  for (const Operation operation : {kOpWrite, kOpRead}) {
    WorkQueueBench b;
    b.queue.params.window_packets = 4;
    b.queue.params.entries = 4;
    b.queue.params.read_psns = 1;
    b.open_and_wait(1, 1, 2);
    b.open_and_wait(2, 1);
    b.gives_back = false;
    for (int i = 0; i < 5; i++) b.post(work_request(1, operation, 20 * 256, i));
    b.run(100);
    const size_t sent = operation == kOpWrite ? 4 : 2;
    ASSERT_EQ(b.packets.size(), sent);
    b.qps[1].dead = true;
    b.total = 0;
    b.give_credit(1, 4, true);
    b.post(work_request(2, kOpWrite, 4 * 256));  // takes all entries there are
    for (int i = 5; i < 8; i++) b.post(work_request(1, operation, 20 * 256, i));
    b.run(100);
    ASSERT_EQ(b.packets.size(), sent + 8 + 4);
    uint64_t index = 0;
    for (size_t i = sent; i < b.packets.size(); i++) {
      if (b.packets[i].qpn.u64() == 2) continue;
      EXPECT_EQ(b.packets[i].index.u64(), index++);
      EXPECT_TRUE(bool(b.packets[i].last));
    }
    EXPECT_EQ(b.queue.in_flight(), 4u);
    EXPECT_EQ(b.queue.held(), 0u);
  }
}

TEST(WorkQueue, QpThatWasNeverOpenedDrains) {
  WorkQueueBench b;
  b.qps[6].dead = true;
  b.post(work_request(6, kOpWrite, 1 << 20));
  b.run(30);
  ASSERT_EQ(b.packets.size(), 1u);
  EXPECT_TRUE(bool(b.packets[0].last));
}

// Control in every cycle of a QP's turns, its next work request in the cycle after it or later: from then on what
// leaves is that of the new life, whole and alone, and nothing in flight is left of the old one.
TEST(WorkQueue, NewLifeForgetsTheOldOne) {
  for (const uint32_t window : {2, 16})
    for (Cycles at = 0; at < 14; at++)
      for (Cycles gap = 1; gap < 8; gap++)
        for (const unsigned others : {0u, 3u}) {
          SCOPED_TRACE(testing::Message() << "control in " << at << ", work request " << gap << " later");
          WorkQueueBench b;
          b.gives_back = false;
          b.queue.params.window_packets = window;
          for (uint64_t qpn = 0; qpn <= others; qpn++) b.open_and_wait(qpn, 1);
          for (uint64_t i = 0; i < 3; i++)
            for (uint64_t qpn = 0; qpn <= others; qpn++) b.post(work_request(qpn, kOpWrite, 3 * 256, 100 + i));
          b.run(3 * (1 + others) + at);
          b.open(0, 2);
          b.qps[0].dead = true;  // what leaves is compared here
          b.run(gap);
          const hw::Wqe next = work_request(0, kOpSend, 5 * 512, 7);
          b.in.write(next);
          b.run(150);
          std::vector<std::string> got, want;
          for (const hw::TxPacket& p : b.packets)
            if (p.qpn.u64() == 0 && (!got.empty() || p.index == next.index)) got.push_back(test::text(p));
          for (const hw::TxPacket& p : test::cut(next, 2, 16)) want.push_back(test::text(p));
          if (window == 2) {
            want.resize(2);
            EXPECT_EQ(got.size(), 2u);
            got.resize(1);  // the second takes the last credit and asks
            want.resize(1);
          }
          ASSERT_EQ(got, want);
          EXPECT_EQ(b.queue.in_flight(), std::min(5u, window) + others * std::min(9u, window));
        }
}

// Credit and answers that come late, for packets of an earlier life, make no more than there is.
TEST(WorkQueue, LateCreditIsNoMoreThanWhatIsInFlight) {
  WorkQueueBench b;
  b.queue.params.window_packets = 2;
  b.gives_back = false;
  b.open_and_wait(1, 1, 1);
  b.open_and_wait(2, 1);
  b.give_credit(1, 100);
  b.answer_read(1);
  b.run(10);
  b.give_credit(2, 0xffffff);
  b.post(work_request(1, kOpRead, 1));
  b.post(work_request(1, kOpRead, 1));
  b.post(work_request(2, kOpWrite, 10 * 256));
  b.run(100);
  EXPECT_EQ(b.qps[1].reads, 1u);
  EXPECT_EQ(b.qps[2].in_flight, 2u);
  EXPECT_EQ(b.queue.in_flight(), 3u);
}

// With `out` full for ever all inputs are taken, one a cycle, in turns.
TEST(WorkQueue, InputsNeverWaitForRoom) {
  WorkQueueBench b;
  b.open_and_wait(1, 1);
  b.open_and_wait(2, 1);
  b.out_percent = 0;
  for (int i = 0; i < 20; i++) b.post(work_request(1, kOpWrite, 256, i));
  b.run(100);
  ASSERT_TRUE(b.out.full());
  EXPECT_EQ(b.queue.quiet(), hw::kForever);
  for (int i = 20; i < 120; i++) b.post(work_request(1, kOpWrite, 256, i));
  std::map<std::string, unsigned> taken;
  for (Cycles c = 0; c < 400; c++) {
    if (!b.credits.full()) b.give_credit(1, 1);
    if (!b.answered.full()) b.answer_read(1);
    if (!b.control.full()) b.open(2, 1);
    b.run(1);
    taken["in"] += b.in.last_read() == b.bench.now() - 1;
    taken["credits"] += b.credits.last_read() == b.bench.now() - 1;
    taken["answered"] += b.answered.last_read() == b.bench.now() - 1;
    taken["control"] += b.control.last_read() == b.bench.now() - 1;
  }
  for (const auto& t : taken) EXPECT_NEAR(t.second, 100, 3) << t.first;
}

// Everything leaves, of each QP in order, whatever waits for whatever.
TEST(WorkQueue, RandomTrafficUnderStalls) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    WorkQueueBench b(seed);
    auto random = [&b](uint64_t below) { return b.bench.random()() % below; };
    b.queue.params.window_packets = 1 + uint32_t(random(20));
    b.queue.params.entries = 1 + uint32_t(random(60));
    b.queue.params.read_psns = 1 + uint32_t(random(16));
    b.queue.params.ack_interval = 1 + uint32_t(random(20));
    b.post_percent = 20 + unsigned(random(81));
    b.out_percent = 5 + unsigned(random(96));
    b.back_percent = 10 + unsigned(random(91));
    b.delay = random(100);
    b.delay_range = random(50);
    const uint64_t qps = 1 + random(12);
    for (uint64_t qpn = 0; qpn < qps; qpn++) b.open_and_wait(qpn, 1 + unsigned(random(5)), 1 + unsigned(random(16)));
    for (int i = 0; i < 300; i++) {
      const uint64_t qpn = random(qps), pmtu = 128u << b.qps[qpn].pmtu_code;
      const uint64_t length = random(4) == 0 ? random(40 * pmtu) : random(2 * pmtu);
      hw::Wqe w = work_request(qpn, Operation(random(3)), length, uint64_t(i));
      w.has_immediate = hw::Bits<1>(random(2));
      w.solicited = hw::Bits<1>(random(2));
      b.post(w);
    }
    b.run_until_done(500000);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(WorkQueue, SleepingChangesNothing) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    std::vector<std::string> seen[2];
    for (const bool every_cycle : {true, false}) {
      WorkQueueBench b(seed, every_cycle);
      b.queue.params.window_packets = 4;
      b.queue.params.entries = 10;
      b.post_percent = 10;
      b.out_percent = seed % 2 ? 100 : 15;
      const uint64_t qps = seed <= 4 ? seed : 4;
      for (uint64_t qpn = 0; qpn < qps; qpn++) b.open_and_wait(qpn, 1, 2);
      for (uint64_t i = 0; i < 200; i++) b.post(work_request(i % qps, Operation(i % 3), (i * 7919) % (12 * 256), i));
      b.run_until_done(100000);
      for (size_t i = 0; i < b.packets.size(); i++)
        seen[every_cycle].push_back(std::to_string(b.cycles[i]) + " " + test::text(b.packets[i]));
    }
    EXPECT_TRUE(seen[0] == seen[1]) << "seed " << seed;
    EXPECT_GT(seen[0].size(), 200u);
  }
}

TEST(WorkQueueDeathTest, MoreWorkRequestsThanSlots) {
  WorkQueueBench b;
  b.open_and_wait(1, 1);
  b.out_percent = 0;
  for (int i = 0; i < hw::kSendWqes + 10; i++) b.post(work_request(1, kOpWrite, 64, uint64_t(i)));
  b.run(2 * hw::kSendWqes);
  EXPECT_EQ(b.queue.held(), uint64_t(hw::kSendWqes) - 4) << "four have left for `out`";
  EXPECT_DEATH(
      {
        b.qps[1].held = 0;
        b.run(20);
      },
      "more work requests than the QP has slots");
}

}  // namespace
