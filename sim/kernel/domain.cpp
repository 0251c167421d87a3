#include "sim/kernel/domain.hpp"

#include <algorithm>
#include <stdexcept>

namespace sim {

int Domain::add_record(StageRecord record) {
  const int id = int(stages_.size());
  if (id == hw::Scheduler::kMaxStages)
    throw std::length_error("clock domain: more than " + std::to_string(hw::Scheduler::kMaxStages) + " stages");
  stages_.push_back(std::move(record));
  scheduler_.wake(id, 0);
  return id;
}

// Called for every beat at every stage, so it is part of the loop. Returns whether a token moved.
template <bool kObserved>
inline __attribute__((always_inline)) bool Domain::call(hw::World& world, int id) {
  const hw::Cycles cycle = world.now;
  StageRecord& s = stages_[size_t(id)];
  if (s.skip && cycle > s.next) s.skip(s.self, cycle - s.next);
  world.stage = id;
  world.acted = false;
  s.step(s.self);
  s.next = cycle + 1;
  s.calls++;
  const bool acted = world.acted;
  s.active += acted;
  if (!acted && s.quiet) {
    const hw::Cycles quiet = s.quiet(s.self);
    if (quiet != hw::kForever) scheduler_.wake(id, cycle + 1 + quiet);
  }
  if constexpr (kObserved) observer_->stepped(id, cycle);
  return acted;
}

const char* Domain::name_of(const void* self, int stage) {
  const Domain& domain = *static_cast<const Domain*>(self);
  return domain.stages_[size_t(stage)].name.c_str();
}

template <bool kObserved>
void Domain::run_cycle(hw::Cycles cycle, hw::Scheduler::Mask due) {
  hw::world().now = cycle;
  cycles_run_++;
  if (options_.every_cycle)
    for (int id = 0; id < int(stages_.size()); id++) due.set(id);
  const hw::Scheduler::Mask acted = options_.shuffle ? call_shuffled<kObserved>(due) : call_in_order<kObserved>(due);
  if (!acted.any()) return;
  last_active_ = cycle;
  scheduler_.wake_next(acted);
}

template <bool kObserved>
hw::Scheduler::Mask Domain::call_in_order(const hw::Scheduler::Mask& due) {
  hw::World& world = hw::world();
  hw::Scheduler::Mask acted = {};
  for (int word = 0; word < hw::Scheduler::kMaxStages / 64; word++)
    for (uint64_t left = due.w[word]; left != 0; left &= left - 1) {
      const int bit = __builtin_ctzll(left);
      acted.w[word] |= uint64_t(call<kObserved>(world, word * 64 + bit)) << bit;
    }
  return acted;
}

template <bool kObserved>
hw::Scheduler::Mask Domain::call_shuffled(const hw::Scheduler::Mask& due) {
  order_.clear();
  for (int id = 0; id < int(stages_.size()); id++)
    if (due.has(id)) order_.push_back(id);
  std::shuffle(order_.begin(), order_.end(), random_);
  hw::Scheduler::Mask acted = {};
  for (int id : order_)
    if (call<kObserved>(hw::world(), id)) acted.set(id);
  return acted;
}

template <bool kObserved>
void Domain::run_until(hw::Cycles end) {
  for (;;) {
    const hw::Cycles next = scheduler_.next();
    if (next >= end) break;
    if (options_.every_cycle)
      while (scheduler_.now() + 1 < next) {
        const hw::Cycles idle = scheduler_.now() + 1;
        run_cycle<kObserved>(idle, scheduler_.advance(idle));
      }
    run_cycle<kObserved>(next, scheduler_.advance(next));
  }
}

void Domain::run(hw::Cycles end) {
  hw::world().names = &name_of;
  hw::world().names_of = this;
  hw::world().causes = causes_;
  if (observer_)
    run_until<true>(end);
  else
    run_until<false>(end);
  hw::world().stage = -1;
}

}  // namespace sim
