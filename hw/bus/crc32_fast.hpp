// The simulation bodies of CRC-32 over whole 64-bit words, byte 0 of the message in bits 7:0 of word 0. The fastest one
// that the processor has is chosen at run time; tests/hw proves them all equal.
#pragma once
#include "constant.hpp"
#include "crc32_poly.hpp"

#if defined(__x86_64__)
#include <wmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace hw {
namespace crc32 {

// Eight bytes a step by table ("slicing"): byte[k][b] is what byte b does with k bytes behind it.
struct SlicingTable {
  uint32_t byte[8][256];

  constexpr SlicingTable() : byte{} {
    for (int k = 0; k < 8; k++) {
      for (int b = 0; b < 256; b++) byte[k][b] = k == 0 ? after_zeros(uint32_t(b), 8) : after_zeros(byte[k - 1][b], 8);
    }
  }
};

inline uint32_t word_by_table(uint32_t state, uint64_t word) {
  const auto& byte = Constant<SlicingTable>::value.byte;
  word ^= state;
  uint32_t next = 0;
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++) next ^= byte[7 - i][(word >> (8 * i)) & 0xff];
  return next;
}

template <int kWords>
inline uint32_t words_by_table(uint32_t state, const uint64_t* words) {
  for (int i = 0; i < kWords; i++) state = word_by_table(state, words[i]);
  return state;
}

#if defined(__x86_64__)

// Carry-less multiplication of reflected values gives the product reflected and one bit low; constants are kept one
// bit up to make that good. Word i is worth x^(64 (n-1-i)), and the CRC is the message times x^32 modulo P.
template <int kWords>
struct ClmulConstants {
  alignas(16) uint64_t place[kWords < 2 ? 2 : kWords];
  alignas(16) uint64_t fold[2];    // x^64, to bring 96 bits to 64; unused
  alignas(16) uint64_t divide[2];  // x^64 / P and P, both of 33 bits (Barrett)

  constexpr ClmulConstants() : place{}, fold{uint64_t(power_of_x(64)) << 1, 0}, divide{0x1f7011641, 0x1db710641} {
    for (int i = 0; i < kWords; i++) place[i] = uint64_t(power_of_x(64 * (kWords - 1 - i) + 32)) << 1;
  }
};

template <int kWords>
__attribute__((target("pclmul"))) inline uint32_t words_by_clmul(uint32_t state, const uint64_t* words) {
  const ClmulConstants<kWords>& k = Constant<ClmulConstants<kWords>>::value;
  const auto constants = [](const uint64_t* pair) { return _mm_load_si128(reinterpret_cast<const __m128i*>(pair)); };
  const auto word = [](uint64_t w) { return _mm_cvtsi64_si128(static_cast<long long>(w)); };

  __m128i sum = _mm_clmulepi64_si128(word(words[0] ^ state), constants(k.place), 0x00);
  if (kWords > 1) sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(word(words[1]), constants(k.place), 0x10));
#pragma GCC unroll 8
  for (int i = 2; i < kWords; i += 2) {
    const __m128i place = constants(k.place + i);
    sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(word(words[i]), place, 0x00));
    sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(word(words[i + 1]), place, 0x10));
  }
  // 96 bits, highest powers in the low half: fold them to 64, then divide by P and keep the remainder.
  const __m128i low32 = _mm_cvtsi32_si128(-1);
  const __m128i divide = constants(k.divide);
  const __m128i folded = _mm_clmulepi64_si128(_mm_and_si128(sum, low32), constants(k.fold), 0x00);
  const __m128i rest = _mm_xor_si128(_mm_srli_si128(sum, 4), folded);
  const __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(rest, low32), divide, 0x00);
  const __m128i product = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), divide, 0x10);
  return uint32_t(uint64_t(_mm_cvtsi128_si64(_mm_xor_si128(rest, product))) >> 32);
}

template <int kWords>
inline uint32_t words(uint32_t state, const uint64_t* w) {
  return __builtin_cpu_supports("pclmul") ? words_by_clmul<kWords>(state, w) : words_by_table<kWords>(state, w);
}

#elif defined(__aarch64__) && defined(__linux__)

// ARMv8's CRC32 instructions have this polynomial and this bit order.
template <int kWords>
inline uint32_t words_by_instruction(uint32_t state, const uint64_t* words) {
#pragma GCC unroll 16
  for (int i = 0; i < kWords; i++) {
    __asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(state) : "r"(words[i]));
  }
  return state;
}

template <int kWords>
inline uint32_t words(uint32_t state, const uint64_t* w) {
  static const bool has_instruction = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
  return has_instruction ? words_by_instruction<kWords>(state, w) : words_by_table<kWords>(state, w);
}

#else

template <int kWords>
inline uint32_t words(uint32_t state, const uint64_t* w) {
  return words_by_table<kWords>(state, w);
}

#endif

}  // namespace crc32
}  // namespace hw
