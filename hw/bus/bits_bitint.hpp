// The open-synthesis body of Bits<N>: clang's exact-width integers, which LLVM IR carries as iN.
// Copies are written out so that clang copies fields, not memory: the lowering wants no memcpy. A _BitInt itself is
// only handed on by reference: by value the ABI makes whole 64-bit words of it, which are no value of any object.
#pragma once

namespace hw {

// Folds a value upon itself, half by half.
template <int N>
struct Parity {
  static constexpr unsigned _BitInt(1) of(const unsigned _BitInt(N) & x) {
    typedef unsigned _BitInt((N + 1) / 2) Half;
    return Parity<(N + 1) / 2>::of(Half(Half(x) ^ Half(x >> ((N + 1) / 2))));
  }
};
template <>
struct Parity<1> {
  static constexpr unsigned _BitInt(1) of(const unsigned _BitInt(1) & x) { return x; }
};

template <int N>
struct Bits {
  typedef unsigned _BitInt(N) Word;
  Word v;

  constexpr Bits() : v(0) {}
  explicit constexpr Bits(uint64_t x) : v(Word(x)) {}
  constexpr Bits(const Bits& o) : v(o.v) {}
  constexpr Bits& operator=(const Bits& o) {
    v = o.v;
    return *this;
  }
  static constexpr Bits of(const Word& x) {
    Bits r;
    r.v = x;
    return r;
  }

  template <int LO, int M>
  constexpr Bits<M> get() const {
    static_assert(LO >= 0 && M > 0 && LO + M <= N, "get: field outside the value");
    return Bits<M>::of(typename Bits<M>::Word(v >> LO));
  }
  template <int LO, int M>
  constexpr void set(const Bits<M>& x) {
    static_assert(LO >= 0 && LO + M <= N, "set: field outside the value");
    typedef typename Bits<M>::Word Field;
    const Word mask = Word(Word(Field(~Field(0))) << LO);
    v = Word((v & Word(~mask)) | Word(Word(x.v) << LO));
  }
  template <int M>
  constexpr Bits<1> at(const Bits<M>& index) const {
    return Bits<1>::of(typename Bits<1>::Word(in_range(index) ? v >> Word(index.v) : Word(0)));
  }

  template <int K>
  constexpr Bits shl() const {
    return of(K >= N ? Word(0) : Word(v << (K % N)));
  }
  template <int K>
  constexpr Bits shr() const {
    return of(K >= N ? Word(0) : Word(v >> (K % N)));
  }
  template <int M>
  constexpr Bits shl(const Bits<M>& k) const {
    return of(in_range(k) ? Word(v << Word(k.v)) : Word(0));
  }
  template <int M>
  constexpr Bits shr(const Bits<M>& k) const {
    return of(in_range(k) ? Word(v >> Word(k.v)) : Word(0));
  }
  template <int K>
  static constexpr Bits funnel(const Bits& lo, const Bits& hi) {
    static_assert(K >= 0 && K < N && N % 64 == 0, "funnel: whole words, shift below the width");
    return K == 0 ? lo : of(Word(Word(lo.v >> K) | Word(hi.v << ((N - K) % N))));
  }
  template <int M>
  constexpr Bits<M> to() const {
    return Bits<M>::of(typename Bits<M>::Word(v));
  }

  constexpr uint64_t u64() const {
    static_assert(N <= 64, "u64: wider than 64 bits");
    return uint64_t(v);
  }
  explicit constexpr operator bool() const { return v != 0; }
  constexpr bool ult(const Bits& o) const { return v < o.v; }
  constexpr Bits<1> parity() const { return Bits<1>::of(Parity<N>::of(v)); }
  constexpr Bits reversed_bytes() const {
    static_assert(N % 8 == 0 && N <= 64, "reversed_bytes: whole bytes, at most 64 bits");
    Word r = 0;
#pragma clang loop unroll(full)
    for (int i = 0; i < N; i += 8) r = Word(r | Word(Word(Word(v >> i) & Word(0xff)) << (N - 8 - i)));
    return of(r);
  }

  friend constexpr bool operator==(const Bits& a, const Bits& b) {
    return a.v == b.v;
  }
  friend constexpr bool operator!=(const Bits& a, const Bits& b) {
    return a.v != b.v;
  }
  friend constexpr Bits operator&(const Bits& a, const Bits& b) {
    return of(Word(a.v & b.v));
  }
  friend constexpr Bits operator|(const Bits& a, const Bits& b) {
    return of(Word(a.v | b.v));
  }
  friend constexpr Bits operator^(const Bits& a, const Bits& b) {
    return of(Word(a.v ^ b.v));
  }
  friend constexpr Bits operator~(const Bits& a) {
    return of(Word(~a.v));
  }
  friend constexpr Bits operator+(const Bits& a, const Bits& b) {
    return of(Word(a.v + b.v));
  }
  friend constexpr Bits operator-(const Bits& a, const Bits& b) {
    return of(Word(a.v - b.v));
  }
  friend constexpr Bits operator*(const Bits& a, const Bits& b) {
    static_assert(N <= 64, "products are at most 64 bits wide");
    return of(Word(a.v * b.v));
  }

 private:
  // A shift by N or more is undefined for _BitInt; here it gives zero, as in the other bodies.
  template <int M>
  static constexpr bool in_range(const Bits<M>& k) {
    return M < 32 && (uint64_t(1) << M) <= uint64_t(N) ? true : uint64_t(k.v) < uint64_t(N);
  }
};

}  // namespace hw
