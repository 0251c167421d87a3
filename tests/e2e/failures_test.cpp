// What a run that cannot go well says: the status of every work request, and who waits for what.
#include <gtest/gtest.h>

#include "models/host.hpp"
#include "sim/testbed/testbed.hpp"

namespace {

using models::IBV_WC_REM_ACCESS_ERR;
using models::IBV_WC_RETRY_EXC_ERR;
using models::IBV_WC_SUCCESS;
using models::IBV_WC_WR_FLUSH_ERR;

constexpr uint64_t kSource = uint64_t(1) << 32, kTarget = uint64_t(1) << 40, kBytes = 16384;

// Two connected QPs; the work requests given are posted at once, the completions collected.
class Requester : public sim::Activity {
 public:
  Requester(sim::Testbed& bed, const models::QpAttr& attr)
      : a_(bed.node(0).host()), b_(bed.node(1).host()), cq_(a_.device.create_cq()), qp_(a_.device.create_qp(cq_)) {
    peer_qp_ = b_.device.create_qp(b_.device.create_cq());
    connect(a_, qp_, b_, peer_qp_, attr);
    a_.device.reg_mr(kSource, kBytes, models::IBV_ACCESS_LOCAL_WRITE);
    rkey_ = b_.device.reg_mr(kTarget, kBytes, models::IBV_ACCESS_LOCAL_WRITE | models::IBV_ACCESS_REMOTE_WRITE).rkey;
    fill(a_.memory, kSource, kBytes, 1);
    waker_ = bed.node(0).attach("host.requester", *this);
    a_.device.on_completion(cq_, [this](hw::Cycles cycle) { waker_.at(cycle); });
  }

  // A WRITE of `length` bytes to the same offset of the other side.
  models::SendWr write(uint64_t offset, uint32_t length) const {
    models::SendWr wr;
    wr.local_address = kSource + offset;
    wr.remote_addr = kTarget + offset;
    wr.length = length;
    wr.rkey = rkey_;
    return wr;
  }
  void post(models::SendWr wr) {
    wr.wr_id = posted_++;
    EXPECT_EQ(a_.device.post_send(qp_, wr), 0);
  }

  void step() {
    models::WorkCompletion wc;
    while (a_.device.poll_cq(cq_, 1, &wc) == 1) {
      EXPECT_EQ(wc.wr_id, statuses_.size());
      statuses_.push_back(wc.status);
    }
  }
  hw::Cycles quiet() const { return hw::kForever; }
  uint64_t held() const { return posted_ - statuses_.size(); }
  bool done() const override { return held() == 0; }
  uint64_t progress() const override { return statuses_.size(); }

  const std::vector<int>& statuses() const { return statuses_; }
  models::ibv_qp_state state() { return a_.device.query_qp(qp_); }
  bool arrived(uint64_t offset, uint64_t bytes) {
    return equal(a_.memory, kSource + offset, b_.memory, kTarget + offset, bytes);
  }

 private:
  models::Host a_, b_;
  models::Cq cq_;
  uint32_t qp_, peer_qp_ = 0, rkey_ = 0;
  models::Waker waker_;
  uint64_t posted_ = 0;
  std::vector<int> statuses_;
};

uint64_t counter(sim::Node& node, const std::string& name) {
  for (const sim::CounterValue& c : node.counters())
    if (c.name == name) return c.value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// What a work request that the peer must refuse looks like.
struct Forbidden {
  const char* what;
  void (*change)(models::SendWr& wr);
};

class AccessError : public testing::TestWithParam<Forbidden> {};

TEST_P(AccessError, CompletesAsRefusedAndFlushesTheRest) {
  const sim::Config config;
  sim::Testbed bed(config, 2);
  bed.join(0, 1);
  Requester requester(bed, models::QpAttr());
  for (uint64_t i = 0; i < 3; i++) requester.post(requester.write(i * 64, 64));
  models::SendWr bad = requester.write(4096, 2048);
  GetParam().change(bad);
  requester.post(bad);
  for (uint64_t i = 0; i < 2; i++) requester.post(requester.write(8192 + i * 64, 64));

  EXPECT_EQ(bed.run(requester, false).problems, std::vector<std::string>());
  EXPECT_EQ(requester.statuses(), (std::vector<int>{IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS,
                                                    IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(requester.state(), models::IBV_QPS_ERR);
  EXPECT_TRUE(requester.arrived(0, 192));
  for (uint64_t at : {4096u, 4096u + 2047u, 8192u})
    EXPECT_EQ(bed.node(1).memory().read_byte(kTarget + at), 0) << "written at " << at;
  EXPECT_EQ(counter(bed.node(1), "tx.response_queue.naks_sent"), 1u);
}

const Forbidden kForbidden[] = {
    {"WrongKey", [](models::SendWr& wr) { wr.rkey ^= 1; }},
    {"NoSuchRegion", [](models::SendWr& wr) { wr.rkey += 5 << 8; }},
    {"BeforeTheRegion", [](models::SendWr& wr) { wr.remote_addr = kTarget - 1; }},
    {"BehindTheRegion", [](models::SendWr& wr) { wr.remote_addr = kTarget + kBytes - 2047; }},
    {"AroundTheEndOfAddresses", [](models::SendWr& wr) { wr.remote_addr = ~uint64_t(0) - 100; }},
};
INSTANTIATE_TEST_SUITE_P(Forbidden, AccessError, testing::ValuesIn(kForbidden),
                         [](const auto& info) { return info.param.what; });

// `retry_cnt` repetitions of the oldest, a time-out each and one more, then the QP gives up.
class DeadPeer : public testing::TestWithParam<unsigned> {};

TEST_P(DeadPeer, RetriesAndGivesUp) {
  const sim::Config config;
  sim::Testbed bed(config, 2);
  models::FaultPlan all;
  for (uint64_t frame = 1; frame <= 1000; frame++) all.drop(frame);
  bed.join(0, 1, all);
  models::QpAttr attr;
  attr.timeout = 8;
  attr.retry_cnt = GetParam();
  Requester requester(bed, attr);
  for (uint64_t i = 0; i < 3; i++) requester.post(requester.write(i * 64, 64));

  const sim::Outcome outcome = bed.run(requester, false);
  EXPECT_EQ(outcome.problems, std::vector<std::string>());
  EXPECT_EQ(requester.statuses(), (std::vector<int>{IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(requester.state(), models::IBV_QPS_ERR);
  EXPECT_EQ(counter(bed.node(0), "tx.flow_control.local_ack_timeout_err"), GetParam() + 1);
  EXPECT_EQ(counter(bed.node(1), "mac.rx.frames"), 0u);
  // Each time-out takes 4.096 us * 2^8 at least, and at most four times that (IBTA 9.7.6.1.3).
  const hw::Picoseconds timeout = 4096000 * 256ull;
  EXPECT_GE(outcome.end, (GetParam() + 1) * timeout);
  EXPECT_LE(outcome.end, (GetParam() + 1) * 4 * timeout);
}

INSTANTIATE_TEST_SUITE_P(RetryCount, DeadPeer, testing::Values(0u, 1u, 3u, 7u));

using Stream = hls::stream<hw::Bits<32>>;

struct Source {
  void step(Stream& out) {
    if (!out.full()) out.write(hw::Bits<32>(1));
  }
};
struct NeverReads {
  void step(Stream&) {}
};
struct Clockwork {
  void step() {}
  hw::Cycles quiet() const { return 1000; }
};

class Never : public sim::Activity {
 public:
  bool done() const override { return false; }
  uint64_t progress() const override { return 0; }
};

bool contains(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

class Deadlock : public testing::Test {
 protected:
  Deadlock() {
    config_.sim.watchdog_us = 500;
    bed_ = std::make_unique<sim::Testbed>(config_, 1);
    sim::Domain& domain = bed_->node(0).domain().domain();
    sim::Elaboration added("nic0", 512, domain);
    added.stream(stuck_, "test.stuck", 2, hw::Kind::reg);
    added.stage(source_, "test.source", hw::out(stuck_));
    added.stage(reader_, "test.never_reads", hw::in(stuck_));
  }
  void expect_names(const std::vector<std::string>& lines) {
    EXPECT_TRUE(contains(lines,
                         "nic0.test.never_reads does not take nic0.test.stuck (2 of 2); it waits for its other "
                         "inputs or its own state"))
        << testing::PrintToString(lines);
  }

  sim::Config config_;
  std::unique_ptr<sim::Testbed> bed_;
  Stream stuck_;
  Source source_;
  NeverReads reader_;
  Clockwork clockwork_;
};

TEST_F(Deadlock, IsSeenWhenNothingMovesAndNamesStageAndStream) {
  const auto lines = bed_->run(Never(), false).problems;
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "deadlock: the work is not done, but nothing can move");
  expect_names(lines);
}

TEST_F(Deadlock, IsSeenByTheWatchdogWhenTimersKeepTheClockGoing) {
  bed_->node(0).attach("test.clockwork", clockwork_);
  const auto lines = bed_->run(Never(), false).problems;
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "nothing was achieved for 600 us of simulated time");
  expect_names(lines);
}

}  // namespace

// SystemC's library brings a main() of its own; this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
