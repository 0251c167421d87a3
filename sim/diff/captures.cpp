#include "sim/diff/captures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"
#include "traces/roce_line.hpp"

namespace sim {
namespace {

using traces::Packet;
using Mac = std::array<uint8_t, 6>;

Mac source_of(const Packet& packet) {
  Mac mac{};
  const traces::ByteSpan bytes = traces::ByteSpan(packet.bytes).slice(mac.size(), mac.size());
  std::copy_n(bytes.data, bytes.size, mac.begin());
  return mac;
}

// Nodes have the MACs that sim/testbed/node.hpp gives them.
std::string name_of(const Mac& mac) {
  constexpr Mac kNode = {0x02, 0, 0, 0, 0, 0};
  if (std::equal(mac.begin(), mac.end() - 1, kNode.begin()) && mac.back() != 0)
    return "nic" + std::to_string(mac.back() - 1);
  return fmt::format("{:02x}", fmt::join(mac, ":"));
}

// The packets of one sender in one capture.
class SenderReader {
 public:
  SenderReader(const RunFiles& run, const std::string& capture, const Mac& sender)
      : clock_(run.nic_clock), sender_(sender), reader_(run.file(capture)) {}

  bool next() {
    while (reader_.read(packet_))
      if (source_of(packet_) == sender_) {
        count_++;
        return true;
      }
    return false;
  }
  const Packet& packet() const { return packet_; }
  uint64_t count() const { return count_; }
  PacketAt at() const {
    const uint64_t time_ps = uint64_t(packet_.time_ns) * 1000;
    return {packet_.index, time_ps, clock_.edge_after(time_ps) - 1, decode()};
  }

 private:
  std::string decode() const {
    const traces::RocePacket roce = traces::decode_frame(packet_.bytes);
    const auto line = traces::LineFormatter().line(packet_, roce);
    if (!line) return fmt::format("{} len={}", traces::name_of(roce.kind), packet_.bytes.size());
    const size_t index_ends = line->find(' ');
    return line->substr(line->find(' ', index_ends + 1) + 1);  // without index and time
  }

  hw::Clock clock_;
  Mac sender_;
  traces::PcapReader reader_;
  Packet packet_;
  uint64_t count_ = 0;
};

// Nothing when the frames are the same.
std::optional<uint64_t> first_different_byte(const Packet& a, const Packet& b) {
  const auto [in_a, in_b] = std::mismatch(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
  if (in_a == a.bytes.end() && in_b == b.bytes.end()) return {};
  return uint64_t(in_a - a.bytes.begin());
}

SenderDiff compare(const RunFiles& run_a, const RunFiles& run_b, const std::string& capture, const Mac& sender) {
  SenderReader a(run_a, capture, sender), b(run_b, capture, sender);
  SenderDiff diff;
  diff.capture = capture;
  diff.sender = name_of(sender);
  for (;;) {
    const bool in_a = a.next(), in_b = b.next();
    if (!in_a && !in_b) break;
    const bool both = in_a && in_b;
    const auto byte = both ? first_different_byte(a.packet(), b.packet()) : std::nullopt;
    const bool other_time = both && a.packet().time_ns != b.packet().time_ns;
    const bool other_bytes = !both || byte;
    diff.other_times += other_time;
    if ((diff.first || !other_time) && (diff.first_bytes || !other_bytes)) continue;
    const PacketDifference found = {std::max(a.count(), b.count()), in_a ? std::make_optional(a.at()) : std::nullopt,
                                    in_b ? std::make_optional(b.at()) : std::nullopt, byte};
    if (!diff.first) diff.first = found;
    if (other_bytes) diff.first_bytes = found;
  }
  diff.packets_a = a.count();
  diff.packets_b = b.count();
  return diff;
}

bool has(const RunFiles& run, const std::string& capture) {
  return std::find(run.captures.begin(), run.captures.end(), capture) != run.captures.end();
}

void add_senders(const std::string& file, std::set<Mac>& senders) {
  traces::PcapReader reader(file);
  for (Packet packet; reader.read(packet);) {
    reader.require_ethernet(packet);
    senders.insert(source_of(packet));
  }
}

}  // namespace

uint64_t PacketDifference::time_ps() const {
  if (!a || !b) return (a ? a : b)->time_ps;
  return std::min(a->time_ps, b->time_ps);
}

std::vector<SenderDiff> compare_captures(const RunFiles& a, const RunFiles& b) {
  std::vector<SenderDiff> list;
  std::set<Mac> senders;  // of a capture that only one has: read for what is wrong with it
  for (const std::string& capture : b.captures)
    if (!has(a, capture)) add_senders(b.file(capture), senders);
  for (const std::string& capture : a.captures) {
    senders.clear();
    add_senders(a.file(capture), senders);
    if (!has(b, capture)) continue;
    add_senders(b.file(capture), senders);
    for (const Mac& sender : senders) list.push_back(compare(a, b, capture, sender));
  }
  return list;
}

const SenderDiff* earliest(const std::vector<SenderDiff>& senders) {
  const SenderDiff* first = nullptr;
  for (const SenderDiff& s : senders)
    if (s.first && (!first || s.first->time_ps() < first->first->time_ps())) first = &s;
  return first;
}

}  // namespace sim
