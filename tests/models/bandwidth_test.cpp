// The bandwidth tests between two NICs of known timing.
#include "models/bandwidth.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/models/ideal_nic.hpp"

using models::Bandwidth;
using models::BandwidthParams;
using models::Receiver;
using models::Sides;
using models::Transfer;
using test::Pair;

namespace {

std::vector<hw::Picoseconds> times(const Bandwidth& run) {
  std::vector<hw::Picoseconds> all;
  for (const auto& m : run.completions()) all.push_back(m.completion);
  return all;
}

// A closed loop: each of the q * t messages under way returns after 2 * delay + 2 cycles.
TEST(Bandwidth, RateIsWhatIsOutstandingOverTheRoundTrip) {
  for (const test::Calling& calling : test::kCallings)
    for (unsigned qps : {1u, 3u})
      for (unsigned depth : {1u, 2u, 16u}) {
        Pair p(calling, 50);
        BandwidthParams w;
        w.tx_depth = depth;
        w.sizes = {4000};
        w.iterations = 500;
        const Sides sides = p.sides(qps, w.tx_depth);
        Bandwidth run(w, sides.a, sides.b);
        p.add(run);
        p.run(500 * 102 + 200);
        ASSERT_TRUE(run.done());
        EXPECT_TRUE(run.verify());
        ASSERT_EQ(run.completions().size(), 500u * qps);
        // Round k of each message under way completes after k round trips.
        for (size_t i = 0; i < 500 * qps; i++)
          ASSERT_EQ(run.completions()[i].completion, (i / (qps * depth) + 1) * 102 * 4000);
        EXPECT_EQ(p.device_a.held(), 0u);
      }
}

TEST(Bandwidth, PostCostBoundsTheRate) {
  std::vector<hw::Picoseconds> first;
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    BandwidthParams w;
    w.sizes = {64};
    w.cpu.post_cost = 150000;
    const Sides sides = p.sides(1, w.tx_depth);
    Bandwidth run(w, sides.a, sides.b);
    p.add(run);
    p.run(50000);
    ASSERT_TRUE(run.verify());
    // The CPU is never idle, and clock edges cost it nothing.
    const double end = double(run.completions().back().completion);
    EXPECT_NEAR(end, 1000 * 150000 + 408000, 4000);
    EXPECT_EQ(run.posts().front(), 0u);  // the begin of the post, whatever it costs
    if (first.empty()) first = times(run);
    EXPECT_EQ(times(run), first);
  }
}

TEST(Bandwidth, PollGapIsAGrid) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    BandwidthParams w;
    w.tx_depth = 4;
    w.sizes = {64};
    w.iterations = 40;
    w.cpu.poll_gap = 100000;
    const Sides sides = p.sides(1, w.tx_depth);
    Bandwidth run(w, sides.a, sides.b);
    p.add(run);
    p.run(5000);
    ASSERT_TRUE(run.verify());
    // All four are posted at once and back after 408 ns: seen by the look at 500 ns, which posts the next four.
    for (size_t i = 0; i < 40; i++) EXPECT_EQ(run.completions()[i].completion, (i / 4 + 1) * 500000);
  }
}

TEST(Bandwidth, RoundRobin) {
  Pair p({false, false}, 50);
  BandwidthParams w;
  w.tx_depth = 2;
  w.sizes = {8};
  w.iterations = 2;
  const Sides sides = p.sides(3, w.tx_depth);
  Bandwidth run(w, sides.a, sides.b);
  run.step();
  std::vector<uint64_t> order;
  for (; p.device_a.next_order() != hw::kForever; p.device_a.order_taken())
    if (const hw::Wqe* wqe = std::get_if<hw::Wqe>(&p.device_a.order().what)) order.push_back(wqe->qpn.u64());
  EXPECT_EQ(order, (std::vector<uint64_t>{17, 18, 19, 17, 18, 19}));
}

TEST(Bandwidth, StopsAtAnError) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    p.nic_a.fail_from = 10;
    BandwidthParams w;
    w.tx_depth = 4;
    w.sizes = {64};
    const Sides sides = p.sides(1, w.tx_depth);
    Bandwidth run(w, sides.a, sides.b);
    p.add(run);
    p.run(5000);
    EXPECT_TRUE(run.done());
    EXPECT_FALSE(run.verify());
    EXPECT_EQ(run.completions().size(), 12u);  // three rounds of four; the third fails from its third on
    EXPECT_EQ(run.errors(), 2u);
    EXPECT_EQ(run.first_error(), models::IBV_WC_RETRY_EXC_ERR);
  }
}

TEST(Bandwidth, AWrongByteIsFound) {
  for (Transfer transfer : {Transfer::write, Transfer::read}) {
    Pair p({false, false}, 50);
    p.nic_a.corrupt = true;
    BandwidthParams w;
    w.transfer = transfer;
    w.iterations = 1;
    const Sides sides = p.sides(1, w.tx_depth);
    Bandwidth run(w, sides.a, sides.b);
    p.add(run);
    p.run(500);
    EXPECT_TRUE(run.done());
    EXPECT_FALSE(run.verify());
  }
}

// Each of the messages that a QP keeps outstanding has its own bytes and its own place.
TEST(Bandwidth, AMessageInAnothersPlaceIsFound) {
  for (uint32_t size : {1u, 64u, 65u, 4096u, 4097u})
    for (uint64_t misplaced : {1u, 5u, 7u})
      for (Transfer transfer : {Transfer::write, Transfer::read}) {
        Pair p({false, false}, 50);
        p.nic_a.misplaced = misplaced;
        BandwidthParams w;
        w.transfer = transfer;
        w.tx_depth = 4;
        w.sizes = {size};
        w.iterations = 4;
        const Sides sides = p.sides(2, w.tx_depth);
        Bandwidth run(w, sides.a, sides.b);
        p.add(run);
        p.run(1000);
        EXPECT_TRUE(run.done());
        EXPECT_FALSE(run.verify()) << size << " bytes, message " << misplaced;
      }
}

// Every operation moves the bytes, and the receivers see each message once with its number.
TEST(Bandwidth, AllOperationsWithAndWithoutImmediateData) {
  for (const test::Calling& calling : test::kCallings)
    for (Transfer transfer : {Transfer::write, Transfer::read, Transfer::send})
      for (bool immediate : {false, true})
        for (unsigned rx_depth : {1u, 3u, 16u}) {
          if (immediate && transfer == Transfer::read) continue;
          Pair p(calling, 50);
          BandwidthParams w;
          w.transfer = transfer;
          w.immediate = immediate;
          w.tx_depth = 1;
          w.sizes = {1000};
          w.iterations = 40;
          w.start = 200;
          const Sides sides = p.sides(3, 16);
          Bandwidth run(w, sides.a, sides.b);
          p.add(run);
          std::unique_ptr<Receiver> receiver;
          if (run.needs_receiver()) {
            receiver = std::make_unique<Receiver>(run.receiver_params(rx_depth, {}), sides.b);
            p.add(*receiver);
          }
          p.run(40 * 102 + 400);
          ASSERT_TRUE(run.verify());
          EXPECT_EQ(run.posts().front(), 200u * 4000);
          if (!receiver) continue;
          EXPECT_TRUE(receiver->done());
          EXPECT_EQ(receiver->received(), 120u);
          EXPECT_EQ(receiver->errors(), 0u);
        }
}

TEST(Bandwidth, AReceiveOfAnotherLengthIsAnError) {
  Pair p({false, false}, 50);
  BandwidthParams w;
  w.transfer = Transfer::send;
  w.tx_depth = 2;
  w.sizes = {1000};
  w.iterations = 4;
  w.start = 200;
  const Sides sides = p.sides(1, 16);
  Bandwidth run(w, sides.a, sides.b);
  models::ReceiverParams r = run.receiver_params(16, {});
  const auto right = r.expected;
  r.expected = [&right](size_t qp, uint64_t n) {
    models::Arrival a = right(qp, n);
    a.bytes++;
    return a;
  };
  Receiver receiver(r, sides.b);
  p.add(run);
  p.add(receiver);
  p.run(1000);
  EXPECT_EQ(receiver.errors(), 4u);
}

// Each QP rests between a completion and its next post.
TEST(Bandwidth, ThinkTime) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    BandwidthParams w;
    w.tx_depth = 1;
    w.sizes = {64};
    w.iterations = 10;
    w.think = 100000;  // 25 cycles
    const Sides sides = p.sides(2, 1);
    Bandwidth run(w, sides.a, sides.b);
    p.add(run);
    p.run(2000);
    ASSERT_TRUE(run.verify());
    for (size_t i = 0; i < 20; i++) EXPECT_EQ(run.completions()[i].completion, (i / 2 * 127 + 102) * 4000) << i;
  }
}

// QPs with messages of different sizes send as many bytes each.
TEST(Bandwidth, SizesByQp) {
  Pair p({false, false}, 50);
  BandwidthParams w;
  w.tx_depth = 4;
  w.sizes = {4096, 64};
  w.iterations = 5;
  const Sides sides = p.sides(3, 4);
  Bandwidth run(w, sides.a, sides.b);
  p.add(run);
  p.run(20000);
  ASSERT_TRUE(run.verify());
  std::vector<uint64_t> messages(3);
  for (const auto& m : run.completions()) messages[m.qp]++;
  EXPECT_EQ(messages, (std::vector<uint64_t>{5, 320, 320}));
}

// However deep the queue, buffers stay within their bound.
TEST(Bandwidth, BuffersFitInTheirBound) {
  for (uint32_t size : {64u, 65536u, 6000000u}) {
    Pair p({false, false}, 50);
    BandwidthParams w;
    w.tx_depth = 1024;
    w.sizes = {size};
    w.iterations = 3000;
    const Sides sides = p.sides(2, w.tx_depth);
    const Bandwidth run(w, sides.a, sides.b);
    EXPECT_LE(p.memory_a.pages(), Bandwidth::kBufferBytes / models::HostMemory::kPageBytes);
    EXPECT_GE(p.memory_a.pages(), std::min<uint64_t>(2 * 1024 * size, 12000000) / models::HostMemory::kPageBytes);
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
  const auto check = [](models::Device& d, uint64_t expected, uint64_t psn, uint64_t peer, uint64_t own_ip,
                        uint64_t peer_ip) {
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
