#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {

/// What a packet is besides the first sight of one transmission.
enum class Copy : uint8_t {
  kNone,       ///< a transmission of its own
  kOtherPath,  ///< the same packet at another place: TTL, MAC addresses, VLAN tags, tunnel, interface or file differ
  kSamePath,   ///< bit by bit the same, too soon for a retransmission: a second port of the tap, or the network's copy
};

struct MirrorWindows {
  int64_t other_path_ns = 1'000'000;  ///< a copy from another place comes at most that late
  int64_t same_path_ns = 3'000;       ///< below what a NAK and the answer to it take
};

/// Tells copies that the tap made from retransmissions. Packets are the same when everything is that a switch or router
/// leaves alone, the ICRC included. A retransmission takes the path of the packet before it, so a packet is a copy when
/// this transmission has not been seen on its path yet, or was seen there just before.
///
/// The table has a fixed size: it forgets the oldest packet of a bucket, and a copy of a forgotten packet counts as a
/// transmission. The verdict depends on the packets alone, so a second pass over a file gives the same verdicts.
class MirrorDetector {
 public:
  explicit MirrorDetector(MirrorWindows windows = {}) : windows_(windows), buckets_(kBuckets) {}

  /// The next RoCEv2 packet with a BTH, in capture order, and its decoding.
  Copy add(const Packet& packet, const RocePacket& roce);

 private:
  static constexpr size_t kBuckets = 1 << 11;
  static constexpr size_t kWays = 4;
  static constexpr size_t kPaths = 4;

  struct Entry {
    uint64_t packet = 0;
    int64_t start_ns = 0;  ///< first sight of the newest transmission
    int64_t last_ns = 0;
    std::array<uint16_t, kPaths> paths{};  ///< where it was seen; 0 is free
  };

  Copy add_to(Entry& entry, uint16_t path, int64_t time_ns) const;

  MirrorWindows windows_;
  std::vector<std::array<Entry, kWays>> buckets_;
};

}  // namespace traces
