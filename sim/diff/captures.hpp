// Compares the captures of two runs packet by packet. Streams: what it keeps does not grow with the captures.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/diff/run_files.hpp"

namespace sim {

/// A packet of a capture.
struct PacketAt {
  uint64_t frame = 0;    // its number in the file, as tshark's frame.number
  uint64_t time_ps = 0;  // of the first bit of its preamble, rounded down to whole nanoseconds as in the file
  uint64_t cycle = 0;    // of the NIC's clock: the last edge at or before that
  std::string line;      // one-line decode
};

/// The same packet of both runs, where it is not the same.
struct PacketDifference {
  uint64_t packet = 0;           // counted over those of its sender, from 1
  std::optional<PacketAt> a, b;  // nothing: that run has fewer
  std::optional<uint64_t>
      byte;  // first byte of the frame that differs; nothing: only the times differ, or one is absent

  uint64_t time_ps() const;
};

/// What one sender's packets are like in the captures of one node. Senders are compared one by one, since a packet of
/// one that comes earlier or later need not change those of the others.
struct SenderDiff {
  std::string capture;  // "nic0.pcap"
  std::string sender;   // "nic1", or the source MAC of one that is no node
  uint64_t packets_a = 0, packets_b = 0;
  uint64_t other_times = 0;                     // packets that both have, at different times
  std::optional<PacketDifference> first;        // of any kind
  std::optional<PacketDifference> first_bytes;  // in more than its time
};

/// Compares the captures that both folders have. Throws InputError, also of traces, and for one that only one has.
std::vector<SenderDiff> compare_captures(const RunFiles& a, const RunFiles& b);

/// The earliest of the first differences; null when there is none.
const SenderDiff* earliest(const std::vector<SenderDiff>& senders);

}  // namespace sim
