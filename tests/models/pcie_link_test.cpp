// One direction of the link with several senders: order, credits, and that nobody can tell who was called first.
#include "models/pcie_link.hpp"

#include "tests/models/pcie_bench.hpp"

using models::Grant;
using models::PcieParams;
using models::PcieWire;
using models::Priority;

namespace {

constexpr hw::Picoseconds kCycle = 4000;

// Sends in cycle 0 and asks in cycle 1.
TEST(PcieLink, TlpsOfOneCycleGoByPriorityInAnyOrderOfTheCalls) {
  const PcieParams p;
  const models::ByteTime time(p);
  for (bool backwards : {false, true}) {
    test::Bench bench;
    PcieWire wire(p, test::kClock);
    Grant payload, cqe, request;
    const std::vector<std::function<void()>> senders = {[&] {
                                                          wire.send({0, Priority::kPayload, 88, 64}, &payload);
                                                        },
                                                        [&] {
                                                          wire.send({0, Priority::kCqe, 88, 64}, &cqe);
                                                        },
                                                        [&] {
                                                          wire.send({0, Priority::kReadRequest, 24, 0}, &request);
                                                        }};
    for (size_t i = 0; i < 3; i++) {
      senders[backwards ? 2 - i : i]();
      wire.settle();
    }
    EXPECT_FALSE(payload.given());
    hw::world().now = 1;
    wire.settle();
    EXPECT_EQ(payload.start, 0u);
    EXPECT_EQ(payload.end, time.of(88));
    EXPECT_EQ(cqe.start, payload.end);
    EXPECT_EQ(request.start, cqe.end);
    EXPECT_EQ(request.end, cqe.end + time.of(24));
  }
}

// Placing what was sent in the cycle before leaves alone what is sent in this one.
TEST(PcieLink, ACycleIsPlacedAsAWhole) {
  test::Bench bench;
  PcieWire wire(PcieParams(), test::kClock);
  Grant old, request, payload;
  wire.send({0, Priority::kReadRequest, 24, 0}, &old);
  hw::world().now = 1;
  wire.send({kCycle, Priority::kReadRequest, 24, 0}, &request);
  wire.settle();
  EXPECT_TRUE(old.given());
  EXPECT_FALSE(request.given());
  wire.send({kCycle, Priority::kPayload, 88, 64}, &payload);
  hw::world().now = 2;
  wire.settle();
  EXPECT_EQ(payload.start, kCycle);
  EXPECT_EQ(request.start, payload.end);
}

TEST(PcieLink, WhatIsReadyFirstGoesFirst) {
  test::Bench bench;
  PcieWire wire(PcieParams(), test::kClock);
  Grant data, doorbell;
  wire.send({100 * kCycle, Priority::kReadData, 552, 0}, &data);
  hw::world().now = 50;
  wire.send({50 * kCycle, Priority::kDoorbell, 88, 0}, &doorbell);
  wire.settle();
  EXPECT_FALSE(doorbell.given());
  hw::world().now = 51;
  wire.settle();
  EXPECT_EQ(doorbell.start, 50 * kCycle);
  EXPECT_FALSE(data.given());
  hw::world().now = 101;
  wire.settle();
  EXPECT_EQ(data.start, 100 * kCycle);
}

// A read request waits for the writes before it, which wait for a slow host.
TEST(PcieLink, ARequestIsTakenAfterTheWritesBeforeIt) {
  PcieParams p;
  p.host_write_gbps = 8;  // a byte a nanosecond
  p.posted_headers = 1;
  test::Bench bench;
  PcieWire wire(p, test::kClock);
  const models::ByteTime time(p);
  Grant first, second, request;
  wire.send({0, Priority::kPayload, 280, 256}, &first);
  wire.send({0, Priority::kPayload, 280, 256}, &second);
  wire.send({0, Priority::kReadRequest, 24, 0}, &request);
  hw::world().now = 1;
  wire.settle();
  EXPECT_EQ(first.taken, time.of(280) + 256000);
  EXPECT_EQ(second.start, first.taken + 200000) << "the credit comes back";
  EXPECT_EQ(second.taken, second.end + 256000);
  EXPECT_EQ(request.start, second.end);
  EXPECT_EQ(request.taken, second.taken);
}

TEST(PcieLink, UnlimitedAnswersAtOnce) {
  PcieParams p;
  p.unlimited = true;
  test::Bench bench;
  PcieWire wire(p, test::kClock);
  Grant grant;
  wire.send({7, Priority::kPayload, 280, 256}, &grant);
  EXPECT_EQ(grant.start, 7u);
  EXPECT_EQ(grant.taken, 7u);
}

// Reads and writes at once: each direction carries what both put on it, and both see the same times in whatever order
// they are called, asleep or not.
TEST(PcieLink, ReadsAndWritesShareTheLink) {
  PcieParams p = test::slot(3, 8);
  p.max_read_request = 256;
  p.outstanding_reads = 256;
  std::vector<hw::Cycles> ends;
  std::vector<hw::Picoseconds> visible;
  for (const test::Calling& calling : test::kCallings) {
    test::DmaBench<512> b(p, calling, {test::commands_of(256, 1000), test::commands_of(256, 1000)});
    b.run(40000);
    ASSERT_EQ(b.read_ends().size(), 1000u);
    ASSERT_EQ(b.visible.size(), 1000u);
    if (ends.empty()) {
      ends = b.read_ends();
      visible = b.visible;
    }
    EXPECT_EQ(b.read_ends(), ends) << calling.every_cycle << calling.backwards;
    EXPECT_EQ(b.visible, visible) << calling.every_cycle << calling.backwards;
  }
  // To the host 280 bytes of each write and 24 of each request: 304 where writes alone have 280.
  const double ns = double(visible[899] - visible[100]) / 1000;
  EXPECT_NEAR(799 * 256 * 8 / ns, models::write_gbps(p, 256) * 280 / 304, 1);
}

// A read sees what every write handed over before it wrote, however slow the host is.
TEST(PcieLink, AReadNeverPassesAWrite) {
  for (unsigned host_write_gbps : {0u, 10u})
    for (hw::Picoseconds read_latency : {hw::Picoseconds(220000), hw::Picoseconds(480000)})
      for (const test::Calling& calling : test::kCallings) {
        PcieParams p;
        p.read_latency = read_latency;
        p.host_write_gbps = host_write_gbps;
        p.posted_data = 16;
        test::DmaBench<512> b(p, calling, {{}, test::commands_of(256, 12)});
        // Reads back the last page written while it waits for credits and for the host.
        b.run(1);
        while (!b.writes.done() || !b.beats.done() || b.write.held() != 0 || b.write_data.fill() != 0) b.run(1);
        b.reads.add(test::command(11 * 4096, 256));
        b.run(4000);
        const auto packets = test::to_packets<512>(b.sink.tokens);
        ASSERT_EQ(packets.size(), 1u);
        EXPECT_EQ(packets[0], test::pattern(256, 11));
      }
}

}  // namespace
