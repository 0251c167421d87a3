// The latency tests between two NICs of known timing.
#include "models/ping_pong.hpp"

#include <gtest/gtest.h>

#include "tests/models/ideal_nic.hpp"

using models::PingPong;
using models::PingPongParams;
using models::Transfer;
using test::Pair;

namespace {

// Doorbell 1 cycle, the way `delay`, and 1 for the completion by which a SEND is seen: a pong is there after twice
// that, and so is the completion of the ping.
TEST(PingPong, HalfARoundTrip) {
  for (const test::Calling& calling : test::kCallings)
    for (uint32_t size : {1u, 2u, 64u, 5000u})
      for (Transfer transfer : {Transfer::write, Transfer::send}) {
        Pair p(calling, 50);
        PingPongParams w;
        w.transfer = transfer;
        w.start = 100;
        w.size = size;
        w.iterations = 600;
        PingPong run(w, p.sides(1, 16));
        p.add(run.client);
        p.add(run.server);
        p.run(600 * 104 + 300);
        EXPECT_TRUE(run.done());
        EXPECT_TRUE(run.verify());
        ASSERT_EQ(run.samples().size(), 599u);
        for (hw::Picoseconds s : run.samples()) ASSERT_EQ(s, (transfer == Transfer::send ? 52u : 51u) * 4000);
      }
}

// The CPU's cost of a post lies on the way of both messages.
TEST(PingPong, PostCostIsPaidOnEachWay) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    PingPongParams w;
    w.iterations = 50;
    w.cpu.post_cost = 100000;
    PingPong run(w, p.sides(1, 16));
    p.add(run.client);
    p.add(run.server);
    p.run(10000);
    ASSERT_TRUE(run.verify());
    for (hw::Picoseconds s : run.samples()) EXPECT_EQ(s, 51u * 4000 + 100000);
  }
}

// A loop that looks every 1000 ns sees what is 204 ns away after 1000 ns, and every calling agrees.
TEST(PingPong, PollGapDelaysTheAnswer) {
  for (const test::Calling& calling : test::kCallings) {
    Pair p(calling, 50);
    PingPongParams w;
    w.iterations = 20;
    w.cpu.poll_gap = 1000000;
    PingPong run(w, p.sides(1, 16));
    p.add(run.client);
    p.add(run.server);
    p.run(40000);
    ASSERT_TRUE(run.verify());
    // Posted at 0, the completion is seen at 1000 ns; the pong, posted by the server's look at 1000 ns, by the look at
    // 2000 ns.
    for (hw::Picoseconds s : run.samples()) EXPECT_EQ(s, 1000000u);
  }
}

TEST(PingPong, AWrongByteIsFound) {
  Pair p({false, false}, 50);
  p.nic_a.corrupt = true;
  PingPongParams w;
  w.size = 64;
  w.iterations = 3;
  PingPong run(w, p.sides(1, 16));
  p.add(run.client);
  p.add(run.server);
  p.run(1000);
  EXPECT_TRUE(run.done());
  EXPECT_FALSE(run.verify());
}

TEST(PingPong, ASendOfNoBytesIsReceived) {
  Pair p({false, false}, 50);
  PingPongParams w;
  w.transfer = Transfer::send;
  w.start = 100;
  w.size = 0;
  w.iterations = 40;
  PingPong run(w, p.sides(1, 16));
  p.add(run.client);
  p.add(run.server);
  p.run(40 * 104 + 300);
  EXPECT_TRUE(run.verify());
  for (hw::Picoseconds s : run.samples()) ASSERT_EQ(s, 52u * 4000);
}

TEST(PingPong, NothingIsSentBeforeTheStart) {
  Pair p({false, false}, 50);
  PingPongParams w;
  w.iterations = 2;
  w.start = 500;
  PingPong run(w, p.sides(1, 16));
  p.add(run.client);
  p.add(run.server);
  p.run(1200);
  ASSERT_TRUE(run.done());
  EXPECT_EQ(run.client.posts().front(), 500u * 4000);
}

}  // namespace
