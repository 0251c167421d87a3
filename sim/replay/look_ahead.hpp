// Reads captures a fixed number of packets ahead of the replay, so that each packet is replayed knowing what the
// packets behind it have told: whether it arrived, what a gap was, how long a message is, which lane goes the other
// way.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/replay/endpoint_filter.hpp"
#include "sim/replay/held_packet.hpp"
#include "traces/census.hpp"
#include "traces/merged_reader.hpp"

namespace sim {

struct LookAheadOptions {
  std::vector<std::string> files;
  traces::TrackerOptions tracker;
  std::optional<uint32_t> qpn;         // only connections with it at either end
  std::optional<double> from_s, to_s;  // seconds after the first packet
  size_t packets = 1 << 16;            // held at most; a power of two
  bool keep_frames = true;             // hold the bytes too
};

// What was read, told apart by what replay makes of it.
struct LookAheadCounts {
  uint64_t outside_window = 0;
  uint64_t other_qp = 0;     // of a connection that --qp leaves out
  uint64_t both_ends = 0;    // between two endpoints that --as names both
  uint64_t strangers = 0;    // of connections that --as names no end of
  uint64_t cut = 0;          // a header is cut: cannot be made whole
  uint64_t atomics = 0;      // requests
  uint64_t invalidates = 0;  // SENDs with invalidate
  uint64_t undelivered = 0;  // seen by the tap and lost behind it
};

// What became of a PSN that the tap has not seen in its place.
enum class Fate : uint8_t {
  kArrived,  // an answer covers it before it is sent again: the tap lost it
  kLost,     // refused by a NAK, or sent again
  kUnknown,
};

class LookAhead {
 public:
  // Sees every packet when it is read, ahead of the replay.
  using Observer = std::function<void(HeldPacket& held, const traces::RocePacket& roce)>;

  // Throws traces::InputError for a file that is no capture.
  LookAhead(LookAheadOptions options, EndpointFilter endpoints);

  void observe(Observer observer) { observer_ = std::move(observer); }

  // The oldest packet, good until the next call; null behind the last one.
  HeldPacket* next();

  // The one that many behind it; null behind what is held.
  const HeldPacket* ahead(uint64_t packets) const { return begin_ + packets < end_ ? &at(begin_ + packets) : nullptr; }

  const traces::ConnectionTracker& tracker() const { return tracker_; }
  // The lane that a lane turned out to be the same life as; itself for most.
  uint32_t life_of(uint32_t lane) const;
  // The lane that goes the other way; kNoLane while it is not known.
  uint32_t peer_of(uint32_t lane) const { return tracker_.lanes()[lane].peer; }

  // The request behind `from` that begins a message with `psn`, seen for the first time; null when none does.
  HeldPacket* find_start(const HeldPacket& from, uint32_t psn);
  // The payloads of the message that `start` begins, each with its offset in bytes.
  void visit_message(const HeldPacket& start, const std::function<void(uint64_t, traces::ByteSpan)>& visit) const;

  // What became of request `psn` of the lane, to judge by what follows `from`.
  Fate fate_of(const HeldPacket& from, uint32_t psn) const;
  // The MSN of the responder before the message that `start` begins, from the first answer that tells.
  std::optional<uint32_t> msn_before(const HeldPacket& start) const;

  const traces::Census& census() const { return census_; }
  const LookAheadCounts& counts() const { return counts_; }
  const std::vector<std::string>& notes() const { return reader_.notes(); }
  // Why reading broke off; what came before has been replayed.
  const std::string& input_error() const { return input_error_; }
  int64_t first_ns() const { return first_ns_; }

 private:
  void fill();
  void take(traces::Packet& packet);
  void hold(traces::Packet& packet, traces::RocePacket& roce, const traces::Observation& seen, bool is_cut);
  bool in_window(int64_t time_ns);
  bool is_wanted(uint32_t lane) const;
  bool may_be_wanted(uint32_t lane) const { return peer_of(lane) == traces::kNoLane || is_wanted(lane); }
  void skip_unwanted();
  Course course_of(const traces::RocePacket& roce, const traces::Observation& seen);
  void link(HeldPacket& held, uint64_t sequence);
  uint32_t psns_of(const HeldPacket& held) const;
  void note_request(HeldPacket& held, uint64_t sequence);
  void complete_message(const HeldPacket& last);
  HeldPacket* start_of(const HeldPacket& packet);
  bool has_all_before(const HeldPacket& packet, uint32_t count) const;
  void note_nak(const HeldPacket& nak, bool lost_behind);
  HeldPacket* newest_request(uint32_t lane, uint32_t psn);
  HeldPacket* begin_of(HeldPacket& request);
  bool is_held(uint64_t sequence) const { return sequence != kNoPacket && sequence >= begin_ && sequence < end_; }
  HeldPacket& at(uint64_t sequence) { return ring_[sequence & (ring_.size() - 1)]; }
  const HeldPacket& at(uint64_t sequence) const { return ring_[sequence & (ring_.size() - 1)]; }
  uint64_t sequence_of(const HeldPacket& held) const;
  template <class Visit>
  void walk(const HeldPacket& from, Visit&& visit) const;

  struct LaneEnds {
    uint64_t newest = kNoPacket;
    uint64_t open_message = kNoPacket;
  };

  LookAheadOptions options_;
  EndpointFilter endpoints_;
  traces::MergedReader reader_;
  traces::ConnectionTracker tracker_;
  traces::Census census_;
  LookAheadCounts counts_;
  Observer observer_;
  std::vector<HeldPacket> ring_;
  uint64_t begin_ = 0, end_ = 0;  // held packets, in the order of the capture
  std::vector<LaneEnds> lanes_;
  traces::Packet packet_;
  std::string input_error_;
  bool at_end_ = false, popped_ = false, begun_ = false;
  int64_t first_ns_ = 0;
};

}  // namespace sim
