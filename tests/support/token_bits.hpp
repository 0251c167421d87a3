// Any token as bits, first field lowest: the order in which the lowering lays a token out on a port.
#pragma once
#include <algorithm>
#include <cstdint>

#include "hw/bus/psn.hpp"

namespace test {

template <int N>
constexpr size_t width_of(const hw::Bits<N>&) {
  return size_t(N);
}

// Calls `leaf(Bits<N>&)` for every Bits in a token, in order.
template <int N, class F>
void for_each_leaf(hw::Bits<N>& b, F&& leaf) {
  leaf(b);
}
template <class F>
void for_each_leaf(hw::Psn& p, F&& leaf) {
  leaf(p.v);
}
template <class Token, class F>
void for_each_leaf(Token& token, F&& leaf) {
  token.visit_fields([&](const char*, auto&... fields) { (for_each_leaf(fields, leaf), ...); });
}

template <class T>
size_t token_bits() {
  size_t bits = 0;
  T token;
  for_each_leaf(token, [&](auto& b) { bits += width_of(b); });
  return bits;
}

// Packs into 32-bit words; the words are cleared first.
template <class T>
void pack(T& token, uint32_t* words, size_t count) {
  for (size_t i = 0; i < count; i++) words[i] = 0;
  size_t at = 0;
  for_each_leaf(token, [&](auto& b) {
    const size_t width = width_of(b);
    for (size_t i = 0; i < width; i += 32, at += std::min<size_t>(32, width + 32 - i)) {
      const uint64_t shifted = uint64_t(uint32_t(b.w[i / 64] >> (i % 64))) << (at % 32);
      words[at / 32] |= uint32_t(shifted);
      if (shifted >> 32 != 0) words[at / 32 + 1] |= uint32_t(shifted >> 32);
    }
  });
}

}  // namespace test
