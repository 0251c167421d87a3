// The workloads against a NIC of known timing: a work request taken in cycle c is in the peer's memory in c + delay and
// completes in c + 2 * delay.
#include "models/perf.hpp"

#include <deque>
#include <memory>

#include "tests/models/kernel.hpp"

using models::CpuParams;
using models::Device;
using models::DeviceParams;
using models::Host;
using models::HostMemory;
using models::WriteBandwidth;
using models::WriteBandwidthParams;
using models::WriteLatency;
using models::WriteLatencyParams;

namespace {

const hw::Clock kClock(250000000);

class IdealNic {
 public:
  IdealNic(Device& device, HostMemory& own, HostMemory& peer, hw::Cycles delay)
      : device_(device), own_(own), peer_(peer), delay_(delay) {
    device.on_order([this](hw::Cycles cycle) { waker.at(cycle); });
  }

  void step() {
    while (!completions_.empty() && completions_.front().first <= hw::world().now) {
      device_.complete(completions_.front().second);
      completions_.pop_front();
    }
    while (device_.next_order() <= hw::world().now) {
      if (const hw::Wqe* wqe = std::get_if<hw::Wqe>(&device_.order().what)) write(*wqe);
      device_.order_taken();
    }
  }
  hw::Cycles quiet() const {
    const hw::Cycles completion = completions_.empty() ? hw::kForever : completions_.front().first;
    return models::quiet_until(std::min(completion, device_.next_order()));
  }

  models::Waker waker;
  uint64_t fail_from = ~uint64_t(0);  // work requests from this one on complete with an error
  bool corrupt = false;
  uint64_t misplaced = ~uint64_t(0);  // the work request that goes where the one before it went

 private:
  void write(const hw::Wqe& wqe) {
    std::vector<uint8_t> data(wqe.length.u64());
    own_.read(wqe.local_address.u64(), data.data(), data.size());
    if (corrupt) data[data.size() / 2] ^= 1;
    const uint64_t address = taken_ == misplaced ? last_address_ : wqe.remote_address.u64();
    peer_.post(hw::world().now + delay_, address, data.data(), data.size());
    last_address_ = address;
    hw::Completion c;
    c.qpn = wqe.qpn;
    c.index = wqe.index;
    c.status = hw::Bits<4>(taken_ >= fail_from ? hw::kRetriesExceeded : hw::kSuccess);
    taken_++;
    completions_.emplace_back(hw::world().now + 2 * delay_, c);
  }

  Device& device_;
  HostMemory &own_, &peer_;
  hw::Cycles delay_;
  uint64_t taken_ = 0, last_address_ = 0;
  std::deque<std::pair<hw::Cycles, hw::Completion>> completions_;
};

DeviceParams no_latency(uint32_t first_qpn) {
  DeviceParams p;
  p.doorbell_latency = p.completion_latency = 0;
  p.first_qpn = first_qpn;
  return p;
}

struct Pair {
  test::Bench bench;
  test::Kernel kernel;
  HostMemory memory_a, memory_b;
  Device device_a{no_latency(17)}, device_b{no_latency(1000)};
  Host a{device_a, memory_a, kClock, 0xa, 0xa}, b{device_b, memory_b, kClock, 0xb, 0xb};
  IdealNic nic_a, nic_b;

  Pair(test::Calling calling, hw::Cycles delay)
      : kernel(calling), nic_a(device_a, memory_a, memory_b, delay), nic_b(device_b, memory_b, memory_a, delay) {
    nic_a.waker = kernel.add(nic_a);
    nic_b.waker = kernel.add(nic_b);
  }
  template <class S>
  void add(S& stage) {
    stage.waker = kernel.add(stage);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

// Doorbell 1 cycle, the way `delay`: a pong is there after 2 * (1 + delay), and so is the completion of the ping.
TEST(WriteLatency, HalfARoundTrip) {
  for (const test::Calling& calling : test::kCallings)
    for (uint32_t size : {1u, 2u, 64u, 5000u}) {
      Pair p(calling, 50);
      WriteLatencyParams w;
      w.size = size;
      w.iterations = 600;
      WriteLatency run(w, p.a, p.b);
      p.add(run.client);
      p.add(run.server);
      p.run(600 * 102 + 200);
      EXPECT_TRUE(run.done());
      EXPECT_TRUE(run.verify());
      ASSERT_EQ(run.samples().size(), 599u);
      for (hw::Picoseconds s : run.samples()) ASSERT_EQ(s, 51u * 4000);
    }
}

// The CPU's cost of a post lies on the way of both messages.
TEST(WriteLatency, PostCostIsPaidOnEachWay) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    WriteLatencyParams w;
    w.iterations = 50;
    w.cpu.post_cost = 100000;
    WriteLatency run(w, p.a, p.b);
    p.add(run.client);
    p.add(run.server);
    p.run(10000);
    ASSERT_TRUE(run.verify());
    for (hw::Picoseconds s : run.samples()) EXPECT_EQ(s, 51u * 4000 + 100000);
  }
}

// A loop that looks every 1000 ns sees what is 204 ns away after 1000 ns, and every calling agrees.
TEST(WriteLatency, PollGapDelaysTheAnswer) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    WriteLatencyParams w;
    w.iterations = 20;
    w.cpu.poll_gap = 1000000;
    WriteLatency run(w, p.a, p.b);
    p.add(run.client);
    p.add(run.server);
    p.run(40000);
    ASSERT_TRUE(run.verify());
    // Posted at 0, the completion is seen at 1000 ns; the pong, posted by the server's look at 1000 ns, by the look at
    // 2000 ns.
    for (hw::Picoseconds s : run.samples()) EXPECT_EQ(s, 1000000u);
  }
}

TEST(WriteLatency, AWrongByteIsFound) {
  Pair p({false, false}, 50);
  p.nic_a.corrupt = true;
  WriteLatencyParams w;
  w.size = 64;
  w.iterations = 3;
  WriteLatency run(w, p.a, p.b);
  p.add(run.client);
  p.add(run.server);
  p.run(1000);
  EXPECT_TRUE(run.done());
  EXPECT_FALSE(run.verify());
}

// A closed loop: each of the q * t messages under way returns after 2 * delay + 2 cycles.
TEST(WriteBandwidth, RateIsWhatIsOutstandingOverTheRoundTrip) {
  for (const test::Calling& calling : test::kCallings)
    for (unsigned qps : {1u, 3u})
      for (unsigned depth : {1u, 2u, 16u}) {
        Pair p(calling, 50);
        WriteBandwidthParams w;
        w.qps = qps;
        w.tx_depth = depth;
        w.size = 4000;
        w.iterations = 500;
        WriteBandwidth run(w, p.a, p.b);
        p.add(run);
        p.run(500 * 102 + 200);
        ASSERT_TRUE(run.done());
        EXPECT_TRUE(run.verify());
        ASSERT_EQ(run.completions().size(), 500u * qps);
        const double exact = double(qps * depth) * 4000 * 8 / (102 * 4);
        EXPECT_NEAR(run.steady_gbps(), exact, exact * 0.04);
        EXPECT_EQ(run.completions().front(), 102u * 4000);
        EXPECT_EQ(p.device_a.held(), 0u);
      }
}

TEST(WriteBandwidth, PostCostBoundsTheRate) {
  std::vector<hw::Picoseconds> first;
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    WriteBandwidthParams w;
    w.size = 64;
    w.cpu.post_cost = 150000;
    WriteBandwidth run(w, p.a, p.b);
    p.add(run);
    p.run(50000);
    ASSERT_TRUE(run.verify());
    // The CPU is never idle, and clock edges cost it nothing.
    const double end = double(run.completions().back());
    EXPECT_NEAR(end, 1000 * 150000 + 408000, 4000);
    EXPECT_EQ(run.posts().front(), 152000u);  // the first edge after the cost
    if (first.empty()) first = run.completions();
    EXPECT_EQ(run.completions(), first);
  }
}

TEST(WriteBandwidth, PollGapIsAGrid) {
  std::vector<hw::Picoseconds> first;
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    WriteBandwidthParams w;
    w.tx_depth = 4;
    w.size = 64;
    w.iterations = 40;
    w.cpu.poll_gap = 100000;
    WriteBandwidth run(w, p.a, p.b);
    p.add(run);
    p.run(5000);
    ASSERT_TRUE(run.verify());
    // All four are posted at once and back after 408 ns: seen by the look at 500 ns, which posts the next four.
    for (size_t i = 0; i < 40; i++) EXPECT_EQ(run.completions()[i], (i / 4 + 1) * 500000);
  }
}

TEST(WriteBandwidth, RoundRobin) {
  Pair p({false, false}, 50);
  WriteBandwidthParams w;
  w.qps = 3;
  w.tx_depth = 2;
  w.size = 8;
  w.iterations = 2;
  WriteBandwidth run(w, p.a, p.b);
  run.step();
  std::vector<uint64_t> order;
  for (; p.device_a.next_order() != hw::kForever; p.device_a.order_taken())
    if (const hw::Wqe* wqe = std::get_if<hw::Wqe>(&p.device_a.order().what)) order.push_back(wqe->qpn.u64());
  EXPECT_EQ(order, (std::vector<uint64_t>{17, 18, 19, 17, 18, 19}));
}

TEST(WriteBandwidth, StopsAtAnError) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    p.nic_a.fail_from = 10;
    WriteBandwidthParams w;
    w.tx_depth = 4;
    w.size = 64;
    WriteBandwidth run(w, p.a, p.b);
    p.add(run);
    p.run(5000);
    EXPECT_TRUE(run.done());
    EXPECT_FALSE(run.verify());
    EXPECT_EQ(run.completions().size(), 12u);  // three rounds of four; the third fails from its third on
    EXPECT_EQ(run.errors(), 2u);
    EXPECT_EQ(run.first_error(), models::IBV_WC_RETRY_EXC_ERR);
  }
}

TEST(WriteBandwidth, AWrongByteIsFound) {
  Pair p({false, false}, 50);
  p.nic_a.corrupt = true;
  WriteBandwidthParams w;
  w.iterations = 1;
  WriteBandwidth run(w, p.a, p.b);
  p.add(run);
  p.run(500);
  EXPECT_TRUE(run.done());
  EXPECT_FALSE(run.verify());
}

// Each of the messages that a QP keeps outstanding has its own bytes and its own place.
TEST(WriteBandwidth, AMessageInAnothersPlaceIsFound) {
  for (uint32_t size : {1u, 64u, 65u, 4096u, 4097u})
    for (uint64_t misplaced : {1u, 5u, 7u}) {
      Pair p({false, false}, 50);
      p.nic_a.misplaced = misplaced;
      WriteBandwidthParams w;
      w.qps = 2;
      w.tx_depth = 4;
      w.size = size;
      w.iterations = 4;
      WriteBandwidth run(w, p.a, p.b);
      p.add(run);
      p.run(1000);
      EXPECT_TRUE(run.done());
      EXPECT_FALSE(run.verify()) << size << " bytes, message " << misplaced;
    }
}

// However deep the queue, buffers stay within their bound.
TEST(WriteBandwidth, BuffersFitInTheirBound) {
  for (uint32_t size : {64u, 65536u, 6000000u}) {
    Pair p({false, false}, 50);
    WriteBandwidthParams w;
    w.qps = 2;
    w.tx_depth = 1024;
    w.size = size;
    w.iterations = 3000;
    const WriteBandwidth run(w, p.a, p.b);
    EXPECT_LE(p.memory_a.pages(), WriteBandwidth::kBufferBytes / HostMemory::kPageBytes);
    EXPECT_GE(p.memory_a.pages(), std::min<uint64_t>(2 * 1024 * size, 12000000) / HostMemory::kPageBytes);
  }
}

TEST(Host, ConnectMirrorsBothEnds) {
  Pair p({false, false}, 1);
  models::QpAttr attr;
  attr.sq_psn = 5;
  attr.rq_psn = 9;
  const uint32_t qa = p.device_a.create_qp(p.device_a.create_cq());
  const uint32_t qb = p.device_b.create_qp(p.device_b.create_cq());
  models::connect(p.a, qa, p.b, qb, attr);
  const auto check = [](Device& d, uint64_t expected, uint64_t psn, uint64_t peer, uint64_t own_ip, uint64_t peer_ip) {
    for (; d.next_order() != hw::kForever; d.order_taken()) {
      if (const auto* s = std::get_if<hw::QpStateControl>(&d.order().what)) {
        EXPECT_EQ(s->expected, hw::Psn(expected));
      }
      if (const auto* f = std::get_if<hw::FlowControlControl>(&d.order().what)) {
        EXPECT_EQ(f->psn, hw::Psn(psn));
      }
      if (const auto* c = std::get_if<hw::ConnectionControl>(&d.order().what)) {
        EXPECT_EQ(c->remote_qpn.u64(), peer);
        EXPECT_EQ(c->route.source_ip.u64(), own_ip);
        EXPECT_EQ(c->route.destination_ip.u64(), peer_ip);
      }
    }
  };
  check(p.device_a, 9, 5, 1000, 0xa, 0xb);
  check(p.device_b, 5, 9, 17, 0xb, 0xa);
}

}  // namespace
