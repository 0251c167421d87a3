// Bytes of a beat: small functions that the stages which cut and join packets share.
#pragma once
#include "bits.hpp"

namespace hw {

template <int N>
inline Bits<N> smaller(const Bits<N>& a, const Bits<N>& b) {
  return a.ult(b) ? a : b;
}

// The first `count` bytes of `data`, the others zero.
template <int N, int M>
inline Bits<N> keep_bytes(const Bits<N>& data, const Bits<M>& count) {
  const Bits<M + 3> bits = count.template to<M + 3>().template shl<3>();
  return data & ~(~Bits<N>(0)).shl(bits);
}

}  // namespace hw
