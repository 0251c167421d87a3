// Multiplexers over the lengths that an extended header can have.
#pragma once
#include "wire.hpp"

namespace hw {
namespace detail {

// Whether there is an extended header of `first` bytes, or up to `count` - 1 more.
constexpr bool has_extension(int first, int count) {
  return ((wire::kExtensions >> first / 4) & ((1u << count / 4) - 1)) != 0;
}

// Decides by bit BIT of the length and those below it; the bits above make LOW. A bit in which no two lengths differ
// costs nothing.
template <int BIT, int LOW>
struct ByExtension {
  enum : int {
    kOne = LOW + (1 << BIT),
    kHasZero = has_extension(LOW, 1 << BIT),
    kHasOne = has_extension(kOne, 1 << BIT),
    kOnly = kHasZero ? LOW : kOne
  };

  template <class F>
  static auto of(const Bits<5>& bytes, const F& f) {
    if (kHasZero && kHasOne && bool(bytes.get<BIT, 1>())) return ByExtension<BIT - 1, kOne>::of(bytes, f);
    return ByExtension<BIT - 1, kOnly>::of(bytes, f);
  }
};
template <int LOW>
struct ByExtension<1, LOW> {
  template <class F>
  static auto of(const Bits<5>&, const F& f) {
    return f.template at<LOW>();
  }
};

}  // namespace detail

// f.at<BYTES>() for the `bytes` of extended header (wire::extended_bytes) that a packet has; any of its values for a
// length that no packet has.
template <class F>
inline auto by_extension(const Bits<5>& bytes, const F& f) {
  return detail::ByExtension<4, 0>::of(bytes, f);
}

}  // namespace hw
