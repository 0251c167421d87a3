// The time a CPU takes: a post costs `post_cost`, and a busy loop looks every `poll_gap`, counted from the end of what
// it did last, so that something that appears is seen at the next look. Both are 0 for an ideal CPU.
#pragma once
#include "hw/bus/clock.hpp"
#include "models/waker.hpp"

namespace models {

struct CpuParams {
  hw::Picoseconds post_cost = 0;
  hw::Picoseconds poll_gap = 0;
};

class Cpu {
 public:
  Cpu(const CpuParams& params, const hw::Clock& clock) : params_(params), clock_(clock) {}

  // To be called in every step that wants to post: false until the CPU has spent the time of a post on it.
  bool post() {
    const bool posts = waited([this] { return start() + params_.post_cost; });
    if (posts && hw::world().causes) explain(*hw::world().causes);
    return posts;
  }
  // To be called in every step that finds what the loop waits for: false until the loop looks.
  bool poll() {
    return waited([this] {
      const hw::Picoseconds gap = params_.poll_gap;
      return gap == 0 ? start() : free_ + (start() - free_ + gap - 1) / gap * gap;
    });
  }
  // The cycle in which the answer turns true; kForever when nobody waits for one.
  hw::Cycles due() const { return waiting_ ? due_ : hw::kForever; }

  // When the post began that has just ended.
  hw::Picoseconds posted_from() const { return free_ - params_.post_cost; }

  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }

 private:
  // What begins in the cycle in which the last work ended follows it at once, not at the edge.
  hw::Picoseconds start() const { return hw::world().now == due_ ? free_ : now(); }

  // A post takes the CPU's time up to `end_`.
  void explain(hw::Causes& causes) const {
    const hw::EventId begun = causes.later(0, end_ - params_.post_cost, 0, {hw::Part::host, 0});
    causes.held(begun, end_, {hw::Part::host, params_.post_cost}, {});
  }

  template <class F>
  bool waited(F until) {
    if (!waiting_) {
      end_ = until();
      due_ = clock_.edge_at_or_after(end_);
    }
    waiting_ = hw::world().now < due_;
    if (!waiting_) free_ = end_;
    return !waiting_;
  }

  CpuParams params_;
  hw::Clock clock_;
  bool waiting_ = false;
  hw::Picoseconds end_ = 0;  // of the wait
  hw::Cycles due_ = 0;
  hw::Picoseconds free_ = 0;  // end of what it did last
};

}  // namespace models
