#pragma once

#include <cstdint>

#include "traces/bytes.hpp"
#include "traces/roce.hpp"

namespace traces {

constexpr size_t kUdpHeaderSize = 8;
constexpr size_t kBthSize = 12;
constexpr size_t kIcrcSize = 4;

/// Decodes what follows the UDP header that packet.udp_offset and packet.udp_length tell of: BTH, extended headers,
/// payload and ICRC, as far as the frame holds them.
void decode_transport(ByteSpan frame, RocePacket& packet);

/// The ICRC that belongs to a decoded packet whose frame holds all bytes before packet.icrc_offset.
uint32_t icrc_of(ByteSpan frame, const RocePacket& packet);

}  // namespace traces
