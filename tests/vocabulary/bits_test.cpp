// The plain body of Bits against integers of any size, operation by operation.
#include "hw/bus/bits.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <string>
#include <vector>

#include "bits_driver.hpp"

namespace {

typedef boost::multiprecision::cpp_int Integer;

Integer power_of_two(int n) {
  return Integer(1) << unsigned(n);
}

// Bits by definition: an integer modulo 2^N.
template <int N>
struct Reference {
  Integer value = 0;

  Reference() {}
  explicit Reference(uint64_t x) : Reference(Integer(x)) {}
  explicit Reference(const Integer& x) : value(x % power_of_two(N)) {
    if (value < 0) value += power_of_two(N);
  }

  template <int LO, int M>
  Reference<M> get() const {
    return Reference<M>(value / power_of_two(LO));
  }
  template <int LO, int M>
  void set(const Reference<M>& x) {
    value += (x.value - get<LO, M>().value) * power_of_two(LO);
  }
  template <int M>
  Reference<1> at(const Reference<M>& index) const {
    return Reference<1>(value / power_of_two(int(index.value)));
  }
  template <int K>
  Reference shl() const {
    return Reference(value * power_of_two(K));
  }
  template <int K>
  Reference shr() const {
    return Reference(value / power_of_two(K));
  }
  template <int M>
  Reference shl(const Reference<M>& k) const {
    return Reference(value * power_of_two(int(k.value)));
  }
  template <int M>
  Reference shr(const Reference<M>& k) const {
    return Reference(value / power_of_two(int(k.value)));
  }
  template <int K>
  static Reference funnel(const Reference& lo, const Reference& hi) {
    return Reference((hi.value * power_of_two(N) + lo.value) / power_of_two(K));
  }
  template <int M>
  Reference<M> to() const {
    return Reference<M>(value);
  }
  uint64_t u64() const { return uint64_t(value); }
  explicit operator bool() const { return value != 0; }
  bool ult(const Reference& o) const { return value < o.value; }
  Reference<1> parity() const {
    uint64_t ones = 0;
    for (Integer x = value; x != 0; x /= 2) ones += uint64_t(x % 2);
    return Reference<1>(ones);
  }
  Reference reversed_bytes() const {
    Integer r = 0;
    for (int i = 0; i < N; i += 8) r = r * 256 + value / power_of_two(i) % 256;
    return Reference(r);
  }

  friend bool operator==(const Reference& a, const Reference& b) { return a.value == b.value; }
  friend bool operator!=(const Reference& a, const Reference& b) { return a.value != b.value; }
  friend Reference operator&(const Reference& a, const Reference& b) { return Reference(Integer(a.value & b.value)); }
  friend Reference operator|(const Reference& a, const Reference& b) { return Reference(Integer(a.value | b.value)); }
  friend Reference operator^(const Reference& a, const Reference& b) { return Reference(Integer(a.value ^ b.value)); }
  friend Reference operator~(const Reference& a) { return Reference(Integer(-1 - a.value)); }
  friend Reference operator+(const Reference& a, const Reference& b) { return Reference(Integer(a.value + b.value)); }
  friend Reference operator-(const Reference& a, const Reference& b) { return Reference(Integer(a.value - b.value)); }
  friend Reference operator*(const Reference& a, const Reference& b) { return Reference(Integer(a.value * b.value)); }
};

template <int M>
Integer integer(const Reference<M>& x) {
  return x.value;
}
// All words as they stand, so that bits above the width would show.
template <int M>
Integer integer(const hw::Bits<M>& x) {
  Integer r = 0;
  for (int i = hw::Bits<M>::kWords - 1; i >= 0; i--) r = r * power_of_two(64) + x.w[i];
  return r;
}

struct Transcript {
  struct Entry {
    int width;
    const char* what;
    Integer value;
  };
  std::vector<Entry> entries;

  template <int N, class T>
  void add(const char* what, const T& value) {
    entries.push_back({N, what, integer(value)});
  }
};

TEST(Bits, PlainBodyIsIntegersModuloTwoToTheWidth) {
  Transcript plain, reference;
  vocabulary::exercise_all<hw::Bits>(plain, 20);
  vocabulary::exercise_all<Reference>(reference, 20);
  ASSERT_EQ(plain.entries.size(), reference.entries.size());
  ASSERT_GT(plain.entries.size(), 30000u);
  for (size_t i = 0; i < plain.entries.size(); i++) {
    ASSERT_EQ(plain.entries[i].value, reference.entries[i].value)
        << plain.entries[i].what << ", " << plain.entries[i].width << " bits";
  }
}

TEST(Bits, JoinsAndSwaps) {
  EXPECT_EQ(hw::cat(hw::Bits<8>(0x12), hw::Bits<16>(0x3456)).u64(), 0x123456u);
  EXPECT_EQ(hw::byte_swap(hw::Bits<24>(0x123456)).u64(), 0x563412u);
  EXPECT_EQ(hw::byte_swap(hw::Bits<64>(0x0102030405060708)).u64(), 0x0807060504030201u);
}

TEST(Bits, CountsTheBitsOfARange) {
  EXPECT_EQ(hw::clog2(1), 1);
  for (uint64_t n = 2; n < 5000; n++) {
    const int bits = hw::clog2(n);
    EXPECT_GE(uint64_t(1) << bits, n);
    EXPECT_LT(uint64_t(1) << (bits - 1), n);
  }
}

}  // namespace
