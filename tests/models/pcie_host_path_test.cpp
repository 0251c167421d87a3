// Doorbells and completion queue entries on the links, in the way a host's port uses them.
#include "models/pcie_host_path.hpp"

#include "tests/models/pcie_bench.hpp"

using models::PcieParams;
using test::command;

namespace {

// A port as models/host_port.hpp is: orders come with the cycle that latency alone gives them; completions are passed
// on when they are out. Notes the cycle of everything.
struct Port {
  Port(const PcieParams& p, models::PcieLink& link) : path(p, test::kClock, link), params(p) {}

  void ring() {  // by the CPU
    const hw::Picoseconds arrival = test::kClock.edge(hw::world().now) + params.write_latency;
    orders.push_back(std::max(hw::world().now + 1, test::kClock.edge_at_or_after(arrival)));
    path.ring();
    waker.at(orders.back());
  }
  void step(hls::stream<hw::Completion>& completions) {
    path.settle();
    if (!completions.empty()) path.complete(completions.read());
    while (path.cqe_is_out()) {
      path.take_cqe();
      out.push_back(hw::world().now);
    }
    if (path.order_due(next_order()) > hw::world().now) return;
    orders.pop_front();
    path.order_taken();
    taken.push_back(hw::world().now);
  }
  hw::Cycles quiet() const { return std::min(models::quiet_until(path.order_due(next_order())), path.quiet()); }
  hw::Cycles next_order() const { return orders.empty() ? hw::kForever : orders.front(); }

  models::PcieHostPath<hw::Completion> path;
  PcieParams params;
  models::Waker waker;
  std::deque<hw::Cycles> orders;
  std::vector<hw::Cycles> taken, out;
};

// A CPU that rings in the given cycles.
struct Cpu {
  Port& port;
  std::vector<hw::Cycles> rings;
  size_t done = 0;
  void step() {
    if (done == rings.size() || rings[done] > hw::world().now) return;
    port.ring();
    done++;
  }
  hw::Cycles quiet() const { return done == rings.size() ? hw::kForever : models::quiet_until(rings[done]); }
};

struct PortBench : test::DmaBench<512> {
  hls::stream<hw::Completion> completions;
  Port port;
  Cpu cpu;
  test::Source<hw::Completion> source;

  PortBench(const PcieParams& p, test::Calling calling, const Work& work, std::vector<hw::Cycles> rings, size_t cqes,
            unsigned percent = 100)
      : DmaBench<512>(p, calling, work),
        port(p, link),
        cpu{port, std::move(rings)},
        source(bench, completions, std::vector<hw::Completion>(cqes), percent) {
    test::configure(completions, "completions", 16);
    const models::Waker w = kernel.add(port, completions);
    completions.connect_reader(kernel.end(w));
    port.waker = w;
    kernel.add(cpu);
  }
};

TEST(PcieHostPath, LatencyOfADoorbellAndOfACqe) {
  for (const test::Calling& calling : test::kCallings) {
    PortBench b(PcieParams(), calling, {}, {10}, 1);
    b.run(200);
    // 88 bytes take 3.1 ns.
    EXPECT_EQ(b.port.taken, std::vector<hw::Cycles>{10 + 56});  // 40 + 3.1 + 220 ns
    EXPECT_EQ(b.port.out, std::vector<hw::Cycles>{1 + 1});      // 4 + 3.1 ns; its latency is the device's
  }
}

TEST(PcieHostPath, UnlimitedPassesAtOnce) {
  PcieParams p;
  p.unlimited = true;
  p.write_latency = p.read_latency = 0;
  for (const test::Calling& calling : test::kCallings) {
    PortBench b(p, calling, {}, {10, 11}, 1);
    b.run(20);
    EXPECT_EQ(b.port.taken, (std::vector<hw::Cycles>{11, 12}));
    EXPECT_EQ(b.port.out, std::vector<hw::Cycles>{1});
  }
}

// A doorbell of 88 bytes each cycle on a link that carries 7.2 GB/s: they come at its rate, none is lost.
TEST(PcieHostPath, DoorbellsComeAtTheRateOfTheLink) {
  std::vector<hw::Cycles> rings;
  for (hw::Cycles c = 0; c < 300; c++) rings.push_back(c);
  for (const test::Calling& calling : test::kCallings) {
    PortBench b(test::slot(3, 8), calling, {}, rings, 0);
    b.run(2000);
    ASSERT_EQ(b.port.taken.size(), 300u);
    EXPECT_NEAR(double(b.port.taken[299] - b.port.taken[0]) * 4, 299 * 88 * 8 / models::tlp_gbps(test::slot(3, 8)), 8);
  }
}

// A CQE given after a write's last beat is out after the host has taken the write, however slow the host is.
TEST(PcieHostPath, ACqeComesBehindThePayloadBeforeIt) {
  PcieParams p;
  p.host_write_gbps = 4;
  for (const test::Calling& calling : test::kCallings) {
    PortBench b(p, calling, {{}, {command(0, 1024)}}, {}, 0);
    while (!b.beats.done()) b.run(1);
    b.source.add(hw::Completion());
    b.run(2000);
    ASSERT_EQ(b.visible.size(), 1u);
    ASSERT_EQ(b.port.out.size(), 1u);
    const hw::Picoseconds cqe_visible = test::kClock.edge(b.port.out[0]) + p.write_latency;
    EXPECT_GE(cqe_visible, b.visible[0]);
    EXPECT_GE(b.visible[0], 1024 * 2000 + p.write_latency) << "4 Gb/s";
  }
}

// All at once on a narrow link: whoever is called first in a cycle, asleep or not, everything happens in the same
// cycle.
TEST(PcieHostPath, EveryOrderOfTheCallsIsTheSame) {
  PcieParams p = test::slot(3, 4);
  p.memory.reorder = 100000;
  p.posted_headers = 8;
  std::vector<hw::Cycles> rings;
  for (hw::Cycles c = 0; c < 4000; c += 1 + c % 7) rings.push_back(c);
  std::vector<std::vector<hw::Cycles>> first;
  for (const test::Calling& calling : test::kCallings) {
    PortBench b(p, calling, {test::commands_of(600, 200), test::commands_of(300, 400)}, rings, 500, 30);
    b.run(30000);
    ASSERT_EQ(b.port.taken.size(), rings.size());
    ASSERT_EQ(b.port.out.size(), 500u);
    ASSERT_EQ(b.read_ends().size(), 200u);
    const std::vector<std::vector<hw::Cycles>> all = {b.port.taken, b.port.out, b.sink.cycles, b.visible};
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << calling.every_cycle << calling.backwards;
  }
}

}  // namespace
