// A stand-in for the vendor's ap_int.h: exactly the part of its interface that hw/bus/bits_vendor.hpp uses, with its
// rules of width (sums are a bit wider than their operands, differences are signed, products as wide as both
// together), so that the vendor body can be compiled and compared where the vendor's headers are not at hand.
#pragma once
#include <stdint.h>

#include <boost/multiprecision/cpp_int.hpp>

namespace ap_stub {
typedef boost::multiprecision::cpp_int Integer;
inline Integer modulo(const Integer& x, int width) {
  const Integer modulus = Integer(1) << unsigned(width);
  const Integer r = x % modulus;
  return r < 0 ? Integer(r + modulus) : r;
}
}  // namespace ap_stub

template <int N>
struct ap_int {
  explicit ap_int(const ap_stub::Integer& x) : value(x) {}
  ap_stub::Integer value;
};

template <int N>
class ap_uint {
 public:
  class Range {
   public:
    Range(ap_uint& whole, int high, int low) : whole_(whole), high_(high), low_(low) {}
    template <int M>
    Range& operator=(const ap_uint<M>& x) {
      const int width = high_ - low_ + 1;
      const ap_stub::Integer mask = ((ap_stub::Integer(1) << unsigned(width)) - 1) << unsigned(low_);
      const ap_stub::Integer field = ap_stub::modulo(x.value(), width) << unsigned(low_);
      whole_.value_ = (whole_.value_ - (whole_.value_ & mask)) | field;
      return *this;
    }
    Range& operator=(const Range& x) { return *this = ap_uint<N>(x); }
    operator ap_uint<N>() const { return ap_uint<N>(get()); }
    ap_stub::Integer get() const { return ap_stub::modulo(whole_.value_ >> unsigned(low_), high_ - low_ + 1); }

   private:
    ap_uint& whole_;
    int high_, low_;
  };

  ap_uint() {}
  ap_uint(int x) : value_(ap_stub::modulo(x, N)) {}
  ap_uint(uint64_t x) : value_(ap_stub::modulo(x, N)) {}
  explicit ap_uint(const ap_stub::Integer& x) : value_(ap_stub::modulo(x, N)) {}
  template <int M>
  ap_uint(const ap_uint<M>& x) : value_(ap_stub::modulo(x.value(), N)) {}
  template <int M>
  ap_uint(const ap_int<M>& x) : value_(ap_stub::modulo(x.value, N)) {}

  const ap_stub::Integer& value() const { return value_; }
  uint64_t to_uint64() const { return static_cast<uint64_t>(ap_stub::modulo(value_, 64)); }
  bool xor_reduce() const {
    bool odd = false;
    for (ap_stub::Integer x = value_; x != 0; x >>= 64) {
      odd ^= __builtin_parityll(static_cast<uint64_t>(ap_stub::modulo(x, 64))) != 0;
    }
    return odd;
  }
  Range range(int high, int low) { return Range(*this, high, low); }
  ap_uint<N> range(int high, int low) const {
    return ap_uint<N>(ap_stub::modulo(value_ >> unsigned(low), high - low + 1));
  }

  ap_uint operator<<(int k) const { return ap_uint(value_ << unsigned(k)); }
  ap_uint operator>>(int k) const { return ap_uint(value_ >> unsigned(k)); }
  template <int M>
  ap_uint operator<<(const ap_uint<M>& k) const {
    return *this << int(k.to_uint64());
  }
  template <int M>
  ap_uint operator>>(const ap_uint<M>& k) const {
    return *this >> int(k.to_uint64());
  }
  ap_uint operator~() const { return ap_uint((ap_stub::Integer(1) << unsigned(N)) - 1 - value_); }

  friend bool operator==(const ap_uint& a, const ap_uint& b) { return a.value_ == b.value_; }
  friend bool operator!=(const ap_uint& a, const ap_uint& b) { return a.value_ != b.value_; }
  friend bool operator<(const ap_uint& a, const ap_uint& b) { return a.value_ < b.value_; }
  friend ap_uint operator&(const ap_uint& a, const ap_uint& b) { return ap_uint(a.value_ & b.value_); }
  friend ap_uint operator|(const ap_uint& a, const ap_uint& b) { return ap_uint(a.value_ | b.value_); }
  friend ap_uint operator^(const ap_uint& a, const ap_uint& b) { return ap_uint(a.value_ ^ b.value_); }
  friend ap_uint<N + 1> operator+(const ap_uint& a, const ap_uint& b) { return ap_uint<N + 1>(a.value_ + b.value_); }
  friend ap_int<N + 1> operator-(const ap_uint& a, const ap_uint& b) { return ap_int<N + 1>(a.value_ - b.value_); }
  friend ap_uint<2 * N> operator*(const ap_uint& a, const ap_uint& b) { return ap_uint<2 * N>(a.value_ * b.value_); }

 private:
  ap_stub::Integer value_;
};
