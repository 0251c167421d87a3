#include "frames.hpp"

#include "traces/icrc.hpp"

namespace traces::test {
namespace {

constexpr size_t kIpSize = 20;
constexpr size_t kUdpSize = 8;
constexpr size_t kIcrcSize = 4;

void append(std::vector<uint8_t>& bytes, uint64_t value, int count) {
  while (count-- > 0) bytes.push_back(static_cast<uint8_t>(value >> (8 * count)));
}

void append_transport(std::vector<uint8_t>& bytes, const FrameSpec& spec) {
  const size_t pad = (4 - spec.payload % 4) % 4;
  append(bytes, spec.opcode, 1);
  append(bytes, pad << 4, 1);
  append(bytes, 0xffff, 2);
  append(bytes, spec.dest_qp, 4);
  append(bytes, spec.ack_request ? 0x80 : 0, 1);
  append(bytes, spec.psn, 3);
  if (spec.reth) {
    append(bytes, spec.reth->virtual_address, 8);
    append(bytes, spec.reth->remote_key, 4);
    append(bytes, spec.reth->dma_length, 4);
  }
  if (spec.aeth) {
    append(bytes, spec.aeth->syndrome, 1);
    append(bytes, spec.aeth->msn, 3);
  }
  if (spec.immediate) append(bytes, *spec.immediate, 4);
  for (size_t i = 0; i < spec.payload; ++i) append(bytes, i * 7 + spec.psn, 1);
  bytes.insert(bytes.end(), pad, 0);
}

void write_icrc(std::vector<uint8_t>& frame, size_t ip, size_t udp, size_t end) {
  const ByteSpan bytes = frame;
  const size_t transport = udp + kUdpSize;
  const uint32_t icrc = compute_icrc(bytes.slice(ip, udp - ip), bytes.slice(udp, kUdpSize),
                                     bytes.slice(transport, end - kIcrcSize - transport));
  for (size_t i = 0; i < kIcrcSize; ++i) frame[end - kIcrcSize + i] = static_cast<uint8_t>(icrc >> (8 * i));
}

}  // namespace

std::vector<uint8_t> build_frame(const FrameSpec& spec) {
  std::vector<uint8_t> transport;
  append_transport(transport, spec);
  const size_t udp_length = kUdpSize + transport.size() + kIcrcSize;

  std::vector<uint8_t> frame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2};
  for (const VlanTag& tag : spec.vlan_tags) append(frame, uint64_t{tag.tag_protocol} << 16 | tag.control, 4);
  const IpAddress source = parse_ip(spec.source).value();
  append(frame, source.version == 4 ? 0x0800 : 0x86dd, 2);
  const size_t ip = frame.size();
  if (source.version == 4) {
    append(frame, 0x4500, 2);
    append(frame, kIpSize + udp_length, 2);
    append(frame, 0x00004000, 4);  // do not fragment
    append(frame, 0x40110000, 4);  // TTL 64, UDP; the checksum is not looked at
  } else {
    append(frame, 0x60000000, 4);
    append(frame, udp_length, 2);
    append(frame, 0x1140, 2);  // UDP, hop limit 64
  }
  for (const IpAddress& address : {source, parse_ip(spec.destination).value()})
    frame.insert(frame.end(), address.bytes.begin(), address.bytes.begin() + (source.version == 4 ? 4 : 16));
  const size_t udp = frame.size();
  append(frame, 0xc000, 2);
  append(frame, 4791, 2);
  append(frame, udp_length, 2);
  append(frame, 0, 2);
  frame.insert(frame.end(), transport.begin(), transport.end());
  frame.resize(frame.size() + kIcrcSize);
  write_icrc(frame, ip, udp, frame.size());
  return frame;
}

void fix_icrc(std::vector<uint8_t>& frame) {
  const RocePacket packet = decode_frame(frame);
  write_icrc(frame, packet.ip_offset, packet.udp_offset, packet.udp_offset + packet.udp_length);
}

Packet as_packet(std::vector<uint8_t> frame, uint64_t index) {
  Packet packet;
  packet.time_ns = static_cast<int64_t>(index) * 1000;
  packet.original_length = static_cast<uint32_t>(frame.size());
  packet.bytes = std::move(frame);
  packet.index = index;
  packet.link_type = 1;
  return packet;
}

FrameSpec write_only(uint32_t psn, size_t payload, uint64_t address, uint32_t remote_key) {
  FrameSpec spec;
  spec.opcode = 0x0a;
  spec.psn = psn;
  spec.ack_request = true;
  spec.reth = Reth{address, remote_key, static_cast<uint32_t>(payload)};
  spec.payload = payload;
  return spec;
}

FrameSpec ack(uint32_t dest_qp, uint32_t psn, uint32_t msn, uint8_t syndrome) {
  FrameSpec spec;
  spec.source = "10.0.0.1";
  spec.destination = "10.0.0.2";
  spec.opcode = 0x11;
  spec.dest_qp = dest_qp;
  spec.psn = psn;
  spec.aeth = Aeth{syndrome, msn};
  return spec;
}

}  // namespace traces::test
