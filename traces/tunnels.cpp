#include "traces/decoder.hpp"

namespace traces {
namespace {

constexpr uint8_t kMostTunnels = 4;

}  // namespace

// RFC 7348, section 5.
FrameKind Decoder::vxlan() {
  constexpr size_t kHeaderSize = 8;
  constexpr uint8_t kHasIdentifier = 0x08;
  if (!holds(kHeaderSize)) return FrameKind::kShort;
  if (!(frame_.data[cursor_] & kHasIdentifier)) return FrameKind::kUdp;
  const uint32_t identifier = load24(frame_, cursor_ + 4);
  cursor_ += kHeaderSize;
  return peel(Tunnel::kVxlan, identifier, kTransparentEthernetType);
}

// RFC 8926, section 3.4.
FrameKind Decoder::geneve() {
  constexpr size_t kHeaderSize = 8;
  if (!holds(kHeaderSize)) return FrameKind::kShort;
  const uint8_t version_and_options = frame_.data[cursor_];
  if (version_and_options >> 6 != 0) return FrameKind::kUdp;
  const uint16_t contents = load16(frame_, cursor_ + 2);
  const uint32_t identifier = load24(frame_, cursor_ + 4);
  cursor_ += kHeaderSize + size_t{version_and_options} % 64 * 4;
  return peel(Tunnel::kGeneve, identifier, contents);
}

// RFC 2784 and RFC 2890: checksum, key and sequence number are there by flag, in this order.
FrameKind Decoder::gre() {
  constexpr uint16_t kChecksum = 0x8000, kKey = 0x2000, kSequence = 0x1000, kRoutingOrVersion = 0x4007;
  if (!holds(4)) return FrameKind::kShort;
  const uint16_t flags = load16(frame_, cursor_);
  const uint16_t contents = load16(frame_, cursor_ + 2);
  if (flags & kRoutingOrVersion) return FrameKind::kTunnel;
  const size_t key_offset = flags & kChecksum ? 8 : 4;
  const size_t header_size = key_offset + (flags & kKey ? 4 : 0) + (flags & kSequence ? 4 : 0);
  if (!holds(header_size)) return FrameKind::kShort;
  const uint32_t key = flags & kKey ? load32(frame_, cursor_ + key_offset) : 0;
  cursor_ += header_size;
  if (contents == kErspan3Type) return erspan(Tunnel::kErspan3);
  if (contents != kErspan2Type) return peel(Tunnel::kGre, key, contents);
  // Type I has no header of its own, and is known by having no sequence number.
  return flags & kSequence ? erspan(Tunnel::kErspan2) : peel(Tunnel::kErspan1, 0, kTransparentEthernetType);
}

// draft-foschiano-erspan, sections 4.2 and 4.3.
FrameKind Decoder::erspan(Tunnel type) {
  const bool third = type == Tunnel::kErspan3;
  const size_t header_size = third ? 12 : 8;
  if (!holds(header_size)) return FrameKind::kShort;
  if (frame_.data[cursor_] >> 4 != (third ? 2 : 1)) return FrameKind::kTunnel;
  const uint32_t session = load16(frame_, cursor_ + 2) & 0x3ff;
  const bool has_subheader = third && frame_.data[cursor_ + 11] & 1;
  const bool holds_ip = third && (frame_.data[cursor_ + 10] >> 2 & 31) == 2;
  cursor_ += header_size + (has_subheader ? 8 : 0);
  return peel(type, session, holds_ip ? 0 : kTransparentEthernetType);
}

// Continues inside of a tunnel, with an Ethernet frame, an ether type's contents, or (0) IP of either version.
FrameKind Decoder::peel(Tunnel tunnel, uint32_t identifier, uint16_t contents) {
  if (packet_.tunnels == kMostTunnels) return FrameKind::kTunnel;
  if (outermost()) {
    packet_.tap.tunnel = tunnel;
    packet_.tap.tunnel_id = identifier;
  }
  ++packet_.tunnels;
  packet_.has_ethernet = false;
  packet_.destination_mac = {};
  packet_.source_mac = {};
  packet_.vlan_tags.clear();
  if (contents == 0) return ip_of_either_version();
  if (contents == kTransparentEthernetType) return ethernet();
  const FrameKind kind = tagged(contents);
  return kind == FrameKind::kOther ? FrameKind::kTunnel : kind;
}

}  // namespace traces
