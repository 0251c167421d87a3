// A RoCE v2 packet with every field of its headers, as a frame and as the tokens of the transmit path. The frame is
// built byte by byte from the offsets of the standards, independent of hw/bus/wire.hpp.
#pragma once
#include <random>

#include "bench.hpp"
#include "frames.hpp"
#include "hw/tokens.hpp"

namespace test {

enum : uint8_t { kFirst = 0x06, kMiddle = 0x07, kLast = 0x08, kOnly = 0x0a, kAck = 0x11 };

// Which headers an opcode has behind the BTH (IBTA table 38).
inline bool has_reth(uint8_t opcode) {
  return opcode == 0x06 || opcode == 0x0a || opcode == 0x0b || opcode == 0x0c;
}
inline bool has_aeth(uint8_t opcode) {
  return opcode == 0x0d || opcode == 0x0f || opcode == 0x10 || opcode == 0x11;
}
inline bool has_immediate(uint8_t opcode) {
  return opcode == 0x03 || opcode == 0x05 || opcode == 0x09 || opcode == 0x0b;
}
inline unsigned extended_bytes(uint8_t opcode) {
  return has_reth(opcode) * 16u + has_aeth(opcode) * 4u + has_immediate(opcode) * 4u;
}
// READ requests and acknowledgements have none.
inline bool may_have_payload(uint8_t opcode) {
  return opcode != 0x0c && opcode != 0x11;
}

struct Packet {
  uint64_t destination_mac = 0x021122334455, source_mac = 0x0abbccddeef1;
  uint32_t source_ip = 0x0a010203, destination_ip = 0xc0a8c809;
  uint16_t udp_source_port = 0xc123;
  uint8_t tos = 0x02, ttl = 64;
  uint8_t opcode = kOnly;
  uint8_t transport_version = 0;
  bool migreq = false, ack_request = false;
  uint16_t partition_key = 0xffff;
  uint32_t qpn = 0x11, psn = 0;
  uint64_t va = 0;
  uint32_t rkey = 0, dma_length = 0, immediate = 0;
  uint8_t syndrome = 0x1f;
  uint32_t msn = 0;
  Bytes payload;

  bool has_reth() const { return test::has_reth(opcode); }
  bool has_aeth() const { return test::has_aeth(opcode); }
  bool has_immediate() const { return test::has_immediate(opcode); }
  size_t header_bytes() const { return 54 + extended_bytes(opcode); }
  size_t pad() const { return (4 - payload.size() % 4) % 4; }

  // The frame up to the pad: it lacks its ICRC, which the lengths count already.
  Bytes frame() const {
    Bytes f(header_bytes() + payload.size() + pad());
    const size_t udp_length = f.size() - 34 + 4;
    RoceFrame::put(f, 0, 6, destination_mac);
    RoceFrame::put(f, 6, 6, source_mac);
    RoceFrame::put(f, 12, 2, 0x0800);
    f[14] = 0x45;
    f[15] = tos;
    RoceFrame::put(f, 16, 2, udp_length + 20);
    RoceFrame::put(f, 20, 2, 0x4000);
    f[22] = ttl;
    f[23] = 17;
    RoceFrame::put(f, 26, 4, source_ip);
    RoceFrame::put(f, 30, 4, destination_ip);
    put_checksum(f);
    RoceFrame::put(f, 34, 2, udp_source_port);
    RoceFrame::put(f, 36, 2, 4791);
    RoceFrame::put(f, 38, 2, udp_length);
    f[42] = opcode;
    f[43] = uint8_t(migreq << 6 | pad() << 4 | transport_version);
    RoceFrame::put(f, 44, 2, partition_key);
    RoceFrame::put(f, 47, 3, qpn);
    f[50] = uint8_t(ack_request << 7);
    RoceFrame::put(f, 51, 3, psn);
    if (has_reth()) {
      RoceFrame::put(f, 54, 8, va);
      RoceFrame::put(f, 62, 4, rkey);
      RoceFrame::put(f, 66, 4, dma_length);
    } else if (has_aeth()) {
      f[54] = syndrome;
      RoceFrame::put(f, 55, 3, msn);
    }
    if (has_immediate()) RoceFrame::put(f, header_bytes() - 4, 4, immediate);
    std::copy(payload.begin(), payload.end(), f.begin() + long(header_bytes()));
    return f;
  }

  // With a trailer in the place of the ICRC, for stages that cut it unseen.
  Bytes frame_and_trailer() const {
    Bytes f = frame();
    f.insert(f.end(), {0xde, 0xad, 0xbe, 0xef});
    return f;
  }

  // Writes the IPv4 header checksum, added up word by word in network order.
  static void put_checksum(Bytes& f) {
    RoceFrame::put(f, 24, 2, 0);
    uint32_t sum = 0;
    for (size_t i = 14; i < 34; i += 2) sum += uint32_t(f[i]) << 8 | f[i + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    RoceFrame::put(f, 24, 2, ~sum & 0xffff);
  }

  hw::TxRouted routed(uint32_t tag = 0) const {
    hw::TxRouted r;
    r.packet.opcode = hw::Bits<8>(opcode);
    r.packet.qpn = hw::Qpn(qpn);
    r.packet.psn = hw::Psn(psn);
    r.packet.ack_request = hw::Bits<1>(ack_request);
    r.packet.remote_address = hw::Bits<64>(va);
    r.packet.rkey = hw::Bits<32>(rkey);
    r.packet.dma_length = hw::Bits<32>(dma_length);
    r.packet.immediate = hw::Bits<32>(immediate);
    r.packet.syndrome = hw::Bits<8>(syndrome);
    r.packet.msn = hw::Bits<24>(msn);
    r.packet.payload = hw::PacketBytes(payload.size());
    r.packet.tag.id = tag;
    r.route.destination_mac = hw::Bits<48>(destination_mac);
    r.route.source_mac = hw::Bits<48>(source_mac);
    r.route.destination_ip = hw::Bits<32>(destination_ip);
    r.route.source_ip = hw::Bits<32>(source_ip);
    r.route.udp_source_port = hw::Bits<16>(udp_source_port);
    return r;
  }

  // Random fields; those that the opcode does not send are left at zero.
  static Packet random(std::mt19937_64& random, uint8_t opcode, size_t payload) {
    Packet p;
    p.destination_mac = random() >> 16;
    p.source_mac = random() >> 16;
    p.source_ip = uint32_t(random());
    p.destination_ip = uint32_t(random());
    p.udp_source_port = uint16_t(random());
    p.opcode = opcode;
    p.ack_request = random() & 1;
    p.qpn = uint32_t(random() & 0xffffff);
    p.psn = uint32_t(random() & 0xffffff);
    if (p.has_reth()) {
      p.va = random();
      p.rkey = uint32_t(random());
      p.dma_length = uint32_t(random());
    }
    p.immediate = p.has_immediate() ? uint32_t(random()) : 0;
    p.syndrome = p.has_aeth() ? uint8_t(random()) : 0;
    p.msn = p.has_aeth() ? uint32_t(random() & 0xffffff) : 0;
    p.payload.resize(payload);
    for (uint8_t& b : p.payload) b = uint8_t(random() | 1);  // never zero, so that a lost byte differs from a pad
    return p;
  }
};

// Any kind of packet, any size, small ones and the borders of beats more often than others.
inline Packet any_packet(std::mt19937_64& random) {
  const uint8_t opcode = uint8_t(random() % (kAck + 1));
  const size_t near_border = random() % 5 * 64 + random() % 16;
  const size_t sizes[] = {random() % 20, near_border, random() % 4097, 64};
  return Packet::random(random, opcode, may_have_payload(opcode) ? sizes[random() % 4] : 0);
}

// What rx/header_split makes of the headers of a frame.
inline hw::RxHeader rx_header(const Bytes& frame, size_t payload = 0) {
  hw::RxHeader h;
  memcpy(h.bytes.w, frame.data(), std::min<size_t>(frame.size(), 74));
  h.payload = hw::PacketBytes(payload);
  h.body = hw::Bits<1>(payload != 0);
  return h;
}

}  // namespace test
