#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "traces/bytes.hpp"
#include "traces/inline_list.hpp"
#include "traces/ip_address.hpp"
#include "traces/link_layer.hpp"
#include "traces/opcode.hpp"

namespace traces {

struct Packet;

/// What a frame is, as far as replay cares, inside of all tunnels that could be peeled.
enum class FrameKind : uint8_t {
  kRoceV2,  ///< over IPv4 or IPv6
  kRoceV1,  ///< ether type 0x8915
  kArp,
  kTcp,
  kUdp,       ///< to any other port
  kIcmp,      ///< of either IP version
  kIpv4,      ///< any other protocol
  kIpv6,      ///< any other protocol
  kFragment,  ///< of either IP version; RoCEv2 forbids fragments
  kTunnel,    ///< nested too deep, or with contents that are not peeled
  kOther,     ///< any other ether type, or headers that contradict themselves
  kLinkType,  ///< the file's link type is not decoded
  kShort,     ///< ended before it could be told
};
constexpr size_t kFrameKinds = 13;
const char* name_of(FrameKind kind);

enum class Tunnel : uint8_t { kNone, kVxlan, kGeneve, kGre, kErspan1, kErspan2, kErspan3 };
constexpr size_t kTunnels = 7;
const char* name_of(Tunnel tunnel);

using MacAddress = std::array<uint8_t, 6>;

struct VlanTag {
  uint16_t tag_protocol = 0;
  uint16_t control = 0;  ///< priority (3 bits), drop eligible (1), VLAN identifier (12)
};

constexpr size_t kVlanTagsKept = 8;
using VlanTags = InlineList<VlanTag, kVlanTagsKept>;  ///< outermost first; any that go deeper are skipped, not kept

/// The outermost headers. Two taps of one packet differ here, or in the time to live and MACs around the packet itself,
/// or not at all; the ICRC covers none of it.
struct TapMarks {
  MacAddress destination_mac{};  ///< zero where the link layer does not tell
  MacAddress source_mac{};
  uint16_t vlan = 0;  ///< identifier of the outermost tag
  uint8_t time_to_live = 0;
  Tunnel tunnel = Tunnel::kNone;
  uint32_t tunnel_id = 0;  ///< VNI, GRE key or ERSPAN session

  friend bool operator==(const TapMarks& a, const TapMarks& b) {
    return a.destination_mac == b.destination_mac && a.source_mac == b.source_mac && a.vlan == b.vlan &&
           a.time_to_live == b.time_to_live && a.tunnel == b.tunnel && a.tunnel_id == b.tunnel_id;
  }
  friend bool operator!=(const TapMarks& a, const TapMarks& b) { return !(a == b); }
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

/// One frame, decoded. Offsets count bytes from the start of the frame. Fields behind the place where the frame was
/// cut, or where `kind` says that it is something else, keep their defaults. MACs, tags and IP fields are those nearest
/// to the RoCEv2 packet; what stands outermost is in `tap`.
struct RocePacket {
  FrameKind kind = FrameKind::kShort;
  TapMarks tap;
  uint8_t tunnels = 0;  ///< peeled

  bool has_ethernet =
      false;  ///< an Ethernet header stands at ethernet_offset; else no MACs, except what Linux cooked tells
  size_t ethernet_offset = 0;
  MacAddress destination_mac{};
  MacAddress source_mac{};
  VlanTags vlan_tags;

  IpAddress destination;
  IpAddress source;
  uint8_t traffic_class = 0;  ///< DSCP and ECN
  uint8_t time_to_live = 0;   ///< hop limit of IPv6
  size_t ip_offset = 0;
  size_t ip_end = 0;         ///< by the IP length field
  size_t trailer_bytes = 0;  ///< that the frame holds behind ip_end: Ethernet padding, FCS, time stamps of a tap

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

/// Decodes a frame of a link type of link_layer.hpp. Takes any bytes and never fails: what it could not decode is told
/// by `kind`, `has_bth` and `extended_headers_cut`. Allocates nothing.
RocePacket decode(ByteSpan frame, int link_type);
RocePacket decode(const Packet& packet);

/// decode() of an Ethernet frame that starts at the destination MAC.
RocePacket decode_frame(ByteSpan frame);

}  // namespace traces
