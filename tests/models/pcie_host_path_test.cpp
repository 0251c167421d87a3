// Doorbells and completion queue entries on the links, in the way a host's port uses them.
#include "models/pcie_host_path.hpp"

#include "tests/models/pcie_bench.hpp"

using models::PcieParams;
using test::command;

namespace {

// A device that adds its latency to orders, and notes when it gets completions.
struct Doorbells {
  hw::Picoseconds latency;
  std::deque<hw::Cycles> orders;
  std::vector<hw::Cycles> completed;
  std::function<void(hw::Cycles)> callback;

  void ring() {  // by the CPU
    const hw::Cycles arrival = test::kClock.edge_at_or_after(test::kClock.edge(hw::world().now) + latency);
    orders.push_back(std::max(hw::world().now + 1, arrival));
    callback(orders.back());
  }
  void on_order(std::function<void(hw::Cycles)> f) { callback = std::move(f); }
  hw::Cycles next_order() const { return orders.empty() ? hw::kForever : orders.front(); }
  const hw::Cycles& order() const { return orders.front(); }
  void order_taken() { orders.pop_front(); }
  void complete(const hw::Completion&) { completed.push_back(hw::world().now); }
  uint64_t held() const { return orders.size(); }
};

// A port as models/host_port.hpp is.
struct Port {
  Port(const PcieParams& p, models::PcieLink& link)
      : device{p.write_latency, {}, {}, {}}, path(p, test::kClock, link, device) {
    path.on_order([this](hw::Cycles cycle) { waker.at(cycle); });
  }
  void step(hls::stream<hw::Completion>& completions) {
    path.settle();
    if (!completions.empty()) path.complete(completions.read());
    if (path.next_order() > hw::world().now) return;
    path.order_taken();
    taken.push_back(hw::world().now);
  }
  hw::Cycles quiet() const { return path.quiet(); }

  Doorbells device;
  models::PcieHostPath<Doorbells, hw::Completion> path;
  models::Waker waker;
  std::vector<hw::Cycles> taken;
};

// A CPU that rings in the given cycles.
struct Cpu {
  Port& port;
  std::vector<hw::Cycles> rings;
  size_t done = 0;
  void step() {
    if (done == rings.size() || rings[done] > hw::world().now) return;
    port.device.ring();
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
    EXPECT_EQ(b.port.taken, std::vector<hw::Cycles>{10 + 56});           // 40 + 3.1 + 220 ns
    EXPECT_EQ(b.port.device.completed, std::vector<hw::Cycles>{1 + 1});  // 4 + 3.1 ns; its latency is the device's
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
    EXPECT_EQ(b.port.device.completed, std::vector<hw::Cycles>{1});
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
    ASSERT_EQ(b.port.device.completed.size(), 1u);
    const hw::Picoseconds cqe_visible = test::kClock.edge(b.port.device.completed[0]) + p.write_latency;
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
    ASSERT_EQ(b.port.device.completed.size(), 500u);
    ASSERT_EQ(b.read_ends().size(), 200u);
    const std::vector<std::vector<hw::Cycles>> all = {b.port.taken, b.port.device.completed, b.sink.cycles, b.visible};
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << calling.every_cycle << calling.backwards;
  }
}

}  // namespace
