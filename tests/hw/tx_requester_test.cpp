// The requester over a lossy channel: whatever is lost, doubled or late, each message completes once, in order, and
// nothing is left behind.
#include "requester.hpp"

namespace test {
namespace {

// A scenario for each seed: sizes, loads and faults all over their ranges.
Scenario lossy(uint64_t seed) {
  std::mt19937_64 random(seed * 7919);
  const auto pick = [&random](std::initializer_list<unsigned> values) {
    return *(values.begin() + random() % values.size());
  };
  Scenario s;
  s.seed = seed;
  s.qps = pick({1, 2, 5, 16});
  s.messages = s.qps == 1 ? 150 : 30;
  s.longest = pick({1, 3, 12, 40}) * kPmtu;
  s.operations = {{pick({0, 1, 3}), pick({0, 1}), pick({1, 0, 3})}};
  if (s.operations[0] + s.operations[1] + s.operations[2] == 0) s.operations[2] = 1;
  s.read_psns = pick({1, 2, 5, 16});
  s.max_reads = pick({1, 3, 16});
  s.window = pick({1, 2, 7, 16, 64});
  s.entries = pick({1, 3, 16, 100});
  s.ack_interval = pick({1, 4, 16});
  s.depth = pick({1, 2});
  s.packet_loss = pick({0, 1, 5, 10});
  s.answer_loss = pick({0, 1, 5, 10});
  s.answer_double = pick({0, 5, 30});
  s.answer_jitter = pick({0, 30, 200});
  s.out_room = pick({100, 70, 30});
  s.cqe_room = pick({100, 50});
  return s;
}

class RequesterSeeds : public ::testing::TestWithParam<int> {};

TEST_P(RequesterSeeds, EveryMessageCompletesOnceAndInOrder) {
  Scenario s = lossy(uint64_t(GetParam()));
  Requester every_cycle(s);
  every_cycle.run();
  every_cycle.expect_clean_end();
  for (const Qp& qp : every_cycle.qps) {
    EXPECT_EQ(qp.statuses, std::vector<uint64_t>(s.messages, hw::kSuccess));
    EXPECT_EQ(qp.sent, qp.psns.size());
    EXPECT_EQ(qp.peer->accepted(), qp.psns.size());
  }
  // The same cycles when the stages sleep.
  s.every_cycle = false;
  Requester asleep(s);
  asleep.run();
  asleep.trace.resize(every_cycle.trace.size());
  const auto differ = std::mismatch(asleep.trace.begin(), asleep.trace.end(), every_cycle.trace.begin());
  EXPECT_EQ(differ.first, asleep.trace.end()) << *differ.first << " instead of " << *differ.second;
}

// Some peers fall silent or refuse a packet; the QPs beside them do not notice.
TEST_P(RequesterSeeds, BrokenPeersEndTheirQpOnly) {
  Scenario s = lossy(uint64_t(GetParam()));
  std::mt19937_64 random(s.seed);
  s.qps += 1;
  s.broken = 1 + unsigned(random() % s.qps);
  s.break_at = random() % 20;
  s.retry_count = 7;
  const uint64_t syndromes[] = {0, 0x61, 0x62, 0x63};
  s.syndrome = syndromes[random() % 4];
  Requester requester(s);
  requester.run();
  requester.expect_clean_end();
  for (unsigned q = 0; q < s.qps; q++) {
    SCOPED_TRACE(q);
    const Qp& qp = requester.qps[q];
    size_t good = 0;
    while (good < qp.statuses.size() && qp.statuses[good] == hw::kSuccess) good++;
    if (q >= s.broken || s.break_at >= qp.psns.size()) {
      EXPECT_EQ(good, s.messages);
      continue;
    }
    const uint64_t failed_message = qp.psns[s.break_at].index.u64();
    EXPECT_LE(good, failed_message);
    ASSERT_LT(good, qp.statuses.size());
    // A NAK that is lost, or that overtakes the response of a READ, ends like silence.
    if (qp.statuses[good] != hw::kRetriesExceeded) {
      EXPECT_EQ(qp.statuses[good], s.syndrome - 0x61 + hw::kRemoteInvalid);
      EXPECT_EQ(good, failed_message) << "a NAK acknowledges what lies before it";
    } else {
      EXPECT_TRUE(s.syndrome == 0 || s.answer_loss > 0 || s.answer_jitter > 0);
    }
    for (size_t i = good + 1; i < qp.statuses.size(); i++) EXPECT_EQ(qp.statuses[i], hw::kFlushed);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RequesterSeeds, ::testing::Range(1, 201));

TEST(Requester, DeadPeerSeesTheOldestPacketOnceAndOncePerRetry) {
  Scenario s;
  s.messages = 3;
  s.longest = 0;
  s.broken = 1;
  s.break_at = 0;
  s.retry_count = 5;
  Requester requester(s);
  requester.run();
  requester.expect_clean_end();
  EXPECT_EQ(requester.qps[0].statuses, std::vector<uint64_t>({hw::kRetriesExceeded, hw::kFlushed, hw::kFlushed}));
  EXPECT_EQ(requester.packet_cycles.size(), 3u * 6);
  EXPECT_EQ(requester.flow_control->local_ack_timeout_err.v.u64(), 6u);
  EXPECT_EQ(requester.flow_control->req_transport_retries_exceeded.v.u64(), 1u);
}

// Nothing is lost, so nothing is asked for twice; a READ of 40 PSNs is three requests.
TEST(Requester, ReadsAreAskedForOnceWithoutLoss) {
  Scenario s;
  s.qps = 3;
  s.operations = {{0, 0, 1}};
  s.longest = 40 * kPmtu;
  s.window = s.entries = 64;
  Requester requester(s);
  requester.run();
  requester.expect_clean_end();
  size_t requests = 0, psns = 0;
  for (const Qp& qp : requester.qps) {
    psns += qp.psns.size();
    for (const hw::Wqe& w : qp.messages)
      requests += std::max<uint64_t>(1, (w.length.u64() + 16 * kPmtu - 1) / (16 * kPmtu));
  }
  EXPECT_EQ(requester.packet_cycles.size(), requests);
  EXPECT_EQ(requester.flow_control->sent_packets.v.u64(), requests);
  EXPECT_EQ(requester.retransmit->sent.v.u64(), psns);
  EXPECT_EQ(requester.retransmit->retransmitted.v.u64(), 0u);
}

// One packet a message and one acknowledgement a packet: a job of one cycle and one of two.
TEST(Requester, PacketAndReleaseEveryThreeCycles) {
  for (const unsigned qps : {1u, 16u}) {
    Scenario s;
    s.seed = 0;
    s.qps = qps;
    s.messages = 800 / qps;
    s.longest = 0;
    s.window = 64;
    s.entries = 64 * qps;
    Requester requester(s);
    requester.run();
    requester.expect_clean_end();
    ASSERT_EQ(requester.packet_cycles.size(), 800u);
    for (size_t i = 100; i < 799; i++)
      ASSERT_EQ(requester.packet_cycles[i + 1] - requester.packet_cycles[i], 3u) << qps << " QPs, packet " << i;
  }
}

}  // namespace
}  // namespace test
