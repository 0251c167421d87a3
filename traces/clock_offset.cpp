#include "traces/clock_offset.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {
namespace {

constexpr size_t kRemembered = 65536;  // packets of the start of a file
constexpr size_t kMatches = 101;

struct Identity {
  IpAddress source;
  IpAddress destination;
  uint32_t opcode_and_psn = 0;
  uint32_t dest_qp = 0;
  uint32_t icrc = 0;

  explicit Identity(const RocePacket& roce)
      : source(roce.source),
        destination(roce.destination),
        opcode_and_psn(uint32_t{roce.bth.opcode} << 24 | roce.bth.psn),
        dest_qp(roce.bth.dest_qp),
        icrc(roce.icrc_on_wire) {}

  friend bool operator==(const Identity& a, const Identity& b) {
    return a.source == b.source && a.destination == b.destination && a.opcode_and_psn == b.opcode_and_psn &&
           a.dest_qp == b.dest_qp && a.icrc == b.icrc;
  }
};

struct HashIdentity {
  size_t operator()(const Identity& identity) const {
    return (uint64_t{identity.icrc} << 32 | identity.opcode_and_psn) * 0x9e3779b97f4a7c15u;
  }
};

// The RoCEv2 packets of a file whose ICRC is there, up to its end or to damage.
class Identified {
 public:
  explicit Identified(const std::string& file) : reader_(file) {}

  // Nothing at the end.
  std::optional<Identity> next() {
    try {
      while (reader_.read(packet_)) {
        const RocePacket roce = decode(packet_);
        if (roce.kind == FrameKind::kRoceV2 && roce.icrc_ok()) return Identity(roce);
      }
    } catch (const InputError&) {  // told by whoever reads the packets themselves
    }
    return std::nullopt;
  }
  int64_t time_ns() const { return packet_.time_ns; }

 private:
  PcapReader reader_;
  Packet packet_;
};

// Times in `other` minus times in `remembered`, of packets in the start of `remembered` and anywhere in `other`.
std::vector<int64_t> differences(const std::string& remembered, const std::string& other) {
  struct Seen {
    int64_t time_ns;
    bool usable;
  };
  std::unordered_map<Identity, Seen, HashIdentity> seen;
  Identified first(remembered);
  for (std::optional<Identity> packet; seen.size() < kRemembered && (packet = first.next());) {
    const auto [entry, is_new] = seen.try_emplace(*packet, Seen{first.time_ns(), true});
    if (!is_new) entry->second.usable = false;
  }
  std::vector<int64_t> result;
  Identified second(other);
  for (std::optional<Identity> packet; result.size() < kMatches && (packet = second.next());) {
    const auto entry = seen.find(*packet);
    if (entry == seen.end() || !entry->second.usable) continue;
    entry->second.usable = false;
    result.push_back(second.time_ns() - entry->second.time_ns);
  }
  return result;
}

}  // namespace

std::optional<ClockOffset> clock_offset(const std::string& reference, const std::string& file) {
  std::vector<int64_t> ahead = differences(reference, file);
  if (ahead.empty()) {  // the start of the reference may be before the first packet of `file`
    ahead = differences(file, reference);
    for (int64_t& difference : ahead) difference = -difference;
  }
  if (ahead.empty()) return std::nullopt;
  std::sort(ahead.begin(), ahead.end());
  return ClockOffset{ahead[ahead.size() / 2], ahead.front(), ahead.back(), ahead.size()};
}

}  // namespace traces
