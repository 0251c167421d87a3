// What the simulation bodies of streams and Rams must know of the outside: the current cycle, and whom to wake.
// The clock domain that runs a stage sets `world()` before each step; nothing else in hw/ depends on it.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

namespace hw {

class Causes;

typedef uint64_t Cycles;
constexpr Cycles kForever = ~Cycles(0);

// Wake-ups of the stages of one clock domain. They are additive: a step that finds nothing to do never cancels a
// pending one (rule 5). Near ones sit in a wheel of stage masks. Far ones, 64 cycles and more away, wake their stage
// once, at the earliest of them: whoever has more than one asks again then, a timer by quiet(), a stream by itself.
class Scheduler {
 public:
  static constexpr int kMaxStages = 128;
  static constexpr Cycles kSlots = 64;
  struct Mask {
    uint64_t w[kMaxStages / 64];

    bool has(int stage) const { return w[stage / 64] >> (stage % 64) & 1; }
    void set(int stage) { w[unsigned(stage) / 64] |= uint64_t(1) << (unsigned(stage) % 64); }
    bool any() const {
      uint64_t all = 0;
      for (uint64_t word : w) all |= word;
      return all != 0;
    }
  };

  Scheduler() {
    for (Cycles& d : far_) d = kForever;
  }

  // Asks for a step of `stage` in cycle `at`, which must lie after the cycle that now runs.
  void wake(int stage, Cycles at) {
    if (__builtin_expect(at - now_ >= kSlots, 0)) return wake_far(stage, at);
    const Cycles slot = at % kSlots;
    wheel_[slot].set(stage);
    occupied_ |= uint64_t(1) << slot;
  }

  // Asks for a step of all of `stages` in the next cycle.
  void wake_next(const Mask& stages) {
    const Cycles slot = (now_ + 1) % kSlots;
    for (int i = 0; i < kMaxStages / 64; i++) wheel_[slot].w[i] |= stages.w[i];
    occupied_ |= uint64_t(1) << slot;
  }

  // The same from outside this domain: whoever runs the domain is told, since it may be asleep.
  void wake_from_outside(int stage, Cycles at) {
    wake(stage, at);
    if (listener_) listener_(listener_context_);
  }
  void set_listener(void (*listener)(void*), void* context) {
    listener_ = listener;
    listener_context_ = context;
  }

  // The first cycle after `now` in which a stage is due; kForever when none is.
  Cycles next() const {
    Cycles near = kForever;
    if (occupied_ != 0) {
      const unsigned first = unsigned((now_ + 1) % kSlots);
      const uint64_t rotated = first == 0 ? occupied_ : (occupied_ >> first) | (occupied_ << (kSlots - first));
      near = now_ + 1 + Cycles(__builtin_ctzll(rotated));
    }
    return near < far_min_ ? near : far_min_;
  }

  // Moves to `cycle` (no wake-up may lie between) and returns the stages due in it.
  Mask advance(Cycles cycle) {
    now_ = cycle;
    const Cycles slot = cycle % kSlots;
    Mask due = wheel_[slot];
    wheel_[slot] = Mask{};
    occupied_ &= ~(uint64_t(1) << slot);
    if (cycle >= far_min_) take_far(due);
    return due;
  }

  Cycles now() const { return now_; }

 private:
  void wake_far(int stage, Cycles at) {
    if (at < far_[stage]) far_[stage] = at;
    if (at < far_min_) far_min_ = at;
  }
  void take_far(Mask& due) {
    far_min_ = kForever;
    for (int s = 0; s < kMaxStages; s++) {
      if (far_[s] <= now_) {
        due.set(s);
        far_[s] = kForever;
      }
      if (far_[s] < far_min_) far_min_ = far_[s];
    }
  }

  Cycles now_ = ~Cycles(0);  // the cycle before cycle 0
  void (*listener_)(void*) = nullptr;
  void* listener_context_ = nullptr;
  uint64_t occupied_ = 0;
  Mask wheel_[kSlots] = {};
  Cycles far_[kMaxStages];
  Cycles far_min_ = kForever;
};

struct World {
  Cycles now;  // the cycle that runs, of the clock domain that runs
  bool acted;  // a stream was read or written in this step
  int stage;   // the stage that runs; -1: a test bench, which may touch any port
  const char* (*names)(const void* names_of, int stage);  // of stages, for messages
  const void* names_of;
  Causes* causes;  // who wants to know why things happen (causes.hpp); null: nobody
};

inline World& world() {
  static World w = {0, false, -1, nullptr, nullptr, nullptr};
  return w;
}

// A world without stages, as test benches want it.
inline void reset_world(Cycles now) {
  world() = World{now, false, -1, nullptr, nullptr, nullptr};
}

[[noreturn]] inline void violation(const char* what, const char* object) {
  const World& w = world();
  fprintf(stderr, "contract violation: %s: %s on %s in cycle %llu\n",
          w.stage >= 0 && w.names ? w.names(w.names_of, w.stage) : "outside of the stages", what, object,
          static_cast<unsigned long long>(w.now));
  abort();
}

}  // namespace hw
