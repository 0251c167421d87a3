// CRC-32 (IEEE 802.3, as the ICRC of InfiniBand uses it) as arithmetic on its register, for constants.
//
// The register is in reflected form: bit 31 holds the coefficient of x^0, and a message enters with bit 0 of byte 0
// first, as zlib's does. No inversion at either end is included: callers begin with the state they want.
#pragma once
#include <stdint.h>

namespace hw {
namespace crc32 {

constexpr uint32_t kPolynomial = 0xedb88320;

// The register after `bits` zero bits; a negative number takes zero bits back.
constexpr uint32_t after_zeros(uint32_t state, int bits) {
  for (; bits > 0; bits--) state = (state >> 1) ^ (state & 1 ? kPolynomial : 0);
  for (; bits < 0; bits++) state = state >> 31 ? ((state ^ kPolynomial) << 1) | 1 : state << 1;
  return state;
}

// x^n modulo the polynomial; n may be negative.
constexpr uint32_t power_of_x(int n) {
  return after_zeros(0x80000000, n);
}

// The product of two polynomials of degree below 32, modulo the polynomial.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 31; i >= 0; i--) {
    product ^= (b >> i) & 1 ? a : 0;
    a = after_zeros(a, 1);
  }
  return product;
}

// What the register holds after a message and its own CRC, whatever the message; also its state after eight bytes of
// ones, which is how the ICRC begins (IBTA A17.3.3: the local route header that RoCE does not have).
constexpr uint32_t kResidue = after_zeros(0xffffffff, 32);
static_assert(kResidue == 0xdebb20e3, "the residue of CRC-32");

}  // namespace crc32
}  // namespace hw
