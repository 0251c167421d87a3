// How a model stage is woken by something that is no stream: a doorbell, bytes that appear in memory, a frame from
// another clock domain.
#pragma once
#include "hw/bus/causes.hpp"
#include "hw/bus/world.hpp"

namespace models {

struct Waker {
  hw::Scheduler* scheduler = nullptr;  // null: nobody to wake, as in unit tests
  int stage = -1;
  bool outside = false;  // called from another clock domain, which must be told: this one may be asleep

  // Asks for a step in cycle `cycle`, which must lie after the cycle that the stage's domain runs.
  void at(hw::Cycles cycle) const {
    if (!scheduler) return;
    if (int64_t(cycle - scheduler->now()) <= 0) hw::violation("wake-up in the past", "waker");
    if (hw::world().causes) hw::world().causes->woken(scheduler, stage, cycle);
    if (outside)
      scheduler->wake_from_outside(stage, cycle);
    else
      scheduler->wake(stage, cycle);
  }
};

// For quiet(): steps until the one in `cycle`, seen after the step of the running cycle. An event that is already
// due waits for a stream, which wakes the stage by itself.
inline hw::Cycles quiet_until(hw::Cycles cycle) {
  if (cycle == hw::kForever || cycle <= hw::world().now) return hw::kForever;
  return cycle - hw::world().now - 1;
}

}  // namespace models
