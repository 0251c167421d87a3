#include "traces/icrc.hpp"

#include <libdeflate.h>

#include <array>

namespace traces {
namespace {

constexpr size_t kLrhSize = 8;
constexpr size_t kUdpSize = 8;
constexpr size_t kBthSize = 12;
constexpr size_t kLargestCopied = 60;  // of IP: an IPv4 header with all its options

// Ones in place of what routers and switches may change.
void mask_ip(uint8_t* ip) {
  if (ip[0] >> 4 == 6) {
    ip[0] |= 0x0f;  // traffic class, flow label
    ip[1] = ip[2] = ip[3] = 0xff;
    ip[7] = 0xff;  // hop limit
  } else {
    ip[1] = 0xff;            // DSCP and ECN
    ip[8] = 0xff;            // TTL
    ip[10] = ip[11] = 0xff;  // header checksum
  }
}

uint32_t add(uint32_t crc, ByteSpan bytes) {
  return bytes.size == 0 ? crc : libdeflate_crc32(crc, bytes.data, bytes.size);
}

}  // namespace

uint32_t compute_icrc(ByteSpan ip, ByteSpan udp, ByteSpan transport) {
  std::array<uint8_t, kLrhSize + kLargestCopied> network;
  std::fill_n(network.begin(), kLrhSize, 0xff);  // the masked LRH
  const size_t copied = std::min(ip.size, kLargestCopied);
  std::copy_n(ip.data, copied, network.begin() + kLrhSize);
  mask_ip(network.data() + kLrhSize);

  std::array<uint8_t, kUdpSize + kBthSize> headers;
  std::copy_n(udp.data, kUdpSize, headers.begin());
  headers[6] = headers[7] = 0xff;  // checksum
  std::copy_n(transport.data, kBthSize, headers.begin() + kUdpSize);
  headers[kUdpSize + 4] = 0xff;  // FECN, BECN, reserved

  uint32_t crc = add(0, {network.data(), kLrhSize + copied});
  crc = add(crc, ip.slice(copied, ip.size));
  crc = add(crc, {headers.data(), headers.size()});
  return add(crc, transport.slice(kBthSize, transport.size));
}

}  // namespace traces
