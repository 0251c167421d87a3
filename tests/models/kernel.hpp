// Calls model stages as a clock domain does, without SystemC: in every cycle, or only when woken (rule 5). A model that
// is right behaves the same in both ways, in any order of the calls.
#pragma once
#include <functional>
#include <vector>

#include "models/waker.hpp"
#include "tests/hw/bench.hpp"

namespace test {

struct Calling {
  bool every_cycle, backwards;
};
const Calling kCallings[] = {{true, false}, {true, true}, {false, false}, {false, true}};

class Kernel {
 public:
  explicit Kernel(Calling calling) : calling_(calling) {}

  template <class S, class... T>
  models::Waker add(S& stage, T&... ports) {
    const int id = int(stages_.size());
    stages_.push_back({[&stage, &ports...] { stage.step(ports...); }, [&stage] { return stage.quiet(); }});
    scheduler_.wake(id, 0);
    return {&scheduler_, id};
  }
  hw::StreamBase::End end(const models::Waker& w) { return {w.scheduler, w.stage}; }

  // The stages that are due in the running cycle.
  void step() {
    const hw::Scheduler::Mask due = scheduler_.advance(hw::world().now);
    for (size_t i = 0; i < stages_.size(); i++) {
      const size_t id = calling_.backwards ? stages_.size() - 1 - i : i;
      if (calling_.every_cycle || (due.w[id / 64] >> (id % 64) & 1)) call(int(id));
    }
  }
  uint64_t calls() const { return calls_; }

 private:
  struct Stage {
    std::function<void()> step;
    std::function<hw::Cycles()> quiet;
  };
  void call(int id) {
    hw::world().acted = false;
    stages_[size_t(id)].step();
    calls_++;
    const hw::Cycles quiet = hw::world().acted ? 0 : stages_[size_t(id)].quiet();
    if (quiet != hw::kForever) scheduler_.wake(id, hw::world().now + 1 + quiet);
  }

  Calling calling_;
  hw::Scheduler scheduler_;
  std::vector<Stage> stages_;
  uint64_t calls_ = 0;
};

inline std::vector<uint8_t> pattern(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> v(bytes);
  for (uint8_t& b : v) b = uint8_t(random());
  return v;
}

}  // namespace test
