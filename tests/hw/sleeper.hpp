// Calls a stage with one input and one output as the kernel does (rule 5): after a step that touched a stream in the
// next cycle, otherwise when a stream wakes it or its quiet time is over - or at any time at all, since wake-ups are
// additive.
#pragma once
#include "bench.hpp"

namespace test {

template <class Stage, class In, class Out>
class Sleeper {
 public:
  Sleeper(Stage& stage, hls::stream<In>& in, hls::stream<Out>& out) : stage_(stage), in_(in), out_(out) {}

  // Once a cycle, or in any of those from which `wake` leaves nothing out.
  void cycle(hw::Cycles now, bool spurious = false) {
    const bool got_room = was_full_ && !out_.full();
    if (now < wake && in_.empty() && !got_room && !spurious) return;
    if (now > next_) skip(stage_, now - next_, 0);
    hw::world().acted = false;
    was_full_ = out_.full();
    stage_.step(in_, out_);
    calls++;
    next_ = now + 1;
    const hw::Cycles quiet = hw::world().acted ? 0 : stage_.quiet();
    wake = quiet == hw::kForever ? hw::kForever : next_ + quiet;
  }

  hw::Cycles wake = 0;  // when the stage wants to be called though no stream wakes it
  uint64_t calls = 0;

 private:
  template <class S>
  static auto skip(S& stage, hw::Cycles n, int) -> decltype(stage.skip(n)) {
    stage.skip(n);
  }
  template <class S>
  static void skip(S&, hw::Cycles, long) {}

  Stage& stage_;
  hls::stream<In>& in_;
  hls::stream<Out>& out_;
  hw::Cycles next_ = 0;
  bool was_full_ = false;
};

}  // namespace test
