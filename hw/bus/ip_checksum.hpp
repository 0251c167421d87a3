// The checksum of an IPv4 header without options (RFC 1071), for the stages that check and write it.
#pragma once
#include "wire.hpp"

namespace hw {
namespace wire {

// The one's complement sum of two words: a carry comes in again at the low end (RFC 1071).
inline Bits<16> ones_sum(const Bits<16>& a, const Bits<16>& b) {
  const Bits<17> sum = a.to<17>() + b.to<17>();
  return sum.get<0, 16>() + sum.get<16, 1>().to<16>();
}

namespace detail {
template <int FIRST, int COUNT>
struct IpWords {
  template <int N>
  static Bits<20> sum(const Bits<N>& frame) {
    return IpWords<FIRST, COUNT - 1>::sum(frame) +
           frame.template get<(kIpOffset + 2 * (FIRST + COUNT - 1)) * 8, 16>().template to<20>();
  }
};
template <int FIRST>
struct IpWords<FIRST, 0> {
  template <int N>
  static Bits<20> sum(const Bits<N>&) {
    return Bits<20>(0);
  }
};
}  // namespace detail

// The sum over the ten words of the IP header, in three parts: who has a register behind them halves the path. The
// words are added as they lie in the beat, low byte first: the sum does not depend on the byte order (RFC 1071, 2(B)).
struct IpHeaderSum {
  Bits<20> parts[3];

  template <int N>
  void start(const Bits<N>& frame) {
    parts[0] = detail::IpWords<0, 3>::sum(frame);
    parts[1] = detail::IpWords<3, 3>::sum(frame);
    parts[2] = detail::IpWords<6, 4>::sum(frame);
  }
  Bits<20> total() const { return parts[0] + parts[1] + parts[2]; }

  // The one's complement sum is all ones. With carries of at most 9, it is that only where they fill the word up.
  bool right() const { return total().get<0, 16>() == ~total().get<16, 4>().to<16>(); }

  // The one's complement sum in network order; its complement is the checksum when that field is zero.
  Bits<16> folded() const {
    const Bits<17> once = total().get<0, 16>().to<17>() + total().get<16, 4>().to<17>();
    return byte_swap(once.get<0, 16>() + once.get<16, 1>().to<16>());
  }
};

}  // namespace wire
}  // namespace hw
