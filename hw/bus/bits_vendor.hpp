// The Vitis HLS body of Bits<N>: a thin coat over the vendor's ap_uint, which keeps results N bits wide.
#pragma once
#include <ap_int.h>

namespace hw {

template <int N>
struct Bits {
  ap_uint<N> v;

  Bits() : v(0) {}
  explicit Bits(uint64_t x) : v(x) {}
  static Bits of(const ap_uint<N>& x) {
    Bits r;
    r.v = x;
    return r;
  }

  template <int LO, int M>
  Bits<M> get() const {
    static_assert(LO >= 0 && M > 0 && LO + M <= N, "get: field outside the value");
    return Bits<M>::of(ap_uint<M>(v.range(LO + M - 1, LO)));
  }
  template <int LO, int M>
  void set(const Bits<M>& x) {
    static_assert(LO >= 0 && LO + M <= N, "set: field outside the value");
    v.range(LO + M - 1, LO) = x.v;
  }
  template <int M>
  Bits<1> at(const Bits<M>& index) const {
    return Bits<1>::of(ap_uint<1>(ap_uint<N>(v >> index.v)));
  }

  template <int K>
  Bits shl() const {
    return of(ap_uint<N>(v << K));
  }
  template <int K>
  Bits shr() const {
    return of(ap_uint<N>(v >> K));
  }
  template <int M>
  Bits shl(const Bits<M>& k) const {
    return of(ap_uint<N>(v << k.v));
  }
  template <int M>
  Bits shr(const Bits<M>& k) const {
    return of(ap_uint<N>(v >> k.v));
  }
  template <int K>
  static Bits funnel(const Bits& lo, const Bits& hi) {
    static_assert(K >= 0 && K < N && N % 64 == 0, "funnel: whole words, shift below the width");
    return of(ap_uint<N>(lo.v >> K) | ap_uint<N>(hi.v << (N - K)));
  }
  template <int M>
  Bits<M> to() const {
    return Bits<M>::of(ap_uint<M>(v));
  }

  uint64_t u64() const {
    static_assert(N <= 64, "u64: wider than 64 bits");
    return v.to_uint64();
  }
  explicit operator bool() const { return v != 0; }
  bool ult(const Bits& o) const { return v < o.v; }
  Bits<1> parity() const { return Bits<1>(v.xor_reduce() ? 1 : 0); }
  Bits reversed_bytes() const {
    static_assert(N % 8 == 0 && N <= 64, "reversed_bytes: whole bytes, at most 64 bits");
    Bits r;
    for (int i = 0; i < N; i += 8) {
#pragma HLS UNROLL
      r.v.range(N - 1 - i, N - 8 - i) = v.range(i + 7, i);
    }
    return r;
  }

  friend bool operator==(const Bits& a, const Bits& b) {
    return a.v == b.v;
  }
  friend bool operator!=(const Bits& a, const Bits& b) {
    return a.v != b.v;
  }
  friend Bits operator&(const Bits& a, const Bits& b) {
    return of(a.v & b.v);
  }
  friend Bits operator|(const Bits& a, const Bits& b) {
    return of(a.v | b.v);
  }
  friend Bits operator^(const Bits& a, const Bits& b) {
    return of(a.v ^ b.v);
  }
  friend Bits operator~(const Bits& a) {
    return of(~a.v);
  }
  friend Bits operator+(const Bits& a, const Bits& b) {
    return of(ap_uint<N>(a.v + b.v));
  }
  friend Bits operator-(const Bits& a, const Bits& b) {
    return of(ap_uint<N>(a.v - b.v));
  }
  friend Bits operator*(const Bits& a, const Bits& b) {
    static_assert(N <= 64, "products are at most 64 bits wide");
    return of(ap_uint<N>(a.v * b.v));
  }
};

}  // namespace hw
