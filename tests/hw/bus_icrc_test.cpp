// The bodies of the ICRC against each other and against zlib: linear functions, so on their basis vectors.
#include <gtest/gtest.h>
#include <string.h>
#include <zlib.h>

#include <algorithm>
#include <random>

#include "hw/bus/icrc.hpp"
#include "widths.hpp"

namespace {

using hw::Bits;
using hw::icrc::Register;

// zlib keeps the register inverted.
uint32_t zlib_crc(uint32_t state, const void* bytes, size_t count) {
  return ~uint32_t(crc32(~state, static_cast<const Bytef*>(bytes), uInt(count)));
}

template <int W>
void expect_equal(uint32_t state, const Bits<W>& data) {
  const uint32_t expected = zlib_crc(state, data.w, W / 8);
  EXPECT_EQ(hw::icrc::crc_beat(Register(state), data).u64(), expected);
  EXPECT_EQ(hw::icrc::crc_beat_by_matrix(Register(state), data).u64(), expected);
  EXPECT_EQ(hw::crc32::words_by_table<W / 64>(state, data.w), expected);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("pclmul")) {
    EXPECT_EQ(hw::crc32::words_by_clmul<W / 64>(state, data.w), expected);
  }
#endif
}

template <int W>
Bits<W> one_bit(int bit) {
  return Bits<W>(1).shl(Bits<16>(uint64_t(bit)));
}

template <int W>
void expect_equal_on_basis() {
  expect_equal<W>(0, Bits<W>());
  for (int bit = 0; bit < 32; bit++) expect_equal<W>(uint32_t(1) << bit, Bits<W>());
  for (int bit = 0; bit < W; bit++) expect_equal<W>(0, one_bit<W>(bit));
}

template <class T>
class Icrc : public ::testing::Test {};
TYPED_TEST_SUITE(Icrc, test::Widths, test::WidthNames);

TYPED_TEST(Icrc, BodiesAgreeOnBasisVectors) {
  constexpr unsigned W = TypeParam::value;
  expect_equal_on_basis<W>();
}

TYPED_TEST(Icrc, BodiesAgreeOnRandomBeats) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; i++) {
    Bits<W> data;
    for (uint64_t& w : data.w) w = random();
    expect_equal<W>(uint32_t(random()), data);
  }
}

// All byte counts: the register after the valid bytes alone.
template <int W>
void expect_take_back() {
  std::mt19937_64 random(2);
  for (unsigned bytes = 1; bytes <= W / 8; bytes++) {
    const Bits<hw::clog2(W / 8 + 1)> count(bytes);
    const auto unused = hw::icrc::unused<W>(count);
    ASSERT_EQ(unused.u64(), W / 8 - bytes);
    const auto expect = [&](uint32_t state, const Bits<W>& data) {
      const uint32_t expected = zlib_crc(state, data.w, bytes);
      const Register whole = hw::icrc::crc_beat(Register(state), data);
      EXPECT_EQ(hw::icrc::take_back(whole, unused).u64(), expected) << bytes;
      const Register by_matrix = hw::icrc::TakeBackByMatrix<hw::clog2(W / 8), hw::clog2(W / 8)>::from(whole, unused);
      EXPECT_EQ(by_matrix.u64(), expected) << bytes;
    };
    for (int bit = 0; bit < 32; bit++) expect(uint32_t(1) << bit, Bits<W>());
    Bits<W> data;
    for (unsigned i = 0; i < bytes; i++) reinterpret_cast<uint8_t*>(data.w)[i] = uint8_t(random());
    expect(uint32_t(random()), data);
  }
}

TYPED_TEST(Icrc, TakesUnusedBytesBack) {
  constexpr unsigned W = TypeParam::value;
  expect_take_back<W>();
}

// The residue is recognised behind every number of bytes, and no single wrong bit of the register passes.
template <int W>
void expect_residue() {
  const uint8_t zeros[W / 8] = {};
  for (unsigned bytes = 1; bytes <= W / 8; bytes++) {
    const Bits<hw::clog2(W / 8 + 1)> count(bytes);
    const uint32_t state = zlib_crc(0xdebb20e3, zeros, W / 8 - bytes);
    EXPECT_TRUE(hw::icrc::is_residue<W>(Register(state), hw::icrc::unused<W>(count)));
    for (int bit = 0; bit < 32; bit++) {
      EXPECT_FALSE(hw::icrc::is_residue<W>(Register(state ^ (uint32_t(1) << bit)), hw::icrc::unused<W>(count)));
    }
  }
}

TYPED_TEST(Icrc, ResidueBehindEveryByteCount) {
  constexpr unsigned W = TypeParam::value;
  expect_residue<W>();
}

TEST(IcrcStart, AfterEightBytesOfOnesWithEthernetOutside) {
  const uint8_t ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const uint8_t ethernet[14] = {};
  EXPECT_EQ(zlib_crc(hw::icrc::kStart, ethernet, 14), zlib_crc(0xffffffff, ones, 8));
}

// Beat by beat, also far behind what is masked.
TYPED_TEST(Icrc, MasksWhatRoutersChange) {
  constexpr unsigned W = TypeParam::value;
  for (const bool ones : {false, true}) {
    for (unsigned at = 0; at < 256; at += W / 8) {
      Bits<W> x = ones ? ~Bits<W>() : Bits<W>();
      const uint64_t place = std::min<uint64_t>(at / (W / 8), hw::beats_of<W>(47));
      hw::icrc::BeatMask<W>::apply(Bits<4>(place), x);
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(x.w);
      for (unsigned i = at; i < at + W / 8; i++) {
        const bool masked = i == 15 || i == 22 || i == 24 || i == 25 || i == 40 || i == 41 || i == 46;
        EXPECT_EQ(bytes[i - at], masked || (ones && i >= 14) ? 0xff : 0) << i;
      }
    }
  }
}

}  // namespace
