// The checksum of an IPv4 header without options (RFC 1071), for the stages that check and write it.
#pragma once
#include "wire.hpp"

namespace hw {
namespace wire {

namespace detail {
template <int WORD>
struct IpWords {
  template <int N>
  static Bits<20> sum(const Bits<N>& frame) {
    return IpWords<WORD - 1>::sum(frame) + frame.template get<(kIpOffset + 2 * WORD - 2) * 8, 16>().template to<20>();
  }
};
template <>
struct IpWords<0> {
  template <int N>
  static Bits<20> sum(const Bits<N>&) {
    return Bits<20>(0);
  }
};
}  // namespace detail

// The one's complement sum over the ten words of the IP header, in network order: all ones when the header's checksum
// is right; its complement is the checksum when that field is zero. The words are added as they lie in the beat, low
// byte first: the sum does not depend on the byte order (RFC 1071, 2(B)).
template <int N>
inline Bits<16> ip_header_sum(const Bits<N>& frame) {
  const Bits<20> sum = detail::IpWords<kIpBytes / 2>::sum(frame);
  const Bits<17> once = sum.template get<0, 16>().template to<17>() + sum.template get<16, 4>().template to<17>();
  return byte_swap(once.get<0, 16>() + once.get<16, 1>().to<16>());
}

}  // namespace wire
}  // namespace hw
