#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traces/bytes.hpp"
#include "traces/ip_address.hpp"
#include "traces/opcode.hpp"

namespace traces {

/// What a frame is, as far as replay cares. kIpv6 includes RoCEv2 over IPv6; kShort ended before it could be told.
enum class FrameKind : uint8_t { kRoceV2, kArp, kIpv6, kTcp, kUdp, kIcmp, kOther, kShort };
constexpr size_t kFrameKinds = 8;
const char* name_of(FrameKind kind);

struct VlanTag {
  uint16_t tag_protocol = 0;
  uint16_t control = 0;  ///< priority (3 bits), drop eligible (1), VLAN identifier (12)
};

struct Bth {
  uint8_t opcode = 0;
  bool solicited = false;
  bool migration = false;
  uint8_t pad_count = 0;
  uint8_t transport_version = 0;
  uint16_t partition_key = 0;
  bool fecn = false;
  bool becn = false;
  uint8_t reserved6 = 0;
  uint32_t dest_qp = 0;
  bool ack_request = false;
  uint8_t reserved7 = 0;
  uint32_t psn = 0;
};

struct Reth {
  uint64_t virtual_address = 0;
  uint32_t remote_key = 0;
  uint32_t dma_length = 0;  ///< bytes
};

struct Aeth {
  uint8_t syndrome = 0;
  uint32_t msn = 0;
};

struct AtomicEth {
  uint64_t virtual_address = 0;
  uint32_t remote_key = 0;
  uint64_t swap_or_add = 0;
  uint64_t compare = 0;
};

struct Deth {
  uint32_t queue_key = 0;
  uint32_t source_qp = 0;
};

/// kCut: the frame, or the UDP length, ends before the ICRC.
enum class IcrcState : uint8_t { kCut, kOk, kBad };

/// One Ethernet frame, decoded. Offsets count bytes from the start of the frame. Fields behind the place where the
/// frame was cut, or where `kind` says that it is something else, keep their defaults.
struct RocePacket {
  FrameKind kind = FrameKind::kShort;

  std::array<uint8_t, 6> destination_mac{};
  std::array<uint8_t, 6> source_mac{};
  std::vector<VlanTag> vlan_tags;  ///< outermost first

  IpAddress destination;
  IpAddress source;
  uint8_t traffic_class = 0;  ///< DSCP and ECN
  uint8_t time_to_live = 0;
  size_t ip_offset = 0;

  size_t udp_offset = 0;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t udp_length = 0;
  bool length_mismatch = false;  ///< the UDP datagram does not end where the IP packet ends

  bool has_bth = false;
  Bth bth;
  std::optional<Reth> reth;
  std::optional<Aeth> aeth;
  std::optional<AtomicEth> atomic;
  std::optional<uint64_t> atomic_original;  ///< AtomicAckETH
  std::optional<uint32_t> immediate;
  std::optional<uint32_t> invalidate_key;  ///< IETH
  std::optional<Deth> deth;
  bool extended_headers_cut = false;

  size_t bth_offset = 0;
  size_t payload_offset = 0;
  int payload_length = 0;  ///< bytes by UDP length, without pad; negative when that is shorter than the headers

  size_t icrc_offset = 0;  ///< by UDP length, never by frame length; meaningful unless icrc is kCut
  IcrcState icrc = IcrcState::kCut;
  uint32_t icrc_on_wire = 0;
  uint32_t icrc_computed = 0;

  bool icrc_ok() const { return icrc == IcrcState::kOk; }

  /// The part of the payload that `frame` (the bytes that were decoded) holds.
  ByteSpan payload(ByteSpan frame) const;
};

/// Decodes an Ethernet frame that starts at the destination MAC. Takes any bytes and never fails: what it could not
/// decode is told by `kind`, `has_bth` and `extended_headers_cut`.
RocePacket decode_frame(ByteSpan frame);

}  // namespace traces
