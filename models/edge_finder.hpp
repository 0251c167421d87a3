// hw::Clock::edge_at_or_after for a model that asks it about times that grow little by little: it walks from edge to
// edge with additions, where the clock divides 128-bit numbers. The answers are the same.
#pragma once
#include "hw/bus/clock.hpp"
#include "hw/bus/world.hpp"

namespace models {

class EdgeFinder {
 public:
  explicit EdgeFinder(const hw::Clock& clock)
      : clock_(clock), whole_(kPicosecondsPerSecond / clock.hertz()), part_(kPicosecondsPerSecond % clock.hertz()) {}

  // The first cycle whose edge lies at `time` or later.
  hw::Cycles at_or_after(hw::Picoseconds time) {
    if (time < edge_ || time - edge_ > kNear * whole_) seek(clock_.edge_at_or_after(time));
    while (edge_ < time) advance();
    return cycle_;
  }

 private:
  static constexpr uint64_t kPicosecondsPerSecond = 1000000000000u;
  static constexpr hw::Cycles kNear = 16;
  __extension__ typedef unsigned __int128 Wide;

  void seek(hw::Cycles cycle) {
    cycle_ = cycle;
    edge_ = clock_.edge(cycle);
    remainder_ = uint64_t(static_cast<Wide>(cycle) * part_ % clock_.hertz());
  }
  void advance() {
    cycle_++;
    edge_ += whole_;
    remainder_ += part_;
    if (remainder_ < clock_.hertz()) return;
    remainder_ -= clock_.hertz();
    edge_++;
  }

  hw::Clock clock_;
  uint64_t whole_, part_;  // the period: whole picoseconds, and the rest in units of 1/hertz picosecond
  hw::Cycles cycle_ = 0;
  hw::Picoseconds edge_ = 0;
  uint64_t remainder_ = 0;
};

}  // namespace models
