// A counter that hardware has (rule 10): a named member of its stage; the lowering makes it an output port.
#pragma once
#include "bits.hpp"

namespace hw {

struct Counter {
  Bits<32> v;
  void inc() { v = v + Bits<32>(1); }
};

// HW_COUNTERS(name, ...): lists the counters of a stage, for reports and for comparison with hardware.
#define HW_COUNTERS(...)                  \
  template <class Visitor>                \
  void visit_counters(Visitor&& visit) {  \
    visit(#__VA_ARGS__, __VA_ARGS__);     \
  }

}  // namespace hw
