#include <deque>
#include <map>

#include "bench.hpp"
#include "hw/tx/response_queue.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::Cycles;
using hw::ReadServed;
using hw::Response;
using hw::ResponseQueueControl;
using hw::TxPacket;

constexpr uint64_t kAck = 0x1f, kRnr = 0x2e, kNak = 0x60, kInvalid = 0x61, kAccess = 0x62;
constexpr unsigned kQps = 5;

Response ack(uint64_t qpn, uint64_t psn, uint64_t syndrome = kAck, uint64_t msn = 0) {
  Response r;
  r.qpn = hw::Qpn(qpn);
  r.psn = hw::Psn(psn);
  r.syndrome = Bits<8>(syndrome);
  r.msn = Bits<24>(msn);
  return r;
}
Response read(uint64_t qpn, uint64_t psn, uint64_t bytes, uint64_t pmtu = 1, uint64_t address = 0, uint64_t msn = 0) {
  Response r = ack(qpn, psn, 0, msn);
  r.read = Bits<1>(1);
  r.pmtu = hw::PmtuCode(pmtu);
  r.address = Bits<64>(address);
  r.bytes = Bits<32>(bytes);
  return r;
}
ResponseQueueControl control(uint64_t qpn) {
  ResponseQueueControl c;
  c.qpn = hw::Qpn(qpn);
  return c;
}

uint64_t packets_of(const Response& r) {
  const uint64_t pmtu = uint64_t(128) << r.pmtu.u64();
  return std::max<uint64_t>(1, (r.bytes.u64() + pmtu - 1) / pmtu);
}
// Negative when `a` lies behind `b`, modulo 2^24.
int64_t ahead(uint64_t a, uint64_t b) {
  return int32_t(uint32_t(a - b) << 8) >> 8;
}

// The packets that answer `r`, with the opcodes of IBTA table 38.
std::deque<TxPacket> answers_to(const Response& r) {
  std::deque<TxPacket> packets;
  TxPacket p;
  p.qpn = r.qpn;
  p.msn = r.msn;
  if (!bool(r.read)) {
    p.opcode = Bits<8>(0x11);
    p.psn = r.psn;
    p.syndrome = r.syndrome;
    packets.push_back(p);
    return packets;
  }
  const uint64_t count = packets_of(r), pmtu = uint64_t(128) << r.pmtu.u64();
  for (uint64_t i = 0; i < count; i++) {
    p.opcode = Bits<8>(count == 1 ? 0x10 : i == 0 ? 0x0d : i == count - 1 ? 0x0f : 0x0e);
    p.psn = hw::Psn((r.psn.v.u64() + i) & 0xffffff);
    p.syndrome = Bits<8>(kAck);
    p.local_address = Bits<64>(r.address.u64() + i * pmtu);
    p.payload = hw::PacketBytes(i == count - 1 ? r.bytes.u64() - i * pmtu : pmtu);
    packets.push_back(p);
  }
  return packets;
}

struct Queue {
  hw::tx::ResponseQueue stage;
  hls::stream<Response> in;
  hls::stream<ResponseQueueControl> controls;
  hls::stream<TxPacket> out;
  hls::stream<ReadServed> served;
  explicit Queue(unsigned room = 2) {
    test::configure(in, "in", 4);
    test::configure(controls, "control", 2);
    test::configure(out, "out", room);
    test::configure(served, "served", room);
  }
  void step() { stage.step(in, controls, out, served); }
};

// What each QP has waiting, and whose turn it is. Told cycle by cycle what was taken and what left.
struct Model {
  struct Qp {
    std::deque<std::deque<TxPacket>> reads;
    bool ack_waits = false;
    Response ack;
  };
  std::map<uint64_t, Qp> qps;
  std::deque<uint64_t> turns;
  uint64_t merged = 0, acks = 0, naks = 0, responses = 0;

  void left(const Response* taken, const TxPacket& packet, bool served) {
    const bool is_ack = packet.opcode.u64() == 0x11;
    (!is_ack ? responses : packet.syndrome.u64() == kAck ? acks : naks)++;
    if (turns.empty()) {
      ASSERT_TRUE(taken) << "nothing waits";
      ASSERT_TRUE(is_ack && !served);
      ASSERT_EQ(test::text(packet), test::text(answers_to(*taken).front()));
      return;
    }
    const uint64_t qpn = turns.front();
    turns.pop_front();
    Qp& qp = qps[qpn];
    if (qp.reads.empty()) {
      ASSERT_EQ(test::text(packet), test::text(answers_to(qp.ack).front()));
      ASSERT_FALSE(served);
      qp.ack_waits = false;
    } else {
      ASSERT_EQ(test::text(packet), test::text(qp.reads.front().front()));
      qp.reads.front().pop_front();
      ASSERT_EQ(served, qp.reads.front().empty());
      if (served) qp.reads.pop_front();
    }
    if (waits(qpn)) turns.push_back(qpn);
  }
  void took(const Response& r) {
    const uint64_t qpn = r.qpn.u64();
    if (!waits(qpn)) turns.push_back(qpn);
    Qp& qp = qps[qpn];
    const bool fatal = qp.ack.syndrome.u64() > kNak;
    if (bool(r.read)) {
      qp.reads.push_back(answers_to(r));
      if (!qp.ack_waits || fatal || ahead(r.psn.v.u64(), qp.ack.psn.v.u64()) < 0) return;
      qp.ack_waits = false;
      merged++;
      return;
    }
    merged += qp.ack_waits;
    if (qp.ack_waits && (fatal || (ahead(r.psn.v.u64(), qp.ack.psn.v.u64()) < 0 && r.syndrome.u64() <= kNak))) return;
    qp.ack_waits = true;
    qp.ack = r;
  }
  bool waits(uint64_t qpn) { return qps[qpn].ack_waits || !qps[qpn].reads.empty(); }
};

// A responder's tables as far as they matter here: what a QP may be told next. `offer` keeps the READs under way to
// kMaxReads, `served` gives a place back.
struct Responder {
  struct Qp {
    uint64_t expected;
    unsigned under_way = 0;
    std::vector<Response> reads;  // that were in order, to be asked for again
  };
  std::map<uint64_t, Qp> qps;
  std::mt19937_64& random;
  uint64_t pmtu = 1;

  explicit Responder(std::mt19937_64& r) : random(r) {
    for (uint64_t q = 0; q < kQps; q++) qps[q].expected = (0xffff00 + random() % 512) & 0xffffff;
  }
  Response offer(bool may_end) {
    const uint64_t qpn = random() % kQps, msn = random() & 0xffffff;
    Qp& qp = qps[qpn];
    const auto advance = [&qp](uint64_t psns) {
      const uint64_t was = qp.expected;
      qp.expected = (was + psns) & 0xffffff;
      return was;
    };
    const unsigned kind = unsigned(random() % 20);
    const bool room = qp.under_way < hw::kMaxReads;
    if (kind < 8 && room) {
      qp.under_way++;
      Response r = read(qpn, 0, random() % (256 * 5), pmtu, random() >> 8, msn);
      r.psn = hw::Psn(advance(packets_of(r)));
      qp.reads.push_back(r);
      return r;
    }
    if (kind < 10 && room && !qp.reads.empty()) {
      qp.under_way++;
      return qp.reads[qp.reads.size() - 1 - random() % std::min<size_t>(qp.reads.size(), 8)];
    }
    if (kind < 12) return ack(qpn, qp.expected, kNak, msn);
    if (kind < 13) return ack(qpn, qp.expected, kRnr, msn);
    if (kind < 14) return ack(qpn, (qp.expected - 1) & 0xffffff, kAck, msn);  // a duplicate
    if (kind < 15 && may_end) return ack(qpn, qp.expected, kInvalid + random() % 3, msn);
    return ack(qpn, advance(1), kAck, msn);
  }
};

// Everything that a responder with random orders gives, watched by `watch(taken, packet, served)` in each cycle.
template <class Watch>
void run_random(Queue& q, test::Bench& bench, Responder& responder, unsigned source_percent, unsigned sink_percent,
                bool may_end, const Watch& watch) {
  std::deque<Response> offered;
  size_t count = 0;
  test::Sink<TxPacket> sink(bench, q.out, sink_percent);
  bench.add_port([&] {
    if (!q.served.empty() && bench.chance(sink_percent + 10)) responder.qps[q.served.read().qpn.u64()].under_way--;
  });
  bench.add_port([&] {
    if (count == 4000 || q.in.full() || !bench.chance(source_percent)) return;
    offered.push_back(responder.offer(may_end));
    q.in.write(offered.back());
    count++;
  });
  for (Cycles rest = 0; rest < 3000; rest = count < 4000 || q.stage.held() != 0 ? 0 : rest + 1) {
    bench.tick([&] {
      q.step();
      const bool took = q.in.last_read() == bench.now(), wrote = q.out.last_write() == bench.now();
      const bool serves = q.served.last_write() == bench.now();
      watch(took ? &offered.front() : nullptr, wrote ? &q.out.newest() : nullptr, serves);
      if (took) offered.pop_front();
    });
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
    ASSERT_LT(bench.now(), 3000000u) << "it does not end";
  }
}

TEST(TxResponseQueue, FollowsTheModelUnderRandomTrafficAndStalls) {
  uint64_t merged = 0;
  for (const unsigned source : {100u, 40u, 8u}) {
    for (const unsigned sink : {100u, 40u, 5u}) {
      test::Bench bench(source * 7 + sink);
      Queue q;
      Responder responder(bench.random());
      Model model;
      run_random(q, bench, responder, source, sink, true,
                 [&](const Response* taken, const TxPacket* packet, bool served) {
                   if (packet) model.left(taken, *packet, served);
                   const bool direct = packet && taken && model.turns.empty() && !bool(taken->read) &&
                                       test::text(*packet) == test::text(answers_to(*taken).front());
                   if (taken && !direct) model.took(*taken);
                 });
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_TRUE(model.turns.empty());
      EXPECT_EQ(q.stage.merged.v.u64(), model.merged);
      EXPECT_EQ(q.stage.acks_sent.v.u64(), model.acks);
      EXPECT_EQ(q.stage.naks_sent.v.u64(), model.naks);
      EXPECT_EQ(q.stage.read_responses.v.u64(), model.responses);
      for (const auto& qp : responder.qps) EXPECT_EQ(qp.second.under_way, 0u);
      merged += model.merged;
    }
  }
  EXPECT_GT(merged, 1000u);
}

// What a requester may rely on (IBTA 9.7.5.1, 9.9), whatever the queue's inner rules: nothing tells it of a PSN while a
// READ before that PSN is owed, responses of a READ come whole and in order, and in the end it knows of all that was
// acknowledged.
TEST(TxResponseQueue, EveryOrderOfAnswersIsLegal) {
  uint64_t acks_behind_reads = 0;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    test::Bench bench(seed);
    Queue q;
    Responder responder(bench.random());
    struct Owed {
      uint64_t next, end;
    };
    struct Qp {
      std::deque<Owed> reads;
      uint64_t told = 0, taken = 0;  // the highest PSN of an ACK or READ response, less the first expected one
    };
    std::map<uint64_t, Qp> qps;
    std::map<uint64_t, uint64_t> start;
    for (const auto& qp : responder.qps) start[qp.first] = qp.second.expected;
    // PSNs of this test lie within 2^23 of the first, so they can be counted from it.
    const auto position = [&](uint64_t qpn, uint64_t psn) { return uint64_t(ahead(psn, start[qpn])) + 1; };
    const auto names = [](uint64_t syndrome, uint64_t at) { return syndrome == kAck ? at : at - 1; };
    const auto left = [&](const TxPacket& packet) {
      Qp& qp = qps[packet.qpn.u64()];
      const uint64_t at = position(packet.qpn.u64(), packet.psn.v.u64());
      if (packet.opcode.u64() != 0x11) {
        ASSERT_FALSE(qp.reads.empty()) << "a response that nobody asked for";
        ASSERT_EQ(at, qp.reads.front().next++);
        if (qp.reads.front().next == qp.reads.front().end) qp.reads.pop_front();
        qp.told = std::max(qp.told, at);
        return;
      }
      const uint64_t named = names(packet.syndrome.u64(), at);
      for (const Owed& owed : qp.reads)
        ASSERT_GT(owed.next, named) << "QP " << packet.qpn.u64() << " is told of it before its READ";
      qp.told = std::max(qp.told, named);
    };
    const auto took = [&](const Response& response) {
      Qp& qp = qps[response.qpn.u64()];
      const uint64_t at = position(response.qpn.u64(), response.psn.v.u64()), end = at + packets_of(response);
      if (bool(response.read)) {
        qp.reads.push_back({at, end});
      } else {
        acks_behind_reads += !qp.reads.empty();
      }
      qp.taken = std::max(qp.taken, bool(response.read) ? end - 1 : names(response.syndrome.u64(), at));
    };
    run_random(q, bench, responder, seed % 2 ? 100 : 30, seed % 3 ? 30 : 100, false,
               [&](const Response* taken, const TxPacket* packet, bool) {
                 if (packet) left(*packet);
                 if (taken) took(*taken);
               });
    ASSERT_FALSE(HasFatalFailure());
    for (const auto& qp : qps) {
      EXPECT_TRUE(qp.second.reads.empty());
      EXPECT_EQ(qp.second.told, qp.second.taken) << "QP " << qp.first;
    }
  }
  EXPECT_GT(acks_behind_reads, 1000u);
}

// What comes out when everything in `responses` came while the output was blocked by one of QP 99.
std::vector<TxPacket> behind_a_blocked_output(const std::vector<Response>& responses) {
  test::Bench bench;
  Queue q(1);
  std::vector<Response> all{ack(99, 0)};
  all.insert(all.end(), responses.begin(), responses.end());
  test::Source<Response> source(bench, q.in, all);
  bench.run(3 * all.size() + 5, [&] { q.step(); });
  test::Sink<TxPacket> sink(bench, q.out);
  test::Sink<ReadServed> served(bench, q.served);
  bench.run(400, [&] { q.step(); });
  sink.tokens.erase(sink.tokens.begin());
  return sink.tokens;
}

TEST(TxResponseQueue, WhatJoinsWhatWaits) {
  struct Case {
    std::vector<Response> joined, answered;
  };
  const Response r5 = read(1, 5, 700), r8 = read(1, 8, 10);
  const std::vector<Case> cases = {
      {{ack(1, 5), ack(1, 6)}, {ack(1, 6)}},
      {{ack(1, 0xffffff), ack(1, 0)}, {ack(1, 0)}},
      {{ack(1, 6), ack(1, 5)}, {ack(1, 6)}},
      {{ack(1, 5), ack(1, 6, kNak)}, {ack(1, 6, kNak)}},
      {{ack(1, 5, kNak), ack(1, 4)}, {ack(1, 5, kNak)}},  // the NAK acknowledges it
      {{ack(1, 5, kNak), ack(1, 5)}, {ack(1, 5)}},        // the gap is closed
      {{ack(1, 5, kRnr), ack(1, 4)}, {ack(1, 5, kRnr)}},
      {{ack(1, 5, kRnr), ack(1, 5)}, {ack(1, 5)}},
      {{ack(1, 5), ack(1, 6, kRnr)}, {ack(1, 6, kRnr)}},
      {{ack(1, 5, kNak), ack(1, 7, kInvalid)}, {ack(1, 7, kInvalid)}},
      {{ack(1, 5, kRnr), ack(1, 4, kAccess)}, {ack(1, 4, kAccess)}},  // a duplicate READ whose key went
      {{ack(1, 5, kAccess), ack(1, 6)}, {ack(1, 5, kAccess)}},
      {{ack(1, 5, kAccess), ack(1, 6, kNak)}, {ack(1, 5, kAccess)}},
      {{r5, ack(1, 8)}, {r5, ack(1, 8)}},
      {{r5, ack(1, 8, kNak)}, {r5, ack(1, 8, kNak)}},
      {{ack(1, 4), r5}, {r5}},             // its responses acknowledge as much
      {{ack(1, 5, kNak), r5}, {r5}},       // it closes the gap
      {{ack(1, 5), r5}, {r5}},             // again, after a duplicate WRITE
      {{ack(1, 6), r5}, {r5, ack(1, 6)}},  // a duplicate
      {{ack(1, 0), read(1, 0xffffff, 1)}, {read(1, 0xffffff, 1), ack(1, 0)}},
      {{ack(1, 0xffffff), read(1, 0, 1)}, {read(1, 0, 1)}},
      {{r5, ack(1, 9), r8}, {r5, r8, ack(1, 9)}},
      {{r8, ack(1, 9), r5, ack(1, 9)}, {r8, r5, ack(1, 9)}},
      {{ack(1, 5, kAccess), r8}, {r8, ack(1, 5, kAccess)}},
      {{ack(1, 5), ack(2, 3), ack(1, 6)}, {ack(1, 6), ack(2, 3)}},
  };
  for (const Case& c : cases) {
    std::vector<std::string> got, want;
    for (const TxPacket& p : behind_a_blocked_output(c.joined)) got.push_back(test::text(p));
    for (const Response& r : c.answered)
      for (const TxPacket& p : answers_to(r)) want.push_back(test::text(p));
    EXPECT_EQ(got, want) << "case " << &c - cases.data();
  }
}

TEST(TxResponseQueue, EveryLengthIsCutIntoItsPackets) {
  for (uint64_t pmtu = 1; pmtu <= 5; pmtu++) {
    const uint64_t bytes = uint64_t(128) << pmtu;
    for (const uint64_t length : {uint64_t(0), uint64_t(1), bytes - 1, bytes, bytes + 1, 2 * bytes - 1, 2 * bytes,
                                  2 * bytes + 1, 3 * bytes - 1, 17 * bytes, 40 * bytes + 3}) {
      for (const uint64_t psn : {uint64_t(0), uint64_t(0xffffff), uint64_t(0xfffffe)}) {
        test::Bench bench;
        Queue q;
        const Response r = read(7, psn, length, pmtu, 0xfffffffffffff800u, 0x123456);
        test::Source<Response> source(bench, q.in, {r});
        test::Sink<TxPacket> sink(bench, q.out);
        test::Sink<ReadServed> served(bench, q.served);
        bench.run(200, [&] { q.step(); });
        const std::deque<TxPacket> want = answers_to(r);
        ASSERT_EQ(sink.tokens.size(), want.size()) << length;
        for (size_t i = 0; i < want.size(); i++) EXPECT_EQ(test::text(sink.tokens[i]), test::text(want[i]));
        ASSERT_EQ(served.tokens.size(), 1u);
        EXPECT_EQ(served.tokens[0].qpn.u64(), 7u);
        EXPECT_EQ(served.cycles[0], sink.cycles.back());
      }
    }
  }
}

TEST(TxResponseQueue, QpsTakeTurnsPacketByPacket) {
  const std::vector<TxPacket> got = behind_a_blocked_output(
      {read(1, 0, 256 * 4), read(2, 50, 256 * 2), ack(3, 9), read(2, 52, 1), ack(1, 4), read(4, 7, 256 * 3)});
  std::vector<uint64_t> qpns;
  qpns.reserve(got.size());
  for (const TxPacket& p : got) qpns.push_back(p.qpn.u64());
  EXPECT_EQ(qpns, (std::vector<uint64_t>{1, 2, 3, 4, 1, 2, 4, 1, 2, 4, 1, 1}));
}

TEST(TxResponseQueue, AnAcknowledgementPassesInTheCycleInWhichItIsTakenWhenNothingWaits) {
  test::Bench bench;
  Queue q;
  std::vector<Response> acks;
  for (uint64_t i = 0; i < 50; i++) acks.push_back(ack(3, i));
  test::Source<Response> source(bench, q.in, acks);
  test::Sink<TxPacket> sink(bench, q.out);
  bench.run(60, [&] { q.step(); });
  ASSERT_EQ(sink.tokens.size(), 50u);
  for (size_t i = 0; i < 50; i++) {
    EXPECT_EQ(source.cycles[i], i);
    EXPECT_EQ(sink.cycles[i], i + 2);
  }
  EXPECT_EQ(q.stage.merged.v.u64(), 0u);
}

// Cycles between the packets of long READs on so many QPs: 3 on one, 2 on more.
TEST(TxResponseQueue, ReadResponsesEveryThirdCycleOnOneQpEverySecondOnMore) {
  for (const uint64_t qps : {1u, 2u, 3u, 16u}) {
    test::Bench bench;
    Queue q;
    std::vector<Response> reads;
    for (uint64_t i = 0; i < qps; i++) reads.push_back(read(i, 0, 256 * 60));
    test::Source<Response> source(bench, q.in, reads);
    test::Sink<TxPacket> sink(bench, q.out);
    test::Sink<ReadServed> served(bench, q.served);
    bench.run(3000, [&] { q.step(); });
    ASSERT_EQ(sink.tokens.size(), 60 * qps);
    EXPECT_EQ(sink.cycles[0], 6u);  // taken in 1, kept in 2, head fetched in 3, known in 4, sent in 5
    const size_t first = 2 * qps, last = 59 * qps;
    EXPECT_EQ(sink.cycles[last] - sink.cycles[first], (last - first) * (qps == 1 ? 3 : 2));
  }
}

TEST(TxResponseQueue, TakesOneACycleWhileEitherOutputIsBlocked) {
  for (const bool out_is_blocked : {true, false}) {
    test::Bench bench;
    Queue q;
    std::vector<Response> responses;
    for (uint64_t i = 0; i < 3; i++) responses.push_back(read(100 + i, 0, 1));  // fills what has room
    for (uint64_t i = 0; i < 20 * hw::kMaxReads; i++)
      responses.push_back(i % 3 ? read(i % 20, i, 1000) : ack(i % 20, i));
    test::Source<Response> source(bench, q.in, responses);
    std::unique_ptr<test::Sink<TxPacket>> sink;
    std::unique_ptr<test::Sink<ReadServed>> served;
    if (out_is_blocked) {
      served = std::make_unique<test::Sink<ReadServed>>(bench, q.served);
    } else {
      sink = std::make_unique<test::Sink<TxPacket>>(bench, q.out);
    }
    bench.run(2000, [&] { q.step(); });
    ASSERT_TRUE(source.done());
    if (out_is_blocked) {
      for (size_t i = 20; i < responses.size(); i++) EXPECT_EQ(source.cycles[i], source.cycles[i - 1] + 1);
    }
    EXPECT_GT(q.stage.held(), 0u);
    EXPECT_LE(q.stage.read_responses.v.u64(), out_is_blocked ? 2u : 2000u);
  }
}

TEST(TxResponseQueue, InputAndTurnsShareTheTables) {
  test::Bench bench;
  Queue q;
  std::vector<Response> acks;
  for (uint64_t i = 0; i < 400; i++) acks.push_back(ack(i, i));
  test::Source<Response> source(bench, q.in, acks);
  bench.run(100, [&] { q.step(); });
  test::Sink<TxPacket> sink(bench, q.out);
  bench.run(20, [&] { q.step(); });
  const size_t first_out = sink.tokens.size(), first_in = source.cycles.size();
  bench.run(200, [&] { q.step(); });
  EXPECT_EQ(sink.tokens.size(), first_out + 100);
  EXPECT_EQ(source.cycles.size(), first_in + 100);
}

// Control and input press while turns go on: each of the three has its share, and control waits for one response.
TEST(TxResponseQueue, ControlAndInputHaveWhatTurnsLeaveOneByOne) {
  test::Bench bench;
  Queue q;
  std::vector<Response> responses;
  for (uint64_t i = 0; i < 400; i++) responses.push_back(ack(i, i));
  test::Source<Response> source(bench, q.in, responses);
  bench.run(60, [&] { q.step(); });
  test::Source<ResponseQueueControl> controls(bench, q.controls, std::vector<ResponseQueueControl>(400, control(5000)));
  test::Sink<TxPacket> sink(bench, q.out);
  bench.run(20, [&] { q.step(); });
  const size_t out = sink.tokens.size(), in = source.cycles.size(), control = controls.cycles.size();
  bench.run(80, [&] { q.step(); });
  EXPECT_EQ(sink.tokens.size(), out + 40);
  EXPECT_EQ(source.cycles.size(), in + 20);
  EXPECT_EQ(controls.cycles.size(), control + 20);
}

// A new life has nothing of the old one, wherever in its turn the QP was; other QPs do not notice.
TEST(TxResponseQueue, ControlForgetsWhatTheQpHadWaiting) {
  for (Cycles when = 12; when < 60; when++) {
    test::Bench bench;
    Queue q;
    std::vector<Response> old_life;
    for (uint64_t i = 0; i < 4; i++) {
      old_life.push_back(read(1, 4 * i, 1024));
      old_life.push_back(read(2, 1000 + 4 * i, 1024));
    }
    old_life.push_back(ack(1, 16));
    test::Source<Response> source(bench, q.in, old_life);
    test::Sink<TxPacket> sink(bench, q.out);
    test::Sink<ReadServed> served(bench, q.served);
    bench.run(when, [&] { q.step(); });
    q.controls.write(control(1));
    bench.run(4, [&] { q.step(); });
    const size_t before = sink.tokens.size();
    std::vector<Response> new_life;
    for (uint64_t i = 0; i < 16; i++) new_life.push_back(read(1, 0x800000 + 2 * i, 300));
    new_life.push_back(ack(1, 0x800020));
    test::Source<Response> later(bench, q.in, new_life);
    bench.run(400, [&] { q.step(); });

    std::vector<std::string> got, want, other, other_want;
    for (size_t i = 0; i < sink.tokens.size(); i++) {
      const TxPacket& p = sink.tokens[i];
      if (p.qpn.u64() == 2) other.push_back(test::text(p));
      if (p.qpn.u64() == 1 && i >= before) got.push_back(test::text(p));
    }
    for (const Response& r : new_life)
      for (const TxPacket& p : answers_to(r)) want.push_back(test::text(p));
    for (const Response& r : old_life)
      if (r.qpn.u64() == 2)
        for (const TxPacket& p : answers_to(r)) other_want.push_back(test::text(p));
    EXPECT_EQ(got, want) << when;
    EXPECT_EQ(other, other_want) << when;
    EXPECT_EQ(q.stage.held(), 0u);
  }
}

// Called as the kernel does (rule 5): while something is acted on or waits, and when a port changes.
TEST(TxResponseQueue, SleepingChangesNothing) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    test::Bench bench(seed);
    Queue every, sleeping;
    Responder responder(bench.random());
    std::vector<std::string> log_every, log_sleeping;
    bool awake = true;
    uint64_t calls = 0;
    const auto drain = [&](Queue& q, std::vector<std::string>& log, bool takes) {
      if (takes && !q.out.empty()) log.push_back(std::to_string(bench.now()) + " " + test::text(q.out.read()));
      if (!q.served.empty()) log.push_back(std::to_string(bench.now()) + " " + test::text(q.served.read()));
    };
    for (int i = 0; i < 20000; i++) {
      const bool offer = bench.chance(i % 2000 < 1000 ? 20 : 1), takes = bench.chance(seed % 2 ? 30 : 90);
      const bool clears = bench.chance(1);
      bench.tick([&] {
        every.step();
        if (awake || !sleeping.in.empty() || !sleeping.controls.empty()) {
          hw::world().acted = false;
          sleeping.step();
          calls++;
          awake = hw::world().acted || sleeping.stage.quiet() == 0;
        }
        if (every.served.last_write() == bench.now()) responder.qps[every.served.newest().qpn.u64()].under_way--;
        drain(every, log_every, takes);
        drain(sleeping, log_sleeping, takes);
        if (clears && !every.controls.full()) {
          const uint64_t qpn = bench.random()() % kQps;
          if (responder.qps[qpn].under_way == 0) {
            every.controls.write(control(qpn));
            sleeping.controls.write(control(qpn));
          }
        } else if (offer && !every.in.full()) {
          const Response r = responder.offer(true);
          every.in.write(r);
          sleeping.in.write(r);
        }
      });
    }
    EXPECT_TRUE(log_every == log_sleeping);
    EXPECT_GT(log_every.size(), 1000u);
    EXPECT_LT(calls, 19000u);
  }
}

}  // namespace
