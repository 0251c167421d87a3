// A counter that hardware has (rule 10): a named member of its stage; the lowering makes it an output port.
#pragma once
#include "bits.hpp"

namespace hw {

struct Counter {
  Bits<32> v;
  void inc() { v = v + Bits<32>(1); }
};

}  // namespace hw
