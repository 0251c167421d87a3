#pragma once

#include <cstdint>
#include <vector>

#include "traces/bytes.hpp"
#include "traces/roce.hpp"

namespace traces {

/// A RoCEv2 packet over IPv4 and Ethernet, to be built.
struct FrameFields {
  MacAddress destination_mac{}, source_mac{};
  uint32_t destination = 0, source = 0;  ///< IPv4 addresses, as numbers
  uint16_t source_port = 0;
  Bth bth;  ///< the pad count is that of the payload
  std::optional<Reth> reth;
  std::optional<Aeth> aeth;
  std::optional<uint32_t> immediate;
  ByteSpan payload;
};

/// The frame from the destination MAC on, with lengths, header checksum, pad and ICRC right; without FCS. Extended
/// headers are written when given, whatever the opcode.
std::vector<uint8_t> roce_frame(const FrameFields& fields);

}  // namespace traces
