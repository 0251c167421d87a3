// What of a run goes into timeline, waves and ladder: a window of time, and names by a pattern.
#pragma once
#include <string>

#include "hw/bus/clock.hpp"
#include "sim/trace/options.hpp"

namespace sim {

// `*` is any text, `?` any character, as in a shell.
inline bool matches(const char* pattern, const char* name) {
  if (*pattern == '*') return matches(pattern + 1, name) || (*name && matches(pattern, name + 1));
  if (*pattern == 0 || *name == 0) return *pattern == *name;
  return (*pattern == '?' || *pattern == *name) && matches(pattern + 1, name + 1);
}

class TraceWindow {
 public:
  explicit TraceWindow(const TraceOptions& options)
      : from_(hw::Picoseconds(options.from_us.value_or(0) * 1e6)),
        to_(options.to_us ? hw::Picoseconds(*options.to_us * 1e6) : ~hw::Picoseconds(0)),
        stages_(options.stages.value_or("*")) {}

  bool holds(hw::Picoseconds time) const { return time >= from_ && time <= to_; }
  bool wants(const std::string& name) const { return matches(stages_.c_str(), name.c_str()); }
  hw::Picoseconds from() const { return from_; }
  hw::Picoseconds to() const { return to_; }

 private:
  hw::Picoseconds from_, to_;
  std::string stages_;
};

// "12.345678": microseconds with all the picoseconds.
inline std::string microseconds(hw::Picoseconds ps) {
  std::string text = std::to_string(ps % 1000000);
  return std::to_string(ps / 1000000) + "." + std::string(6 - text.size(), '0') + text;
}

}  // namespace sim
