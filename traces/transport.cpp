#include "traces/transport.hpp"

#include "traces/icrc.hpp"

namespace traces {
namespace {

// Each layer continues at cursor_.
class TransportDecoder {
 public:
  TransportDecoder(ByteSpan frame, RocePacket& packet)
      : frame_(frame), packet_(packet), cursor_(packet.udp_offset + kUdpHeaderSize) {}

  void transport() {
    if (!frame_.holds(cursor_, kBthSize)) return;
    packet_.has_bth = true;
    packet_.bth_offset = cursor_;
    bth(frame_.slice(cursor_, kBthSize));
    cursor_ += kBthSize;
    const size_t headers_size = extended_headers_size(packet_.bth.opcode);
    packet_.extended_headers_cut = !frame_.holds(cursor_, headers_size);
    packet_.payload_offset = cursor_ + headers_size;
    if (!packet_.extended_headers_cut) extended_headers();
    const int trailer = packet_.bth.pad_count + static_cast<int>(kIcrcSize);
    packet_.payload_length = packet_.udp_length - static_cast<int>(kUdpHeaderSize + kBthSize + headers_size) - trailer;
    icrc();
  }

 private:
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
    if (packet_.udp_length < kUdpHeaderSize + kBthSize + kIcrcSize) return;
    packet_.icrc_offset = end - kIcrcSize;
    if (end > frame_.size) return;
    const uint8_t* wire = frame_.data + packet_.icrc_offset;
    packet_.icrc_on_wire = wire[0] | wire[1] << 8 | wire[2] << 16 | static_cast<uint32_t>(wire[3]) << 24;
    packet_.icrc_computed = icrc_of(frame_, packet_);
    packet_.icrc = packet_.icrc_on_wire == packet_.icrc_computed ? IcrcState::kOk : IcrcState::kBad;
  }

  ByteSpan frame_;
  RocePacket& packet_;
  size_t cursor_;
};

}  // namespace

void decode_transport(ByteSpan frame, RocePacket& packet) {
  TransportDecoder(frame, packet).transport();
}

uint32_t icrc_of(ByteSpan frame, const RocePacket& packet) {
  return compute_icrc(frame.slice(packet.ip_offset, packet.udp_offset - packet.ip_offset),
                      frame.slice(packet.udp_offset, kUdpHeaderSize),
                      frame.slice(packet.bth_offset, packet.icrc_offset - packet.bth_offset));
}

}  // namespace traces
