#include "traces/decoder.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/transport.hpp"

namespace traces {
namespace {

constexpr size_t kEthernetSize = 14;
constexpr size_t kVlanTagSize = 4;
constexpr size_t kIpv4Size = 20;
constexpr size_t kIpv6Size = 40;
constexpr int kMostIpv6Extensions = 8;

enum IpProtocol : uint8_t {
  kHopByHop = 0,
  kIcmp = 1,
  kTcp = 6,
  kUdp = 17,
  kRouting = 43,
  kFragmentHeader = 44,
  kGre = 47,
  kIcmpv6 = 58,
  kDestinationOptions = 60,
};

enum UdpPort : uint16_t { kRoceV2Port = 4791, kVxlanPort = 4789, kLinuxVxlanPort = 8472, kGenevePort = 6081 };

bool is_vlan(uint16_t ether_type) {
  return ether_type == kVlanType || ether_type == kServiceVlanType || ether_type == kOldServiceVlanType;
}

IpAddress address(int version, ByteSpan header, size_t offset) {
  IpAddress address;
  address.version = version;
  std::copy_n(header.data + offset, version == 4 ? 4 : 16, address.bytes.begin());
  return address;
}

}  // namespace

FrameKind Decoder::link(int link_type) {
  switch (link_type) {
    case kLinkEthernet:
      return ethernet();
    case kLinkRawOld:
    case kLinkRawBsd:
    case kLinkRaw:
      return ip_of_either_version();
    case kLinkIpv4:
      return ipv4();
    case kLinkIpv6:
      return ipv6();
    case kLinkNull:
    case kLinkLoop:
      return loopback();
    case kLinkCooked:
      return cooked(14, 5, 6, 16);
    case kLinkCooked2:
      return cooked(0, 11, 12, 20);
    default:
      return FrameKind::kLinkType;
  }
}

FrameKind Decoder::ethernet() {
  if (!holds(kEthernetSize)) return FrameKind::kShort;
  packet_.has_ethernet = true;
  packet_.ethernet_offset = cursor_;
  std::copy_n(frame_.data + cursor_, 6, packet_.destination_mac.begin());
  std::copy_n(frame_.data + cursor_ + 6, 6, packet_.source_mac.begin());
  if (outermost()) {
    packet_.tap.destination_mac = packet_.destination_mac;
    packet_.tap.source_mac = packet_.source_mac;
  }
  cursor_ += kEthernetSize;
  return tagged(load16(frame_, cursor_ - 2));
}

// Linux cooked: protocol, address length and address stand at these places of the header. The address is the
// sender's.
FrameKind Decoder::cooked(size_t protocol, size_t address_length, size_t address, size_t header_size) {
  if (!holds(header_size)) return FrameKind::kShort;
  if (frame_.data[address_length] == 6) std::copy_n(frame_.data + address, 6, packet_.source_mac.begin());
  packet_.tap.source_mac = packet_.source_mac;
  cursor_ += header_size;
  return tagged(load16(frame_, protocol));
}

// The address family is in the byte order of the machine that captured, and IPv6 has a number on each system.
FrameKind Decoder::loopback() {
  if (!holds(4)) return FrameKind::kShort;
  const uint32_t family = load32(frame_, 0);
  cursor_ += 4;
  switch (family > 0xffff ? __builtin_bswap32(family) : family) {
    case 2:
      return ipv4();
    case 10:  // Linux
    case 24:  // NetBSD, OpenBSD
    case 28:  // FreeBSD
    case 30:  // Darwin
      return ipv6();
    default:
      return FrameKind::kOther;
  }
}

FrameKind Decoder::ip_of_either_version() {
  if (!holds(1)) return FrameKind::kShort;
  return frame_.data[cursor_] >> 4 == 6 ? ipv6() : ipv4();
}

FrameKind Decoder::tagged(uint16_t ether_type) {
  while (is_vlan(ether_type)) {
    if (!holds(kVlanTagSize)) return FrameKind::kShort;
    const uint16_t control = load16(frame_, cursor_);
    if (outermost() && packet_.vlan_tags.empty()) packet_.tap.vlan = control & 0xfff;
    packet_.vlan_tags.push_back({ether_type, control});
    ether_type = load16(frame_, cursor_ + 2);
    cursor_ += kVlanTagSize;
  }
  switch (ether_type) {
    case kIpv4Type:
      return ipv4();
    case kIpv6Type:
      return ipv6();
    case kArpType:
      return FrameKind::kArp;
    case kRoceV1Type:
      return FrameKind::kRoceV1;
    default:
      return FrameKind::kOther;
  }
}

FrameKind Decoder::ipv4() {
  if (!holds(kIpv4Size)) return FrameKind::kShort;
  const ByteSpan header = frame_.slice(cursor_, frame_.size);
  const size_t header_size = size_t{header.data[0]} % 16 * 4;
  if (header.data[0] >> 4 != 4 || header_size < kIpv4Size) return FrameKind::kOther;
  ip_header(header.data[1], header.data[8], address(4, header, 12), address(4, header, 16));
  const size_t length = load16(header, 2);
  packet_.ip_end = length == 0 ? frame_.size : cursor_ + length;  // 0: cut into packets by the NIC, behind the tap
  // A fragment has either a non-zero offset or "more fragments"; RoCEv2 forbids both.
  if (load16(header, 6) & 0x3fff) return FrameKind::kFragment;
  cursor_ += header_size;
  return protocol(header.data[9], FrameKind::kIpv4);
}

FrameKind Decoder::ipv6() {
  if (!holds(kIpv6Size)) return FrameKind::kShort;
  const ByteSpan header = frame_.slice(cursor_, frame_.size);
  if (header.data[0] >> 4 != 6) return FrameKind::kOther;
  ip_header(static_cast<uint8_t>(load16(header, 0) >> 4), header.data[7], address(6, header, 8),
            address(6, header, 24));
  packet_.ip_end = cursor_ + kIpv6Size + load16(header, 4);
  uint8_t next = header.data[6];
  cursor_ += kIpv6Size;
  for (int i = 0; next == kHopByHop || next == kRouting || next == kDestinationOptions; ++i) {
    if (i == kMostIpv6Extensions) return FrameKind::kOther;
    if (!holds(8)) return FrameKind::kShort;
    next = frame_.data[cursor_];
    cursor_ += (size_t{frame_.data[cursor_ + 1]} + 1) * 8;
  }
  return next == kFragmentHeader ? FrameKind::kFragment : protocol(next, FrameKind::kIpv6);
}

void Decoder::ip_header(uint8_t traffic_class, uint8_t time_to_live, const IpAddress& source,
                        const IpAddress& destination) {
  packet_.ip_offset = cursor_;
  packet_.traffic_class = traffic_class;
  packet_.time_to_live = time_to_live;
  packet_.source = source;
  packet_.destination = destination;
  if (outermost()) packet_.tap.time_to_live = time_to_live;
}

FrameKind Decoder::protocol(uint8_t protocol, FrameKind otherwise) {
  switch (protocol) {
    case kIcmp:
    case kIcmpv6:
      return FrameKind::kIcmp;
    case kTcp:
      return FrameKind::kTcp;
    case kUdp:
      return udp();
    case kGre:
      return gre();
    default:
      return otherwise;
  }
}

FrameKind Decoder::udp() {
  if (!holds(kUdpHeaderSize)) return FrameKind::kShort;
  packet_.udp_offset = cursor_;
  packet_.source_port = load16(frame_, cursor_);
  packet_.destination_port = load16(frame_, cursor_ + 2);
  packet_.udp_length = load16(frame_, cursor_ + 4);
  cursor_ += kUdpHeaderSize;
  // By destination port only: source ports such as 69 (TFTP) are legal entropy.
  switch (packet_.destination_port) {
    case kRoceV2Port:
      packet_.length_mismatch = packet_.udp_offset + packet_.udp_length != packet_.ip_end;
      packet_.trailer_bytes = frame_.size - std::min(frame_.size, packet_.ip_end);
      decode_transport(frame_, packet_);
      return FrameKind::kRoceV2;
    case kVxlanPort:
    case kLinuxVxlanPort:
      return vxlan();
    case kGenevePort:
      return geneve();
    default:
      return FrameKind::kUdp;
  }
}

RocePacket decode(ByteSpan frame, int link_type) {
  RocePacket packet;
  packet.kind = Decoder(frame, packet).link(link_type);
  return packet;
}

RocePacket decode(const Packet& packet) {
  return decode(packet.bytes, packet.link_type);
}

RocePacket decode_frame(ByteSpan frame) {
  return decode(frame, kLinkEthernet);
}

}  // namespace traces
