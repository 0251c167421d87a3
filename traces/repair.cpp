#include "traces/repair.hpp"

#include <algorithm>

#include "traces/transport.hpp"

namespace traces {
namespace {

bool can_be_repaired(const Packet& packet, const RocePacket& roce) {
  return roce.kind == FrameKind::kRoceV2 && roce.has_bth && !roce.extended_headers_cut && !roce.length_mismatch &&
         roce.payload_length >= 0 && roce.ip_end <= packet.original_length;
}

void append_made_up_mac(std::vector<uint8_t>& frame, const IpAddress& address) {
  frame.insert(frame.end(), {0x02, 0x00});  // locally administered
  const auto end = address.bytes.begin() + (address.version == 4 ? 4 : 16);
  frame.insert(frame.end(), end - 4, end);
}

void append_big_endian(std::vector<uint8_t>& frame, uint16_t value) {
  frame.insert(frame.end(), {static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)});
}

}  // namespace

Repair repair(Packet& packet, RocePacket& roce) {
  if (roce.kind == FrameKind::kRoceV2 && roce.icrc != IcrcState::kCut) return Repair::kNotNeeded;
  if (!can_be_repaired(packet, roce)) return Repair::kImpossible;
  packet.repaired = true;
  packet.real_bytes = static_cast<uint32_t>(std::min(packet.bytes.size(), roce.icrc_offset));
  packet.bytes.resize(packet.real_bytes);
  packet.bytes.resize(roce.icrc_offset + kIcrcSize, 0);
  const uint32_t icrc = icrc_of(packet.bytes, roce);
  for (size_t i = 0; i < kIcrcSize; ++i) packet.bytes[roce.icrc_offset + i] = static_cast<uint8_t>(icrc >> (8 * i));
  roce = decode(packet);
  return Repair::kRepaired;
}

std::vector<uint8_t> ethernet_frame(const Packet& packet, const RocePacket& roce) {
  const auto begin = packet.bytes.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(roce.icrc_offset + kIcrcSize, packet.bytes.size()));
  if (roce.has_ethernet) return {begin + static_cast<std::ptrdiff_t>(roce.ethernet_offset), end};
  std::vector<uint8_t> frame;
  append_made_up_mac(frame, roce.destination);
  append_made_up_mac(frame, roce.source);
  for (const VlanTag& tag : roce.vlan_tags) {
    append_big_endian(frame, tag.tag_protocol);
    append_big_endian(frame, tag.control);
  }
  append_big_endian(frame, roce.destination.version == 4 ? 0x0800 : 0x86dd);
  frame.insert(frame.end(), begin + static_cast<std::ptrdiff_t>(roce.ip_offset), end);
  return frame;
}

}  // namespace traces
