// A clock: edge k lies at floor(k * 10^12 / f) picoseconds, in exact integers, so that no rounding adds up
// (the 100G MAC clock is 322,265,625 Hz, whose period is no whole number of picoseconds).
#pragma once
#include <stdint.h>

namespace hw {

typedef uint64_t Picoseconds;

class Clock {
 public:
  explicit constexpr Clock(uint64_t hertz)
      : hertz_(hertz), period_(kPicosecondsPerSecond % hertz == 0 ? kPicosecondsPerSecond / hertz : 0) {}

  constexpr uint64_t hertz() const { return hertz_; }
  constexpr Picoseconds edge(uint64_t cycle) const {
    return period_ != 0 ? cycle * period_ : Picoseconds(static_cast<Wide>(cycle) * kPicosecondsPerSecond / hertz_);
  }
  // The first cycle whose edge lies at `time` or later.
  constexpr uint64_t edge_at_or_after(Picoseconds time) const {
    return period_ != 0
               ? (time + period_ - 1) / period_
               : uint64_t((static_cast<Wide>(time) * hertz_ + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond);
  }
  // The first cycle whose edge lies strictly after `time`.
  constexpr uint64_t edge_after(Picoseconds time) const { return edge_at_or_after(time + 1); }

 private:
  __extension__ typedef unsigned __int128 Wide;
  static constexpr uint64_t kPicosecondsPerSecond = 1000000000000u;
  uint64_t hertz_;
  Picoseconds period_;  // where it is a whole number, which needs no 128-bit division; else 0
};

}  // namespace hw
