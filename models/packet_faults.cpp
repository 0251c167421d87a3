#include "models/packet_faults.hpp"

#include <utility>

namespace models {

namespace {

constexpr size_t kIp = 14, kUdp = kIp + 20, kBth = kUdp + 8, kReth = kBth + 12, kDmaLength = kReth + 12;
constexpr uint32_t kPsnMask = 0xffffff;
constexpr uint16_t kRocePort = 4791;
enum : uint8_t { kReadRequest = 0x0c, kFirstReadResponse = 0x0d, kLastReadResponse = 0x10, kAcknowledge = 0x11 };

uint32_t big_endian(const std::vector<uint8_t>& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; i++) value = value << 8 | bytes[at + i];
  return value;
}

PacketKind kind_of(uint8_t opcode) {
  if (opcode == kAcknowledge) return PacketKind::ack;
  return opcode >= kFirstReadResponse && opcode <= kLastReadResponse ? PacketKind::response : PacketKind::request;
}

// How far `psn` is ahead of `due`.
int32_t ahead(uint32_t psn, uint32_t due) {
  return int32_t((psn - due) << 8) >> 8;
}

}  // namespace

std::optional<PacketIdentity> identify(const std::vector<uint8_t>& frame) {
  constexpr uint32_t kIpv4 = 0x0800, kNoOptions = 0x45, kProtocolUdp = 17;
  if (frame.size() < kReth || big_endian(frame, 12, 2) != kIpv4 || frame[kIp] != kNoOptions ||
      frame[kIp + 9] != kProtocolUdp || big_endian(frame, kUdp + 2, 2) != kRocePort)
    return std::nullopt;
  PacketIdentity p{kind_of(frame[kBth]), big_endian(frame, kBth + 5, 3), big_endian(frame, kBth + 9, 3), false, 0};
  p.reads = frame[kBth] == kReadRequest && frame.size() >= kDmaLength + 4;
  if (p.reads) p.dma_length_bytes = big_endian(frame, kDmaLength, 4);
  return p;
}

PacketFaults::PacketFaults(std::vector<ConnectionOnWire> connections, std::vector<uint32_t> first_qpn)
    : connections_(std::move(connections)), first_qpn_(std::move(first_qpn)), conversations_(2 * connections_.size()) {}

void PacketFaults::drop(unsigned direction, const PacketFault& fault) {
  Plan& plan = plans_[{direction, fault.connection, fault.kind, fault.psn, fault.turn}];
  planned_ += plan.copies.insert(fault.copy).second;
}

bool PacketFaults::hits(const Key& key) {
  const auto found = plans_.find(key);
  return found != plans_.end() && found->second.copies.count(++found->second.seen) != 0;
}

bool PacketFaults::loses(unsigned direction, const std::vector<uint8_t>& frame, bool dropped) {
  const auto packet = identify(frame);
  if (!packet || packet->dest_qp < first_qpn_[direction]) return false;
  const uint32_t connection = packet->dest_qp - first_qpn_[direction];
  if (connection >= connections_.size()) return false;
  // Requests are followed in their own direction, responses with the requests that they answer.
  const bool is_request = packet->kind == PacketKind::request;
  Conversation& c = conversations_[2 * connection + (is_request ? direction : 1 - direction)];
  if (is_request && !c.next) c.next = packet->psn;
  const Turn turn = turn_of(c, *packet);
  const bool by_any = hits({direction, connection, packet->kind, packet->psn, Turn::any});
  const bool by_turn = turn != Turn::any && hits({direction, connection, packet->kind, packet->psn, turn});
  const bool lost = by_any || by_turn;
  happened_ += by_any + by_turn;
  if (turn == Turn::due && !lost && !dropped) deliver(c, *packet, connections_[connection].pmtu_bytes);
  return lost;
}

Turn PacketFaults::turn_of(const Conversation& c, const PacketIdentity& packet) const {
  if (packet.kind == PacketKind::ack) return Turn::any;
  if (packet.kind == PacketKind::response && c.reads.empty()) return Turn::again;
  const int32_t distance = ahead(packet.psn, packet.kind == PacketKind::request ? *c.next : c.reads.front().next);
  if (distance == 0) return Turn::due;
  return distance > 0 ? Turn::ahead : Turn::again;
}

void PacketFaults::deliver(Conversation& c, const PacketIdentity& packet, uint32_t pmtu_bytes) {
  if (packet.kind == PacketKind::response) {
    Read& read = c.reads.front();
    read.next = (read.next + 1) & kPsnMask;
    if (--read.left == 0) c.reads.pop_front();
    return;
  }
  uint32_t span = 1;
  if (packet.reads && packet.dma_length_bytes != 0) span = (packet.dma_length_bytes - 1) / pmtu_bytes + 1;
  c.next = (packet.psn + span) & kPsnMask;
  if (packet.reads) c.reads.push_back({packet.psn, span});
}

}  // namespace models
