// The SystemC side: hierarchy, run-ahead and clock crossing. One elaboration a process: each case is its own CTest.
#include "sim/kernel/clock_domain.hpp"

#include <gtest/gtest.h>

#include "sim/kernel/elaborate.hpp"

namespace {

using Stream = hls::stream<hw::Bits<32>>;

struct Counter {
  uint64_t n = 0;
  void step(Stream& out) {
    if (n < 1000 && !out.full()) out.write(hw::Bits<32>(n++));
  }
};
struct Log {
  const hw::Clock* clock;
  std::vector<std::pair<hw::Picoseconds, uint64_t>> seen;
  void step(Stream& in) {
    if (!in.empty()) {
      const uint64_t value = in.read().u64();
      seen.emplace_back(clock->edge(hw::world().now), value);
    }
  }
};

// A 250 MHz domain feeds a 322,265,625 Hz domain through a crossing of 4 entries.
std::vector<std::pair<hw::Picoseconds, uint64_t>> cross(hw::Picoseconds run_ahead) {
  sim::ClockDomain fast("fast", 322265625, sim::DomainOptions{}), slow("slow", 250000000, sim::DomainOptions{});
  Stream s;
  Counter counter;
  Log log{&fast.clock(), {}};
  sim::Elaboration writer("slow", 512, slow.domain()), reader("fast", 512, fast.domain());
  writer.stream(s, "s", 4, hw::Kind::reg);
  writer.stage(counter, "counter", hw::out(s));
  reader.stage(log, "log", hw::in(s));
  s.cross(slow.clock(), fast.clock());
  slow.set_run_ahead(run_ahead);
  fast.set_run_ahead(run_ahead);
  sc_core::sc_start();
  EXPECT_NE(sc_core::sc_find_object("slow.counter"), nullptr);
  EXPECT_NE(sc_core::sc_find_object("fast.log"), nullptr);
  return log.seen;
}

// The same by arithmetic alone: a write needs a free slot, a token needs two reader edges, a credit two writer edges.
std::vector<std::pair<hw::Picoseconds, uint64_t>> expected() {
  const hw::Clock fast(322265625), slow(250000000);
  const unsigned capacity = 4, depth = 2;
  std::vector<std::pair<hw::Picoseconds, uint64_t>> seen;
  std::vector<hw::Cycles> credit;
  hw::Cycles write = 0, read = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    if (i > 0) write++;
    if (i >= capacity) write = std::max(write, credit[i - capacity]);
    const hw::Cycles ready = fast.edge_after(slow.edge(write + depth)) + 1;
    read = i == 0 ? ready : std::max(ready, read + 1);
    credit.push_back(slow.edge_after(fast.edge(read + 1)) + 1);
    seen.emplace_back(fast.edge(read), i);
  }
  return seen;
}

TEST(ClockDomain, CrossingTakesTwoEdgesEachWay) {
  const auto want = expected();
  EXPECT_EQ(want[0].first, 12412u);  // offered at 8000 ps, edges of the reader at 9309 and 12412 ps
  EXPECT_EQ(cross(1), want);
}

TEST(ClockDomain, RunAheadWithinTheCrossingChangesNothing) {
  EXPECT_EQ(cross(6000), expected());
}

}  // namespace

// SystemC's library brings a main() of its own; this one comes first.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
