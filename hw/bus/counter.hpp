// A counter that hardware has (rule 10): a named member of its stage, listed in HW_COUNTERS; the lowering makes it an
// output port.
#pragma once
#include "bits.hpp"

namespace hw {

#if defined(HW_LOWER)
// In hardware it counts a cycle late, so that what is counted may be known late in its cycle. The top of the stage
// settles it before every step.
struct Counter {
  Bits<32> v;
  Bits<1> late;
  void inc() { late = Bits<1>(1); }
  void settle() {
    if (bool(late)) v = v + Bits<32>(1);
    late = Bits<1>(0);
  }
};
#else
struct Counter {
  Bits<32> v;
  void inc() { v = v + Bits<32>(1); }
  void settle() {}
};
#endif

// HW_COUNTERS(name, ...): lists the counters of a stage, for reports and for comparison with hardware.
#define HW_COUNTERS(...)                 \
  template <class Visitor>               \
  void visit_counters(Visitor&& visit) { \
    visit(#__VA_ARGS__, __VA_ARGS__);    \
  }

}  // namespace hw
