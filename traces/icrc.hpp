#pragma once

#include <cstdint>

#include "traces/bytes.hpp"

namespace traces {

/// Invariant CRC of one RoCEv2 packet (IBTA annex A17.3.3). `ip` is the IPv4 header with its options, or the IPv6
/// header with its extension headers, as sent; `udp` its 8 bytes, `transport` everything from the BTH (at least 12
/// bytes) to the pad, without the ICRC itself. The value goes onto the wire in little-endian order.
uint32_t compute_icrc(ByteSpan ip, ByteSpan udp, ByteSpan transport);

}  // namespace traces
