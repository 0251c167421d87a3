#include "traces/roce.hpp"

#include "traces/icrc.hpp"

namespace traces {
namespace {

constexpr size_t kEthernetSize = 14;
constexpr size_t kVlanTagSize = 4;
constexpr size_t kIpv4Size = 20;
constexpr size_t kUdpSize = 8;
constexpr size_t kBthSize = 12;
constexpr size_t kIcrcSize = 4;
constexpr uint16_t kRoceV2Port = 4791;

constexpr uint16_t kEtherTypeIpv4 = 0x0800;
constexpr uint16_t kEtherTypeArp = 0x0806;
constexpr uint16_t kEtherTypeIpv6 = 0x86dd;

bool is_vlan(uint16_t ether_type) {
  return ether_type == 0x8100 || ether_type == 0x88a8 || ether_type == 0x9100;
}

uint16_t load16(ByteSpan bytes, size_t offset) {
  return static_cast<uint16_t>(load_big_endian<2>(bytes, offset));
}
uint32_t load24(ByteSpan bytes, size_t offset) {
  return static_cast<uint32_t>(load_big_endian<3>(bytes, offset));
}
uint32_t load32(ByteSpan bytes, size_t offset) {
  return static_cast<uint32_t>(load_big_endian<4>(bytes, offset));
}

// Decodes one frame from the outside in. Each layer returns what the frame is, and the next one continues at cursor_.
class Decoder {
 public:
  Decoder(ByteSpan frame, RocePacket& packet) : frame_(frame), packet_(packet) {}

  FrameKind ethernet() {
    if (!frame_.holds(0, kEthernetSize)) return FrameKind::kShort;
    std::copy_n(frame_.data, 6, packet_.destination_mac.begin());
    std::copy_n(frame_.data + 6, 6, packet_.source_mac.begin());
    uint16_t ether_type = load16(frame_, 12);
    cursor_ = kEthernetSize;
    while (is_vlan(ether_type) && frame_.holds(cursor_, kVlanTagSize)) {
      packet_.vlan_tags.push_back({ether_type, load16(frame_, cursor_)});
      ether_type = load16(frame_, cursor_ + 2);
      cursor_ += kVlanTagSize;
    }
    if (is_vlan(ether_type)) return FrameKind::kShort;
    if (ether_type == kEtherTypeIpv4) return ipv4();
    if (ether_type == kEtherTypeIpv6) return FrameKind::kIpv6;
    return ether_type == kEtherTypeArp ? FrameKind::kArp : FrameKind::kOther;
  }

 private:
  FrameKind ipv4() {
    if (!frame_.holds(cursor_, kIpv4Size)) return FrameKind::kShort;
    const ByteSpan header = frame_.slice(cursor_, frame_.size);
    const size_t header_size = size_t{header.data[0]} % 16 * 4;
    if (header.data[0] >> 4 != 4 || header_size < kIpv4Size) return FrameKind::kOther;
    packet_.ip_offset = cursor_;
    packet_.traffic_class = header.data[1];
    packet_.time_to_live = header.data[8];
    packet_.source = ipv4_address(header, 12);
    packet_.destination = ipv4_address(header, 16);
    // A fragment has either a non-zero offset or "more fragments"; RoCEv2 forbids both.
    if (load16(header, 6) & 0x3fff) return FrameKind::kOther;
    cursor_ += header_size;
    switch (header.data[9]) {
      case 1:
        return FrameKind::kIcmp;
      case 6:
        return FrameKind::kTcp;
      case 17:
        return udp(packet_.ip_offset + load16(header, 2));
      default:
        return FrameKind::kOther;
    }
  }

  static IpAddress ipv4_address(ByteSpan header, size_t offset) {
    IpAddress address;
    address.version = 4;
    std::copy_n(header.data + offset, 4, address.bytes.begin());
    return address;
  }

  FrameKind udp(size_t ip_end) {
    if (!frame_.holds(cursor_, kUdpSize)) return FrameKind::kShort;
    packet_.udp_offset = cursor_;
    packet_.source_port = load16(frame_, cursor_);
    packet_.destination_port = load16(frame_, cursor_ + 2);
    packet_.udp_length = load16(frame_, cursor_ + 4);
    // By destination port only: source ports such as 69 (TFTP) are legal entropy.
    if (packet_.destination_port != kRoceV2Port) return FrameKind::kUdp;
    packet_.length_mismatch = cursor_ + packet_.udp_length != ip_end;
    cursor_ += kUdpSize;
    if (frame_.holds(cursor_, kBthSize)) transport();
    return FrameKind::kRoceV2;
  }

  void transport() {
    packet_.has_bth = true;
    packet_.bth_offset = cursor_;
    bth(frame_.slice(cursor_, kBthSize));
    cursor_ += kBthSize;
    const size_t headers_size = extended_headers_size(packet_.bth.opcode);
    packet_.extended_headers_cut = !frame_.holds(cursor_, headers_size);
    if (!packet_.extended_headers_cut) extended_headers();
    packet_.payload_offset = packet_.bth_offset + kBthSize + headers_size;
    const int trailer = packet_.bth.pad_count + static_cast<int>(kIcrcSize);
    packet_.payload_length = packet_.udp_length - static_cast<int>(kUdpSize + kBthSize + headers_size) - trailer;
    icrc();
  }

  void bth(ByteSpan header) {
    Bth& bth = packet_.bth;
    bth.opcode = header.data[0];
    bth.solicited = header.data[1] & 0x80;
    bth.migration = header.data[1] & 0x40;
    bth.pad_count = header.data[1] >> 4 & 3;
    bth.transport_version = header.data[1] & 15;
    bth.partition_key = load16(header, 2);
    bth.fecn = header.data[4] & 0x80;
    bth.becn = header.data[4] & 0x40;
    bth.reserved6 = header.data[4] & 63;
    bth.dest_qp = load24(header, 5);
    bth.ack_request = header.data[8] & 0x80;
    bth.reserved7 = header.data[8] & 127;
    bth.psn = load24(header, 9);
  }

  void extended_headers() {
    const uint8_t opcode = packet_.bth.opcode;
    const Transport transport = transport_of(opcode);
    if (transport == Transport::kUd) {
      packet_.deth = Deth{load32(frame_, cursor_), load24(frame_, cursor_ + 5)};
      return;
    }
    if (transport != Transport::kRc && transport != Transport::kUc && transport != Transport::kXrc) return;
    cursor_ += transport_header_size(opcode);
    for (Header header : operation_of(opcode).headers) {
      extended_header(header);
      cursor_ += size_of(header);
    }
  }

  void extended_header(Header header) {
    switch (header) {
      case Header::kReth:
        packet_.reth =
            Reth{load_big_endian<8>(frame_, cursor_), load32(frame_, cursor_ + 8), load32(frame_, cursor_ + 12)};
        break;
      case Header::kAeth:
        packet_.aeth = Aeth{frame_.data[cursor_], load24(frame_, cursor_ + 1)};
        break;
      case Header::kAtomicAckEth:
        packet_.atomic_original = load_big_endian<8>(frame_, cursor_);
        break;
      case Header::kAtomicEth:
        packet_.atomic = AtomicEth{load_big_endian<8>(frame_, cursor_), load32(frame_, cursor_ + 8),
                                   load_big_endian<8>(frame_, cursor_ + 12), load_big_endian<8>(frame_, cursor_ + 20)};
        break;
      case Header::kImmDt:
        packet_.immediate = load32(frame_, cursor_);
        break;
      case Header::kIeth:
        packet_.invalidate_key = load32(frame_, cursor_);
        break;
      case Header::kNone:
      case Header::kFlush:
      case Header::kAtomicWrite:
        break;
    }
  }

  void icrc() {
    const size_t end = packet_.udp_offset + packet_.udp_length;
    if (packet_.udp_length < kUdpSize + kBthSize + kIcrcSize || end > frame_.size) return;
    packet_.icrc_offset = end - kIcrcSize;
    const uint8_t* wire = frame_.data + packet_.icrc_offset;
    packet_.icrc_on_wire = wire[0] | wire[1] << 8 | wire[2] << 16 | static_cast<uint32_t>(wire[3]) << 24;
    packet_.icrc_computed = compute_icrc(frame_.slice(packet_.ip_offset, packet_.udp_offset - packet_.ip_offset),
                                         frame_.slice(packet_.udp_offset, kUdpSize),
                                         frame_.slice(packet_.bth_offset, packet_.icrc_offset - packet_.bth_offset));
    packet_.icrc = packet_.icrc_on_wire == packet_.icrc_computed ? IcrcState::kOk : IcrcState::kBad;
  }

  ByteSpan frame_;
  RocePacket& packet_;
  size_t cursor_ = 0;
};

}  // namespace

const char* name_of(FrameKind kind) {
  constexpr const char* kNames[kFrameKinds] = {"rocev2", "arp", "ipv6", "tcp", "udp", "icmp", "other", "short"};
  return kNames[static_cast<size_t>(kind)];
}

ByteSpan RocePacket::payload(ByteSpan frame) const {
  return frame.slice(payload_offset, payload_length > 0 ? static_cast<size_t>(payload_length) : 0);
}

RocePacket decode_frame(ByteSpan frame) {
  RocePacket packet;
  packet.kind = Decoder(frame, packet).ethernet();
  return packet;
}

}  // namespace traces
