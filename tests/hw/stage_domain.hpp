// Joins stages by streams and calls each when it is due (rule 5 of the stage contract), or in every cycle.
#pragma once
#include "bench.hpp"

namespace test {

template <class Stage>
auto quiet_of(const Stage& s, int) -> decltype(s.quiet()) {
  return s.quiet();
}
template <class Stage>
hw::Cycles quiet_of(const Stage&, long) {
  return hw::kForever;
}
template <class Stage>
auto skip_of(Stage& s, hw::Cycles n, int) -> decltype(s.skip(n)) {
  s.skip(n);
}
template <class Stage>
void skip_of(Stage&, hw::Cycles, long) {}

class StageDomain {
 public:
  explicit StageDomain(bool every_cycle) : every_cycle_(every_cycle) {}

  template <class Stage>
  int add(Stage& stage, std::function<void()> step) {
    shells_.push_back(Shell{std::move(step), [&stage] { return quiet_of(stage, 0); },
                            [&stage](hw::Cycles n) { skip_of(stage, n, 0); }, 0});
    scheduler_.wake(int(shells_.size()) - 1, 0);
    return int(shells_.size()) - 1;
  }
  template <class T>
  void connect(hls::stream<T>& s, const char* name, unsigned capacity, unsigned depth, int writer, int reader) {
    s.configure(hw::StreamSpec{name, capacity, hw::Kind::lutram});
    s.connect_writer(end(writer), depth);
    s.connect_reader(end(reader));
  }
  void step() {
    const hw::Cycles now = hw::world().now;
    const hw::Scheduler::Mask due = scheduler_.advance(now);
    for (size_t i = 0; i < shells_.size(); i++) {
      Shell& shell = shells_[i];
      if (!every_cycle_ && !(due.w[i / 64] >> (i % 64) & 1)) continue;
      if (now > shell.next) shell.skip(now - shell.next);
      hw::world().acted = false;
      shell.step();
      shell.next = now + 1;
      const hw::Cycles quiet = hw::world().acted ? 0 : shell.quiet();
      if (quiet != hw::kForever) scheduler_.wake(int(i), now + 1 + quiet);
    }
  }

 private:
  struct Shell {
    std::function<void()> step;
    std::function<hw::Cycles()> quiet;
    std::function<void(hw::Cycles)> skip;
    hw::Cycles next;
  };
  hw::StreamBase::End end(int stage) {
    hw::StreamBase::End e;
    if (stage >= 0) e.scheduler = &scheduler_;
    e.stage = stage;
    return e;
  }

  bool every_cycle_;
  hw::Scheduler scheduler_;
  std::vector<Shell> shells_;
};

}  // namespace test
