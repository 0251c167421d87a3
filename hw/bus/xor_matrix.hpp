// Linear functions over bits as matrices: what synthesis makes of a CRC that a loop would chain bit by bit (rule 4).
#pragma once
#include "bits.hpp"

namespace hw {

// Maps IN bits onto OUT bits: bit r of the result is the parity of x & row[r]. Types derived from it fill in their
// columns; Constant<Derived>::value then is constant gates.
template <int IN, int OUT>
struct XorMatrix {
  enum { kWords = (IN + 63) / 64 };
  uint64_t row[OUT][kWords];

  constexpr XorMatrix() : row{} {}

  // `column`: the result for input bit `bit` alone.
  constexpr void set_column(int bit, uint64_t column) {
    static_assert(OUT <= 64, "a column is one word");
    for (int r = 0; r < OUT; r++) row[r][bit / 64] |= ((column >> r) & 1) << (bit % 64);
  }

  Bits<OUT> times(const Bits<IN>& x) const {
    Bits<OUT> y;
    for (int r = OUT - 1; r >= 0; r--) y = y.template shl<1>() | (x & mask(r)).parity().template to<OUT>();
    return y;
  }

 private:
  Bits<IN> mask(int r) const {
    Bits<IN> m;
    for (int i = kWords - 1; i >= 0; i--) m = m.template shl<64>() | Bits<IN>(row[r][i]);
    return m;
  }
};

}  // namespace hw
