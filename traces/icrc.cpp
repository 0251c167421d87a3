#include "traces/icrc.hpp"

#include <zlib.h>

#include <array>
#include <initializer_list>

namespace traces {
namespace {

constexpr size_t kLargestMasked = 60;  // an IPv4 header with all its options

// CRC over `bytes` with those at `masked` taken as ones, because routers and switches may change them.
uLong crc_masked(uLong crc, ByteSpan bytes, std::initializer_list<size_t> masked) {
  std::array<uint8_t, kLargestMasked> copy;
  std::copy_n(bytes.data, bytes.size, copy.begin());
  for (size_t position : masked) copy[position] = 0xff;
  return crc32(crc, copy.data(), static_cast<uInt>(bytes.size));
}

}  // namespace

uint32_t compute_icrc(ByteSpan ip, ByteSpan udp, ByteSpan transport) {
  constexpr size_t kBthSize = 12;
  constexpr std::array<uint8_t, 8> kMaskedLrh = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  uLong crc = crc32(0, kMaskedLrh.data(), kMaskedLrh.size());
  crc = crc_masked(crc, ip, {1, 8, 10, 11});                 // DSCP and ECN, TTL, header checksum
  crc = crc_masked(crc, udp, {6, 7});                        // checksum
  crc = crc_masked(crc, transport.slice(0, kBthSize), {4});  // FECN, BECN, reserved
  const ByteSpan rest = transport.slice(kBthSize, transport.size);
  return static_cast<uint32_t>(crc32(crc, rest.data, static_cast<uInt>(rest.size)));
}

}  // namespace traces
