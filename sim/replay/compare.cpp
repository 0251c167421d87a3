#include <fmt/format.h>

#include <algorithm>

#include "sim/replay/replay.hpp"

namespace sim {

namespace {

constexpr size_t kLookAhead = 64;  // how far apart the two may drift before they are aligned again
constexpr size_t kExamples = 5;

class Comparison {
 public:
  void match() { c_.matched++; }
  void differ(const AckFields& captured, const AckFields& simulated) {
    c_.different++;
    note("captured " + to_string(captured) + ", simulated " + to_string(simulated));
  }
  void miss(const AckFields& captured) {
    c_.missing++;
    note("captured " + to_string(captured) + ", the NIC sent none");
  }
  void exceed(const AckFields& simulated) {
    c_.extra++;
    note("not captured, simulated " + to_string(simulated));
  }
  AckComparison result() { return std::move(c_); }

 private:
  void note(std::string line) {
    if (c_.examples.size() < kExamples) c_.examples.push_back(std::move(line));
  }
  AckComparison c_;
};

// The nearest place behind (i, j) where both have the same acknowledgement: the least sum of steps.
bool find_common(const std::vector<AckFields>& a, const std::vector<AckFields>& b, size_t& i, size_t& j) {
  for (size_t steps = 1; steps <= 2 * kLookAhead; steps++)
    for (size_t in_a = 0; in_a <= steps; in_a++) {
      const size_t x = i + in_a, y = j + steps - in_a;
      if (x >= a.size() || y >= b.size() || !(a[x] == b[y])) continue;
      i = x;
      j = y;
      return true;
    }
  i = a.size();
  j = b.size();
  return false;
}

}  // namespace

std::string to_string(const AckFields& f) {
  const char* kind = f.syndrome >> 5 == 0 ? "ACK" : f.syndrome >> 5 == 1 ? "RNR NAK" : "NAK";
  return fmt::format("PSN {} {} (0x{:02x}) MSN {}", f.psn, kind, f.syndrome, f.msn);
}

AckComparison compare_acks(const std::vector<AckFields>& captured, const std::vector<AckFields>& simulated) {
  Comparison comparison;
  size_t i = 0, j = 0;
  while (i < captured.size() || j < simulated.size()) {
    if (i < captured.size() && j < simulated.size() && captured[i] == simulated[j]) {
      comparison.match();
      i++, j++;
      continue;
    }
    size_t next_i = i, next_j = j;
    find_common(captured, simulated, next_i, next_j);
    for (; i < next_i && j < next_j; i++, j++) comparison.differ(captured[i], simulated[j]);
    for (; i < next_i; i++) comparison.miss(captured[i]);
    for (; j < next_j; j++) comparison.exceed(simulated[j]);
  }
  return comparison.result();
}

}  // namespace sim
