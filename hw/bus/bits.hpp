// Bits<N>: an unsigned value of exactly N bits, the only arithmetic type that stages speak.
//
// One vocabulary, three bodies, chosen by the build:
//   simulation, any compiler        plain 64-bit words        bits_plain.hpp
//   open synthesis (HW_LOWER)       unsigned _BitInt(N)       bits_bitint.hpp
//   Vitis HLS (__SYNTHESIS__)       ap_uint<N>                bits_vendor.hpp
// The bodies are tested against each other (tests/vocabulary). In every body:
//   * the default value is zero, conversion from and to integers is explicit;
//   * results are as wide as the left operand and wrap; `a * b` needs N <= 64;
//   * get<LO, M>() and set<LO>(v) take constant positions, at(i) and the shifts by Bits are indexed;
//   * funnel<K>(lo, hi) is bits K .. K+N-1 of the 2N-bit value hi:lo, the step of every re-aligner.
#pragma once
#include <stdint.h>

namespace hw {

// Number of bits that hold the values 0 .. n-1 (at least one).
constexpr int clog2(uint64_t n) {
  return n <= 2 ? 1 : 1 + clog2((n + 1) / 2);
}

}  // namespace hw

#if defined(__SYNTHESIS__)
#include "bits_vendor.hpp"
#elif defined(HW_LOWER)
#include "bits_bitint.hpp"
#else
#include "bits_plain.hpp"
#endif

namespace hw {

template <int A, int B>
inline Bits<A + B> cat(const Bits<A>& hi, const Bits<B>& lo) {
  Bits<A + B> r = lo.template to<A + B>();
  r.template set<B>(hi);
  return r;
}

// Byte order: header fields are big endian on the wire, beats hold byte 0 in bits 7:0.
template <int N>
inline Bits<N> byte_swap(const Bits<N>& x) {
  return x.reversed_bytes();
}

}  // namespace hw
