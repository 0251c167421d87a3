#include "traces/mirror.hpp"

#include <algorithm>
#include <cstring>

#include "traces/flat_map.hpp"

namespace traces {
namespace {

// Sums products, which the processor forms side by side.
class Hash {
 public:
  Hash& add(uint64_t value) {
    sum_ += (value ^ value >> 32) * factor_;
    factor_ += 0xd1342543de82ef96;  // even, so that the factor stays odd
    return *this;
  }
  Hash& add_mac(const MacAddress& mac) {
    uint64_t value = 0;
    std::memcpy(&value, mac.data(), mac.size());
    return add(value);
  }
  uint64_t value() const { return mix64(sum_); }

 private:
  uint64_t sum_ = 0;
  uint64_t factor_ = 0x9e3779b97f4a7c15;
};

// A right ICRC covers all that a switch or router leaves alone: the addresses and ports, the headers and the payload.
// Where it was cut off, the headers have to do.
uint64_t hash_of_packet(const RocePacket& roce) {
  const Bth& bth = roce.bth;
  Hash hash;
  hash.add(uint64_t{bth.opcode} << 48 | uint64_t{bth.dest_qp} << 24 | bth.psn).add(roce.icrc_on_wire);
  if (roce.icrc == IcrcState::kCut) {
    for (const IpAddress* address : {&roce.source, &roce.destination}) {
      uint64_t halves[2];
      std::memcpy(halves, address->bytes.data(), sizeof halves);
      hash.add(halves[0]).add(halves[1]);
    }
    hash.add(uint64_t{roce.udp_length} << 32 | uint64_t{roce.source_port} << 8 | bth.ack_request);
    if (roce.aeth) hash.add(uint64_t{roce.aeth->syndrome} << 24 | roce.aeth->msn);
    if (roce.reth) {
      hash.add(roce.reth->virtual_address).add(uint64_t{roce.reth->remote_key} << 32 | roce.reth->dma_length);
    }
  }
  return hash.value() | 1;  // 0 marks a free entry
}

uint16_t hash_of_path(const Packet& packet, const RocePacket& roce) {
  const TapMarks& tap = roce.tap;
  Hash hash;
  hash.add_mac(roce.destination_mac).add_mac(roce.source_mac).add_mac(tap.destination_mac).add_mac(tap.source_mac);
  hash.add(uint64_t{tap.tunnel_id} << 32 | uint64_t{tap.vlan} << 16 | static_cast<uint64_t>(tap.tunnel));
  hash.add(uint64_t{tap.time_to_live} << 8 | roce.time_to_live);
  hash.add(uint64_t{packet.file_index} << 32 | packet.interface_index);
  for (const VlanTag& tag : roce.vlan_tags) hash.add(uint64_t{tag.tag_protocol} << 16 | tag.control);
  return static_cast<uint16_t>(hash.value() | 1);
}

}  // namespace

Copy MirrorDetector::add_to(Entry& entry, uint16_t path, int64_t time_ns) const {
  const auto seen = std::find(entry.paths.begin(), entry.paths.end(), path);
  if (seen != entry.paths.end()) {
    if (time_ns - entry.last_ns <= windows_.same_path_ns) return Copy::kSamePath;
  } else if (time_ns - entry.start_ns <= windows_.other_path_ns) {
    const auto room = std::find(entry.paths.begin(), entry.paths.end(), 0);
    if (room != entry.paths.end()) *room = path;
    return Copy::kOtherPath;
  }
  entry.paths = {path};
  entry.start_ns = time_ns;
  return Copy::kNone;
}

Copy MirrorDetector::add(const Packet& packet, const RocePacket& roce) {
  const uint64_t content = hash_of_packet(roce);
  const uint16_t path = hash_of_path(packet, roce);
  auto& bucket = buckets_[content >> 1 & (kBuckets - 1)];
  auto entry = std::find_if(bucket.begin(), bucket.end(), [&](const Entry& e) { return e.packet == content; });
  if (entry == bucket.end()) {
    entry = std::min_element(bucket.begin(), bucket.end(),
                             [](const Entry& a, const Entry& b) { return a.last_ns < b.last_ns; });
    *entry = Entry{content, packet.time_ns, packet.time_ns, {path}};
    return Copy::kNone;
  }
  const Copy copy = add_to(*entry, path, packet.time_ns);
  entry->last_ns = packet.time_ns;
  return copy;
}

}  // namespace traces
