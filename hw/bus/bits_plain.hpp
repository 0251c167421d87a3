// The simulation body of Bits<N>: plain data, upper bits of the last word always zero. Words are of 64 bits; of fewer
// where one holds the value, so that tokens and rows are small.
#pragma once

namespace hw {
namespace detail {

template <int kBytes>
struct PlainWord {
  typedef uint64_t Type;
};
template <>
struct PlainWord<1> {
  typedef uint8_t Type;
};
template <>
struct PlainWord<2> {
  typedef uint16_t Type;
};
template <>
struct PlainWord<4> {
  typedef uint32_t Type;
};

}  // namespace detail

template <int N>
struct Bits {
  typedef typename detail::PlainWord<N <= 8 ? 1 : N <= 16 ? 2 : N <= 32 ? 4 : 8>::Type Word;
  enum { kWords = (N + 63) / 64 };
  Word w[kWords];

  // Word number i, whatever it is stored as.
  uint64_t word64(int i) const { return w[i]; }
  static constexpr uint64_t top_mask() { return N % 64 ? (uint64_t(1) << (N % 64)) - 1 : ~uint64_t(0); }

  constexpr Bits() : w{} {}
  explicit constexpr Bits(uint64_t x) : w{} {
    w[0] = Word(x);
    trim();
  }
  constexpr void trim() { w[kWords - 1] = Word(w[kWords - 1] & top_mask()); }

  template <int LO, int M>
  Bits<M> get() const {
    static_assert(LO >= 0 && M > 0 && LO + M <= N, "get: field outside the value");
    Bits<M> r;
    const int word = LO / 64, bit = LO % 64;
#pragma GCC unroll 32
    for (int i = 0; i < Bits<M>::kWords; i++) {
      uint64_t x = word64(word + i) >> bit;
      if (bit != 0 && word + i + 1 < kWords) x |= word64(word + i + 1) << ((64 - bit) % 64);
      r.w[i] = Word(x);
    }
    r.trim();
    return r;
  }

  template <int LO, int M>
  void set(const Bits<M>& x) {
    static_assert(LO >= 0 && LO + M <= N, "set: field outside the value");
    const int bit = LO % 64;
#pragma GCC unroll 32
    for (int i = 0; i < Bits<M>::kWords; i++) {
      const int word = LO / 64 + i;
      const uint64_t mask = i + 1 < Bits<M>::kWords ? ~uint64_t(0) : Bits<M>::top_mask();
      w[word] = Word((word64(word) & ~(mask << bit)) | (x.word64(i) << bit));
      if (bit != 0 && word + 1 < kWords) {
        const int up = (64 - bit) % 64;
        w[word + 1] = Word((word64(word + 1) & ~(mask >> up)) | (x.word64(i) >> up));
      }
    }
  }

  template <int M>
  Bits<1> at(const Bits<M>& index) const {
    const uint64_t i = index.word64(0);
    return Bits<1>(i < N ? word64(i / 64) >> (i % 64) : 0);
  }

  template <int K>
  Bits shl() const {
    return shifted_left(K);
  }
  template <int K>
  Bits shr() const {
    return shifted_right(K);
  }
  template <int M>
  Bits shl(const Bits<M>& k) const {
    return shifted_left(k.word64(0));
  }
  template <int M>
  Bits shr(const Bits<M>& k) const {
    return shifted_right(k.word64(0));
  }

  template <int K>
  static Bits funnel(const Bits& lo, const Bits& hi) {
    static_assert(K >= 0 && K < N && N % 64 == 0, "funnel: whole words, shift below the width");
    Bits r;
    const int word = K / 64, bit = K % 64;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) {
      const int j = i + word;
      const uint64_t a = j < kWords ? lo.word64(j) : hi.word64(j - kWords);
      const uint64_t b = j + 1 < kWords ? lo.word64(j + 1) : hi.word64(j + 1 < kWords ? 0 : j + 1 - kWords);
      r.w[i] = Word(bit == 0 ? a : (a >> bit) | (b << ((64 - bit) % 64)));
    }
    return r;
  }

  template <int M>
  Bits<M> to() const {
    const int common = M < N ? int(Bits<M>::kWords) : int(kWords);
    Bits<M> r;
#pragma GCC unroll 32
    for (int i = 0; i < common; i++) r.w[i] = Word(word64(i));
    r.trim();
    return r;
  }

  uint64_t u64() const {
    static_assert(N <= 64, "u64: wider than 64 bits");
    return word64(0);
  }
  explicit operator bool() const {
    uint64_t any = 0;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) any |= word64(i);
    return any != 0;
  }
  bool ult(const Bits& o) const {
    for (int i = kWords - 1; i >= 0; i--)
      if (word64(i) != o.word64(i)) return word64(i) < o.word64(i);
    return false;
  }
  Bits<1> parity() const {
    uint64_t x = 0;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) x ^= word64(i);
    return Bits<1>(uint64_t(__builtin_parityll(x)));
  }
  Bits reversed_bytes() const {
    static_assert(N % 8 == 0 && N <= 64, "reversed_bytes: whole bytes, at most 64 bits");
    return Bits(__builtin_bswap64(word64(0)) >> (64 - N));
  }

  friend bool operator==(const Bits& a, const Bits& b) {
    uint64_t diff = 0;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) diff |= a.word64(i) ^ b.word64(i);
    return diff == 0;
  }
  friend bool operator!=(const Bits& a, const Bits& b) {
    return !(a == b);
  }
  friend Bits operator&(const Bits& a, const Bits& b) {
    Bits r;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) r.w[i] = Word(a.word64(i) & b.word64(i));
    return r;
  }
  friend Bits operator|(const Bits& a, const Bits& b) {
    Bits r;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) r.w[i] = Word(a.word64(i) | b.word64(i));
    return r;
  }
  friend Bits operator^(const Bits& a, const Bits& b) {
    Bits r;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) r.w[i] = Word(a.word64(i) ^ b.word64(i));
    return r;
  }
  friend Bits operator~(const Bits& a) {
    Bits r;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) r.w[i] = Word(~a.word64(i));
    r.trim();
    return r;
  }
  friend Bits operator+(const Bits& a, const Bits& b) {
    return sum(a, b, 0);
  }
  friend Bits operator-(const Bits& a, const Bits& b) {
    return sum(a, ~b, 1);
  }
  friend Bits operator*(const Bits& a, const Bits& b) {
    static_assert(N <= 64, "products are at most 64 bits wide");
    return Bits(a.word64(0) * b.word64(0));
  }

 private:
  static Bits sum(const Bits& a, const Bits& b, uint64_t carry) {
    Bits r;
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) {
      const uint64_t s = a.word64(i) + b.word64(i);
      r.w[i] = Word(s + carry);
      carry = uint64_t(s < a.word64(i)) | uint64_t(r.word64(i) < s);
    }
    r.trim();
    return r;
  }
  Bits shifted_left(uint64_t k) const {
    Bits r;
    if (k >= N) return r;
    const int word = int(k / 64), bit = int(k % 64);
#pragma GCC unroll 32
    for (int i = kWords - 1; i >= 0; i--) {
      if (i < word) continue;
      r.w[i] = Word(word64(i - word) << bit);
      if (bit != 0 && i > word) r.w[i] = Word(r.word64(i) | (word64(i - word - 1) >> (64 - bit)));
    }
    r.trim();
    return r;
  }
  Bits shifted_right(uint64_t k) const {
    Bits r;
    if (k >= N) return r;
    const int word = int(k / 64), bit = int(k % 64);
#pragma GCC unroll 32
    for (int i = 0; i < kWords; i++) {
      if (i + word >= kWords) continue;
      r.w[i] = Word(word64(i + word) >> bit);
      if (bit != 0 && i + word + 1 < kWords) r.w[i] = Word(r.word64(i) | (word64(i + word + 1) << (64 - bit)));
    }
    return r;
  }
};

}  // namespace hw
