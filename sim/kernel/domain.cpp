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

template <bool kObserved>
void Domain::call(int id, hw::Cycles cycle) {
  StageRecord& s = stages_[size_t(id)];
  if (s.skip && cycle > s.next) s.skip(s.self, cycle - s.next);
  hw::World& world = hw::world();
  world.stage = id;
  world.acted = false;
  s.step(s.self);
  s.next = cycle + 1;
  s.calls++;
  if (world.acted) {
    s.active++;
    last_active_ = cycle;
    scheduler_.wake(id, cycle + 1);
  } else if (s.quiet) {
    const hw::Cycles quiet = s.quiet(s.self);
    if (quiet != hw::kForever) scheduler_.wake(id, cycle + 1 + quiet);
  }
  if constexpr (kObserved) observer_->stepped(id, cycle);
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
    for (size_t i = 0; i < stages_.size(); i++) due.w[i / 64] |= uint64_t(1) << (i % 64);
  if (!options_.shuffle) {
    for (int word = 0; word < hw::Scheduler::kMaxStages / 64; word++)
      for (uint64_t left = due.w[word]; left != 0; left &= left - 1)
        call<kObserved>(word * 64 + __builtin_ctzll(left), cycle);
    return;
  }
  order_.clear();
  for (int word = 0; word < hw::Scheduler::kMaxStages / 64; word++)
    for (uint64_t left = due.w[word]; left != 0; left &= left - 1) order_.push_back(word * 64 + __builtin_ctzll(left));
  std::shuffle(order_.begin(), order_.end(), random_);
  for (int id : order_) call<kObserved>(id, cycle);
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
