#include "traces/connections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "support.hpp"
#include "tap.hpp"

namespace traces::test {
namespace {

bool any_line_has(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(Connections, ARetryKnowsItsCause) {
  const Ends ends;
  Tap tap;
  for (uint32_t psn = 0; psn < 4; ++psn) tap.see(ends.write(psn));
  tap.see(ends.answer(0, 1));
  tap.see(ends.answer(1, 1, kNakSequence));
  EXPECT_EQ(tap.see(ends.write(1)).retry, RetryCause::kSequenceNak);
  for (const uint32_t psn : {2, 3}) EXPECT_EQ(tap.see(ends.write(psn)).retry, RetryCause::kNone);
  tap.see(ends.answer(2, 3));
  tap.see(ends.answer(3, 3, kRnrNak));
  EXPECT_EQ(tap.see(ends.write(3)).retry, RetryCause::kRnrNak);
  tap.now_ns += 5'000'000;
  EXPECT_EQ(tap.see(ends.write(3)).retry, RetryCause::kTimeout);
  EXPECT_EQ(tap.see(ends.write(3)).retry, RetryCause::kUnknown) << "too soon for a timer";
}

TEST(Connections, AFastRetryIsNoCopyAndAMirrorOfItIs) {
  const Ends ends;
  Tap tap;
  tap.see(ends.write(0));
  tap.see(ends.answer(0, 1));
  const auto soon = [&](const FrameSpec& spec) { return tap.see(build_frame(spec), 200); };
  for (const uint32_t psn : {2, 3}) soon(ends.write(psn));  // 1 is lost
  soon(ends.answer(1, 1, kNakSequence));
  for (const uint32_t psn : {1, 2, 3}) {
    EXPECT_EQ(soon(ends.write(psn)).packet_class, PacketClass::kRetransmission) << psn;
    EXPECT_EQ(soon(ends.write(psn)).packet_class, PacketClass::kMirror) << psn;
  }
  soon(ends.write(4));
  EXPECT_EQ(soon(ends.write(4)).packet_class, PacketClass::kMirror) << "no retry is under way";
}

TEST(Connections, AMissingReadResponseIsAnImpliedNak) {
  const Ends ends;
  Tap tap;
  tap.see(ends.read(0, 3072));
  tap.see(ends.answer(0, 1, 0x1f, kReadFirst, 1024));
  tap.see(ends.answer(2, 1, 0x1f, kReadLast, 1024));
  EXPECT_EQ(tap.see(ends.read(1, 2048)).retry, RetryCause::kImplied);
  tap.tracker.finish();
  EXPECT_EQ(tap.lane_to(0x12).reads.losses().wire, 1u);
}

// The rest of the first responses is on its way when the requester asks again; both come within a mirror's time.
TEST(Connections, ResponsesAskedForAgainBehindTheRestOfTheFirstOnesAreNoCopies) {
  Tap tap;
  const Ends ends;
  const auto soon = [&tap](const FrameSpec& spec) { return tap.see(build_frame(spec), 80); };
  tap.see(ends.read(0, 6 * 1024));
  soon(ends.answer(0, 1, 0x1f, kReadFirst, 1024));
  for (const uint32_t psn : {2, 3}) soon(ends.answer(psn, 1, 0x1f, kReadMiddle, 1024));
  soon(ends.read(1, 5 * 1024));
  soon(ends.answer(4, 1, 0x1f, kReadMiddle, 1024));
  soon(ends.answer(5, 1, 0x1f, kReadLast, 1024));
  soon(ends.answer(1, 1, 0x1f, kReadFirst, 1024));
  for (const uint32_t psn : {2, 3, 4}) EXPECT_EQ(soon(ends.answer(psn, 1, 0x1f, kReadMiddle, 1024)).copy, Copy::kNone);
  EXPECT_EQ(soon(ends.answer(5, 1, 0x1f, kReadLast, 1024)).copy, Copy::kNone);
  tap.tracker.finish();
  const Losses& lost = tap.lane_to(0x12).reads.losses();
  EXPECT_EQ(lost.wire, 1u);
  EXPECT_EQ(lost.ranges, 1u);
  EXPECT_EQ(lost.unknown + lost.tap, 0u);
}

TEST(Connections, ReadLatencyIsFromTheRequestToTheLastResponse) {
  const Ends ends;
  Tap tap;
  tap.see(ends.read(0, 2048));
  tap.see(ends.read(2, 1024));
  EXPECT_FALSE(tap.see(ends.answer(0, 1, 0x1f, kReadFirst, 1024)).latency_ns);
  EXPECT_EQ(tap.see(ends.answer(1, 1, 0x1f, kReadLast, 1024)).latency_ns, 30'000);
  EXPECT_EQ(tap.see(ends.answer(2, 2, 0x1f, kReadOnly, 1024)).latency_ns, 30'000);
}

TEST(Connections, TheFirstReadIsTimedThoughItsResponsesTellThePathMtu) {
  const Ends ends;
  Tap tap;
  for (uint32_t psn = 0; psn < 12; psn += 4) {
    tap.see(ends.read(psn, 1024));
    tap.see(ends.answer(psn, 1, 0x1f, kReadFirst, 256));
    for (const uint32_t middle : {1, 2}) tap.see(ends.answer(psn + middle, 1, 0x1f, kReadMiddle, 256));
    EXPECT_EQ(tap.see(ends.answer(psn + 3, 1, 0x1f, kReadLast, 256)).latency_ns, 40'000);
  }
  tap.tracker.finish();
  EXPECT_EQ(tap.lane_to(0x12).reads.untimed(), 0u);
  EXPECT_EQ(tap.lane_to(0x12).reads.losses().ranges, 0u);
}

TEST(Connections, EqualQpnsAtBothEndsAndRequestsBothWays) {
  Ends ends;
  ends.requester_qpn = ends.responder_qpn = 0x11;
  const Ends back = ends.reversed();
  Tap tap;
  for (uint32_t i = 0; i < 8; ++i) {
    tap.see(ends.write(100 + i));
    tap.see(back.write(5000 + i));
    tap.see(ends.answer(100 + i, i + 1));
    tap.see(back.answer(5000 + i, i + 1));
  }
  tap.tracker.finish();
  const auto& lanes = tap.tracker.lanes();
  ASSERT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes[0].peer, 1u);
  EXPECT_EQ(lanes[1].peer, 0u);
  EXPECT_EQ(lanes[0].requests.first(), 100u);
  EXPECT_EQ(lanes[1].requests.first(), 5000u);
  for (const Lane& lane : lanes) EXPECT_EQ(lane.starting_msn, 0u);
}

TEST(Connections, EqualPsnsOfTwoConnectionsAreAmbiguous) {
  Ends a, b;
  b.requester_qpn = 0x21;
  b.responder_qpn = 0x22;
  Tap tap;
  for (uint32_t psn = 0; psn < 20; ++psn) {
    for (const Ends& ends : {a, b}) tap.see(ends.write(psn));
    for (const Ends& ends : {a, b}) tap.see(ends.answer(psn, psn + 1));
  }
  for (const Lane& lane : tap.tracker.lanes()) EXPECT_EQ(lane.peer, kNoLane) << "no supposition either";
  tap.tracker.finish();
  for (const uint32_t qpn : {0x11, 0x21}) {
    EXPECT_EQ(tap.lane_to(qpn).peer, kNoLane);
    const std::string why = tap.tracker.ambiguity(tap.id_to(qpn));
    EXPECT_NE(why.find("0x12"), std::string::npos) << why;
    EXPECT_NE(why.find("0x22"), std::string::npos) << why;
  }
}

TEST(Connections, WhatOneConnectionLeavesOpenTheOtherDecides) {
  Ends a, b;
  b.requester_qpn = 0x21;
  b.responder_qpn = 0x22;
  Tap tap;
  for (uint32_t psn = 0; psn < 20; ++psn) tap.see(a.write(psn));  // a is ahead: its responses fit only there
  for (uint32_t psn = 0; psn < 20; ++psn) {
    tap.see(b.write(psn));
    tap.see(a.answer(std::min(psn + 5, 19u), psn + 6));
    tap.see(b.answer(psn, psn + 1));  // fits both
  }
  tap.tracker.finish();
  EXPECT_EQ(tap.lane_to(0x11).peer, tap.id_to(0x12));
  EXPECT_EQ(tap.lane_to(0x21).peer, tap.id_to(0x22));
}

TEST(Connections, FourThousandOfTwoHosts) {
  constexpr uint32_t kConnections = 4000;
  std::mt19937 random(1);
  Tap tap;
  std::vector<uint32_t> starts;
  for (uint32_t i = 0; i < kConnections; ++i) starts.push_back(static_cast<uint32_t>(random()) & 0xffffff);
  const auto ends_of = [](uint32_t i) { return Ends{"10.0.0.2", "10.0.0.1", 0x1000 + i, 0x1000 + i}; };
  for (uint32_t round = 0; round < 4; ++round) {
    for (uint32_t i = 0; i < kConnections; ++i) tap.see(ends_of(i).request(kWriteOnly, starts[i] + round, 4));
    for (uint32_t i = 0; i < kConnections; ++i) tap.see(ends_of(i).answer(starts[i] + round, round + 1));
  }
  tap.tracker.finish();
  uint32_t paired = 0;
  for (uint32_t id = 0; id < 2 * kConnections; ++id) {
    const Lane& lane = tap.tracker.lanes()[id];
    if (lane.peer == kNoLane) continue;
    ++paired;
    EXPECT_EQ(tap.tracker.lanes()[lane.peer].qpn, lane.qpn) << "never to another one";
  }
  EXPECT_GE(paired, 2 * kConnections - 20) << "but where two begin with neighbouring PSNs";
}

TEST(Connections, AQpTableDecides) {
  Ends a, b;
  b.requester_qpn = 0x21;
  b.responder_qpn = 0x22;
  QpTable table;
  const std::string file = testing::TempDir() + "/qp_table.json";
  std::ofstream(file) << R"([{"ifindex":0,"ifname":"rxe0","port":1,"lqpn":1,"type":"GSI","state":"RTS"},
    {"ifname":"rxe0","lqpn":17,"rqpn":18,"type":"RC","state":"RTS"}, {"lqpn":33,"rqpn":34,"type":"RC"}])";
  table.read(ip("10.0.0.2"), file);
  TrackerOptions options;
  options.qp_table = &table;
  Tap tap(options);
  for (uint32_t psn = 0; psn < 20; ++psn) {
    for (const Ends& ends : {a, b}) tap.see(ends.write(psn));
    for (const Ends& ends : {a, b}) tap.see(ends.answer(psn, psn + 1));
  }
  tap.tracker.finish();
  EXPECT_EQ(tap.lane_to(0x11).peer, tap.id_to(0x12));
  EXPECT_EQ(tap.lane_to(0x21).peer, tap.id_to(0x22));
  EXPECT_EQ(tap.lane_to(0x12).paired_by, PairedBy::kQpTable);
}

TEST(Connections, ReuseOfAQpnShowsByTheMsn) {
  const Ends ends;
  Tap tap;
  for (uint32_t i = 0; i < 10; ++i) {
    tap.see(ends.write(1000 + i));
    tap.see(ends.answer(1000 + i, i + 1));
  }
  for (uint32_t i = 0; i < 10; ++i) {
    tap.see(ends.write(0x900000 + i));
    tap.see(ends.answer(0x900000 + i, i + 1));
  }
  tap.tracker.finish();
  const Lane& lane = tap.lane_to(0x12);
  EXPECT_EQ(lane.life, 1u);
  EXPECT_EQ(lane.proof, LifeProof::kMsnRestarts);
  EXPECT_EQ(lane.requests.first(), 0x900000u);
  EXPECT_EQ(lane.peer, tap.id_to(0x11));
  EXPECT_EQ(tap.lane_to(0x11).life, 1u);
  const Lane& before = tap.tracker.lanes()[lane.previous];
  EXPECT_EQ(before.peer, tap.lane_to(0x11).previous);
  EXPECT_EQ(before.messages.total(), 10u);
  EXPECT_EQ(lane.requests.losses().ranges, 0u);
}

TEST(Connections, AJumpOfThePsnWhoseMsnGoesOnIsAHoleOfTheTap) {
  const Ends ends;
  Tap tap;
  for (uint32_t i = 0; i < 10; ++i) {
    tap.see(ends.write(1000 + i));
    tap.see(ends.answer(1000 + i, i + 1));
  }
  for (uint32_t i = 0; i < 10; ++i) {
    tap.see(ends.write(101'000 + i));
    tap.see(ends.answer(101'000 + i, 100'001 + i));
  }
  tap.tracker.finish();
  const Lane& lane = tap.lane_to(0x12);
  EXPECT_EQ(lane.life, 0u);
  EXPECT_EQ(lane.proof, LifeProof::kMsnGoesOn);
  EXPECT_EQ(lane.requests.losses().tap, 101'000u - 1010u);
  EXPECT_EQ(lane.requests.losses().wire, 0u);
  EXPECT_EQ(lane.first_index, 1u);
  EXPECT_EQ(tap.tracker.lanes()[0].absorbed_by, tap.id_to(0x12));
}

TEST(Connections, StateIsAdoptedAtTheFirstMessage) {
  const Ends ends;
  Tap tap;
  tap.see_all({ends.request(kWriteMiddle, 7), ends.request(kWriteLast, 8), ends.request(kWriteFirst, 9),
               ends.request(kWriteLast, 10), ends.answer(10, 42)});
  const Lane& lane = tap.lane_to(0x12);
  EXPECT_TRUE(lane.adopted);
  EXPECT_EQ(lane.adopted_psn, 9u);
  EXPECT_EQ(lane.adopted_index, 3u);
  EXPECT_EQ(lane.starting_msn, 41u) << "one message completes after the state is known";
  EXPECT_TRUE(any_line_has(tap.tracker.assumptions(tap.id_to(0x12)), "inside a message"));
}

TEST(Connections, StartingMsnWrapsAndNeedsAnUnbrokenCapture) {
  const Ends ends;
  Tap tap;
  tap.see_all({ends.write(5), ends.write(6), ends.answer(6, 1)});
  EXPECT_EQ(tap.lane_to(0x12).starting_msn, 0xffffffu);
  Tap broken;
  broken.see_all({ends.write(5), ends.write(7), ends.answer(7, 3), ends.write(8), ends.answer(8, 4)});
  EXPECT_FALSE(broken.lane_to(0x12).starting_msn) << "the message that the tap missed would count as not there";
}

TEST(Connections, PathMtuFromAFirstPacketOfEitherDirection) {
  const Ends ends;
  Tap tap;
  tap.see_all({ends.read(0, 8192), ends.answer(0, 1, 0x1f, kReadFirst, 2048), ends.read(4, 2048)});
  EXPECT_EQ(tap.lane_to(0x12).path_mtu, 2048u);
  EXPECT_EQ(tap.lane_to(0x12).requests.losses().ranges, 0u) << "the READ of 8192 takes 4 PSNs";
}

TEST(Connections, PathMtuFromThePsnThatFollowsARead) {
  for (const uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    const Ends ends;
    Tap tap;
    tap.see_all({ends.read(0, 65536), ends.read(65536 / mtu, 64)});
    EXPECT_EQ(tap.lane_to(0x12).path_mtu, mtu);
    EXPECT_EQ(tap.lane_to(0x12).mtu_source, MtuSource::kPsnStep);
    EXPECT_EQ(tap.lane_to(0x12).requests.losses().ranges, 0u);
  }
}

TEST(Connections, AGivenPathMtuWins) {
  const Ends ends;
  TrackerOptions options;
  options.path_mtu = 4096;
  Tap tap(options);
  tap.see_all({ends.request(kWriteFirst, 0), ends.request(kWriteLast, 1)});
  EXPECT_EQ(tap.lane_to(0x12).path_mtu, 4096u);
}

TEST(Connections, RegionsAreWhatWasTouchedAndNotRefused) {
  const Ends ends;
  Tap tap;
  FrameSpec refused = ends.write(1);
  refused.reth = Reth{0x9000, 0x99, 64};
  tap.see_all({ends.write(0), ends.answer(0, 1), refused, ends.answer(1, 1, kNakAccess)});
  const Lane& lane = tap.lane_to(0x12);
  ASSERT_EQ(lane.memory.regions().size(), 1u);
  EXPECT_EQ(lane.memory.regions()[0].remote_key, 0x77u);
  EXPECT_EQ(lane.memory.regions()[0].first_address, 0x1000u);
  EXPECT_EQ(lane.memory.regions()[0].end_address, 0x2000u);
  EXPECT_EQ(lane.memory.regions()[0].rights, kRemoteWrite);
  EXPECT_EQ(lane.answers.fatal_syndrome, kNakAccess);
}

TEST(Connections, ANakAfterAnRnrNakTellsNoLoss) {
  const Ends ends;
  Tap tap;
  tap.see_all({ends.request(kSendOnly, 0), ends.request(kSendOnly, 1), ends.answer(0, 0, kRnrNak),
               ends.answer(0, 0, kNakSequence), ends.request(kSendOnly, 0), ends.answer(0, 0, kNakSequence)});
  EXPECT_EQ(tap.lane_to(0x12).requests.losses().ranges, 0u);
}

TEST(Connections, WrongIcrcSaysNothing) {
  std::vector<uint8_t> frame = build_frame(Ends().write(0));
  frame[60] ^= 1;
  Tap tap;
  EXPECT_EQ(tap.see(frame).packet_class, PacketClass::kUntrusted);
  EXPECT_TRUE(tap.tracker.lanes().empty());
}

// Whatever the fields are: nothing but bounded work, and no more losses than PSNs there are.
TEST(Connections, AnyPacketsAtAll) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Tap tap;
    const uint32_t base = static_cast<uint32_t>(random()) & 0xffffff;
    const uint32_t width = 1u << (1 + seed);
    for (int i = 0; i < 1000; ++i) {
      FrameSpec spec;
      spec.source = random() % 2 ? "10.0.0.1" : "10.0.0.2";
      spec.destination = random() % 8 ? (spec.source == "10.0.0.1" ? "10.0.0.2" : "10.0.0.1") : spec.source;
      spec.dest_qp = random() % 3;
      spec.opcode = static_cast<uint8_t>(random() % 8 ? random() % 24 : random());
      spec.psn = (base + random() % width) & 0xffffff;
      if (random() % 2)
        spec.reth =
            Reth{random(), static_cast<uint32_t>(random() % 4), static_cast<uint32_t>(random() >> random() % 32)};
      if (random() % 2) spec.aeth = Aeth{static_cast<uint8_t>(random()), static_cast<uint32_t>(random() % 64)};
      spec.payload = random() % 4 * 256;
      tap.now_ns += random() % 8 ? 0 : random() % 3'000'000'000;
      tap.see(spec);
    }
    tap.tracker.finish();
    for (uint32_t id = 0; id < tap.tracker.lanes().size(); ++id) {
      const Losses& losses = tap.tracker.lanes()[id].requests.losses();
      EXPECT_LT(losses.wire, uint64_t{1} << 40);
      EXPECT_LT(losses.unknown, uint64_t{1} << 40);
      tap.tracker.assumptions(id);
      tap.tracker.ambiguity(id);
    }
  }
}

// A requester and a responder that go back N, with losses before, at and behind the tap, all counted.
class LossyRun {
 public:
  struct Rates {
    double before = 0, behind = 0, tap = 0;
  };
  LossyRun(uint32_t seed, Rates rates) : random_(seed), rates_(rates) {}

  void run(uint32_t packets) {
    const uint32_t start = static_cast<uint32_t>(random_()) & 0xffffff;
    first_ = start;
    while (next_ < packets) burst(packets);
    tap.tracker.finish();
  }

  Tap tap;
  uint64_t lost_before = 0, lost_behind = 0, missed = 0;  // requests

 private:
  bool happens(double rate) { return std::uniform_real_distribution<>()(random_) < rate; }

  // Up to eight packets on the wire; then the answers come, and a timer where they do not.
  void burst(uint32_t packets) {
    const uint32_t before = next_;
    answers_.clear();
    for (uint32_t psn = next_; psn < std::min(next_ + 8, packets); ++psn) send(psn);
    for (const FrameSpec& answer : answers_) {
      if (!happens(rates_.tap)) tap.see(answer);
    }
    next_ = expected_;
    if (next_ == before && answers_.empty()) tap.now_ns += 10'000'000;
  }

  void send(uint32_t psn) {
    const FrameSpec frame = ends_.write(first_ + psn);
    if (happens(rates_.before)) {
      ++lost_before;
      return;
    }
    if (happens(rates_.tap)) {
      ++missed;
    } else {
      tap.see(frame);
    }
    if (happens(rates_.behind)) {
      ++lost_behind;
      return;
    }
    if (psn == expected_) {
      refused_ = false;
      ++expected_;
      answers_.push_back(ends_.answer(first_ + psn, expected_));
    } else if (psn > expected_ && !refused_) {
      refused_ = true;
      answers_.push_back(ends_.answer(first_ + expected_, expected_, kNakSequence));
    }
  }

  Ends ends_;
  std::mt19937 random_;
  Rates rates_;
  uint32_t first_ = 0, next_ = 0, expected_ = 0;
  bool refused_ = false;
  std::vector<FrameSpec> answers_;
};

class LossesAgainstTruth : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, LossesAgainstTruth, testing::Range(1u, 9u));

TEST_P(LossesAgainstTruth, OfTheTapAloneAreNeverOnTheWire) {
  LossyRun run(GetParam(), {0, 0, 0.05});
  run.run(2000);
  const Losses& losses = run.tap.lane_to(0x12).requests.losses();
  EXPECT_EQ(losses.wire + losses.behind, 0u);
  EXPECT_LE(losses.tap + losses.unknown, run.missed);
  EXPECT_GE(losses.tap, run.missed * 95 / 100);
}

TEST_P(LossesAgainstTruth, BeforeTheTapAreNeverOfTheTap) {
  LossyRun run(GetParam(), {0.02, 0, 0});
  run.run(2000);
  const Losses& losses = run.tap.lane_to(0x12).requests.losses();
  EXPECT_EQ(losses.tap, 0u);
  EXPECT_EQ(losses.behind, 0u);
  EXPECT_LE(losses.wire, run.lost_before);
}

TEST_P(LossesAgainstTruth, BehindTheTapAreNeverOfTheTap) {
  LossyRun run(GetParam(), {0, 0.02, 0});
  run.run(2000);
  const Losses& losses = run.tap.lane_to(0x12).requests.losses();
  EXPECT_EQ(losses.tap + losses.wire, 0u);
  EXPECT_LE(losses.behind, run.lost_behind);
  EXPECT_GE(losses.behind, run.lost_behind * 60 / 100) << "several of one burst have one NAK";
}

TEST_P(LossesAgainstTruth, OfEachKindTogether) {
  LossyRun run(GetParam(), {0.01, 0.01, 0.03});
  run.run(3000);
  const Losses& losses = run.tap.lane_to(0x12).requests.losses();
  EXPECT_LE(losses.wire + losses.behind, run.lost_before + run.lost_behind);
}

TEST_P(LossesAgainstTruth, ASecondPassSeesTheSame) {
  LossyRun a(GetParam(), {0.01, 0.01, 0.03}), b(GetParam(), {0.01, 0.01, 0.03});
  a.run(500);
  b.run(500);
  ASSERT_EQ(a.tap.tracker.lanes().size(), b.tap.tracker.lanes().size());
  EXPECT_EQ(a.tap.lane_to(0x12).requests.losses().wire, b.tap.lane_to(0x12).requests.losses().wire);
  ASSERT_EQ(a.tap.seen.size(), b.tap.seen.size());
  for (size_t i = 0; i < a.tap.seen.size(); ++i) {
    EXPECT_EQ(a.tap.seen[i].lane, b.tap.seen[i].lane);
    EXPECT_EQ(a.tap.seen[i].packet_class, b.tap.seen[i].packet_class);
    EXPECT_EQ(a.tap.seen[i].retry, b.tap.seen[i].retry);
  }
}

}  // namespace
}  // namespace traces::test
