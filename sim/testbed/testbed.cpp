#include "sim/testbed/testbed.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "sim/testbed/own_stack.hpp"

namespace sim {

namespace {

constexpr hw::Picoseconds kSlice = 100000000;  // between two looks at the progress

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Testbed::Testbed(const Config& config, size_t nodes, const NodeMaker& make) : config_(config) {
  if (config.trace.any()) trace_ = std::make_shared<Trace>(config.trace);
  for (size_t i = 0; i < nodes; i++) {
    nodes_.push_back(make(unsigned(i), config));
    nodes_.back()->domain().set_run_ahead(run_ahead());
    if (trace_) trace(*nodes_.back());
    for (const std::string& line : throughput_warnings(nodes_.back()->elaboration().streams())) spdlog::warn(line);
  }
}

void Testbed::trace(Node& node) {
  trace_->recorder().observe(node.name(), node.domain().domain(), node.domain().clock(), node.elaboration());
  Ladder* ladder = trace_->ladder();
  if (!ladder) return;
  node.observe_sent([ladder, &node](const models::Frame& frame) { ladder->sent(node.name(), frame); });
  node.observe_received([ladder, &node](const models::Frame& frame) { ladder->received(node.name(), frame); });
}

// A frame reaches the other node's first stage no earlier than its first beat has arrived.
hw::Picoseconds Testbed::run_ahead() const {
  const uint64_t first_beat = std::min<uint64_t>(config_.nic.width_bits / 8, models::kMinFrameBytes);
  const hw::Picoseconds most =
      config_.link.propagation_ps + models::line_time(models::kPreambleBytes + first_beat, config_.link.gbps);
  if (config_.sim.quantum_cycles == 0) return most;
  return std::min(most, hw::Clock(config_.nic.clock_hz).edge(config_.sim.quantum_cycles));
}

void Testbed::join(size_t a, size_t b, models::FaultPlan a_to_b, models::FaultPlan b_to_a) {
  const hw::Picoseconds delay = config_.link.propagation_ps;
  links_.push_back(std::make_unique<models::Link>(delay, node(b).from_line(), std::move(a_to_b)));
  node(a).connect(*links_.back());
  links_.push_back(std::make_unique<models::Link>(delay, node(a).from_line(), std::move(b_to_a)));
  node(b).connect(*links_.back());
}

void Testbed::capture(const std::function<std::string(const std::string&)>& file_of) {
  for (auto& node : nodes_) captures_.push_back(std::make_unique<WireCapture>(*node, file_of(node->name())));
}

Outcome Testbed::run(const Activity& activity, bool show_progress) {
  if (trace_) trace_->begin();
  using WallClock = std::chrono::steady_clock;
  const auto wall_start = WallClock::now();
  ProgressDisplay display(show_progress);
  const hw::Picoseconds patience = config_.sim.watchdog_us * hw::Picoseconds(1000000);
  uint64_t achieved = activity.progress();
  hw::Picoseconds since = 0;
  Outcome outcome;
  for (;;) {
    sc_core::sc_start(sc_core::sc_time::from_value(kSlice));
    tell_sanitizer_of_own_stack();
    if (!sc_core::sc_pending_activity()) break;
    display.show(progress_now(std::chrono::duration<double>(WallClock::now() - wall_start).count()));
    const hw::Picoseconds now = sc_core::sc_time_stamp().value();
    if (activity.progress() != achieved) {
      achieved = activity.progress();
      since = now;
    } else if (activity.watched() && now - since > patience) {
      // With all work done, a timer that nobody needs any more may run for minutes.
      if (!activity.done())
        outcome.problems =
            stuck(fmt::format("nothing was achieved for {} us of simulated time", (now - since) / 1000000));
      break;
    }
  }
  for (auto& c : captures_) c->finish();
  for (auto& n : nodes_)
    outcome.end = std::max(outcome.end, n->domain().clock().edge(n->domain().domain().last_active()));
  if (trace_) trace_->finish();
  outcome.trace = trace_;
  if (!outcome.problems.empty()) return outcome;
  if (!activity.done()) outcome.problems = stuck("deadlock: the work is not done, but nothing can move");
  std::vector<std::string>& left = activity.may_leave_work() ? outcome.left : outcome.problems;
  for (auto& n : nodes_) append(left, leftovers(n->domain().domain(), n->elaboration().streams()));
  return outcome;
}

std::vector<std::string> Testbed::stuck(const std::string& why) const {
  std::vector<std::string> lines{why};
  for (auto& n : nodes_) append(lines, waiting(n->domain().domain()));
  return lines;
}

Progress Testbed::progress_now(double wall_s) const {
  Progress p;
  p.simulated_ps = sc_core::sc_time_stamp().value();
  p.clock_hz = config_.nic.clock_hz;
  p.cycles = hw::Clock(p.clock_hz).edge_at_or_after(p.simulated_ps);
  p.wall_s = wall_s;
  for (auto& link : links_) p.packets += link->frames;
  for (auto& n : nodes_)
    for (const hw::StreamBase* s : n->elaboration().streams())
      if (s->fill() * p.capacity >= p.fill * uint64_t(s->spec().capacity) && s->fill() > 0) {
        p.fullest_stream = s->spec().name;
        p.fill = uint32_t(s->fill());
        p.capacity = s->spec().capacity;
      }
  return p;
}

}  // namespace sim
