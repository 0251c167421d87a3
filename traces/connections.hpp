#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/address_pairs.hpp"
#include "traces/census.hpp"
#include "traces/cm.hpp"
#include "traces/error.hpp"
#include "traces/flat_map.hpp"
#include "traces/lane.hpp"
#include "traces/mirror.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/qp_table.hpp"
#include "traces/roce.hpp"

namespace traces {

/// What is known from elsewhere.
struct TrackerOptions {
  uint32_t path_mtu = 0;  ///< bytes, of every connection; 0: inferred
  MirrorWindows mirrors;
  const QpTable* qp_table = nullptr;
};

/// What one packet is. Of a connection when `lane` is one.
struct Observation {
  uint32_t lane = kNoLane;
  PacketClass packet_class = PacketClass::kOther;
  Copy copy = Copy::kNone;
  bool is_response = false;
  RetryCause retry = RetryCause::kNone;  ///< this packet begins a retry
  bool first_sight = false;              ///< a request that is new to the tap, retransmission or not
  uint32_t gap = 0;                      ///< PSNs skipped before it
  bool lost_behind = false;              ///< a NAK that names a packet which the tap has seen
  uint32_t reclassified = 0;             ///< packets before it, called out of order, that were retransmissions
  std::optional<int64_t> latency_ns;     ///< of the READ or atomic that this response completes
  std::optional<MemoryAccess> access;    ///< that a new request begins
};

/// Packets that belong to no connection, and packets that say nothing.
struct TrackerCounts {
  uint64_t packets = 0;  ///< RoCEv2
  uint64_t without_bth = 0;
  uint64_t untrusted = 0;  ///< wrong or missing ICRC
  uint64_t mirrored_other_path = 0, mirrored_same_path = 0;
  uint64_t cm = 0;
  std::array<uint64_t, 8> other_transports{};  ///< by Transport, without CM and CNP
};

/// Follows the connections of a capture in one pass. Memory is bounded per connection. A second tracker over the same
/// packets gives the same observations.
class ConnectionTracker {
 public:
  explicit ConnectionTracker(TrackerOptions options = {});

  /// The next packet, in capture order; `roce` is its decoding.
  Observation add(const Packet& packet, const RocePacket& roce);

  /// After the last packet: settles what is open, and deduces the pairs that rest on overlap. Call once.
  void finish();

  /// In order of their first packet.
  const std::vector<Lane>& lanes() const { return lanes_; }
  const AddressPairs& addresses() const { return addresses_; }
  const TrackerCounts& counts() const { return counts_; }

  /// After finish(): why the lane that goes the other way is not known though responses were captured; else empty.
  std::string ambiguity(uint32_t lane) const;

  /// After finish(): a sentence for everything of the lane's requests that is inferred.
  std::vector<std::string> assumptions(uint32_t lane) const;

 private:
  struct Arrival {
    const Packet& packet;
    const RocePacket& roce;
    int64_t time_ns;
  };

  uint64_t key_of(uint32_t addresses, uint32_t qpn) const { return uint64_t{addresses} << 24 | qpn; }
  uint32_t find_or_create(uint32_t addresses, uint32_t qpn);
  uint32_t create(uint32_t addresses, uint32_t qpn, LifeBegin begin, uint32_t previous);
  uint32_t begin_life(uint32_t lane, LifeBegin begin);
  uint32_t fresh_life(uint32_t addresses, uint32_t qpn);
  void pair(uint32_t a, uint32_t b, PairedBy by);
  void unpair(uint32_t lane);
  void pair_from_table(uint32_t lane);
  void connect(const CmConnection& connection);
  void close(const CmMessage& message, const RocePacket& roce);
  Copy copy_of(const Packet& packet, const RocePacket& roce, uint32_t lane);
  void manage(const Arrival& arrival);
  void touch(Lane& lane, const Arrival& arrival);

  void request(uint32_t id, const Arrival& arrival, Observation& seen);
  void new_request(Lane& lane, uint32_t count, const Arrival& arrival);
  void read_request(Lane& lane, uint32_t count, const Arrival& arrival, Observation& seen);
  void repeated_request(Lane& lane, const SequenceStep& step, const Arrival& arrival, Observation& seen);
  RetryCause cause_of_retry(Lane& lane, uint32_t psn, bool response_missed, int64_t time_ns) const;
  uint32_t span_of(Lane& lane, const RocePacket& roce) const;
  void learn_mtu(Lane& lane, uint32_t mtu, MtuSource source, uint64_t index);
  void learn_mtu_from(Lane& lane, const Arrival& arrival);
  void settle_open_read(Lane& lane, uint32_t psn, uint64_t index);

  void response(uint32_t id, const Arrival& arrival, Observation& seen);
  uint32_t settle_life_of_response(uint32_t id, const Arrival& arrival);
  void suppose_pair(uint32_t id, uint32_t psn);
  void acknowledge(Lane& requester, uint32_t psn, int64_t time_ns);
  void read_ack(uint32_t requester, uint32_t responder, const Arrival& arrival);
  static void infer_starting_msn(Lane& requester, uint32_t psn, uint32_t msn, uint64_t index);
  void read_nak(Lane& requester, const Arrival& arrival, Observation& seen);
  void prove_life(uint32_t requester, uint32_t responder, uint32_t psn, uint32_t msn);
  void absorb(uint32_t newer_id);

  TrackerOptions options_;
  MirrorDetector mirrors_;
  AddressPairs addresses_;
  FlatMap lane_of_;  ///< by address pair and QPN: the newest life
  std::vector<Lane> lanes_;
  OverlapPairing overlap_;
  std::vector<OverlapPairing::Result> overlap_result_;
  CmExchanges cm_;
  TrackerCounts counts_;
};

/// False for a packet whose ICRC is wrong or missing: its fields say nothing. Where the snap length cut the ICRC off,
/// there is no reason for doubt.
bool is_trusted(const Packet& packet, const RocePacket& roce);

/// The error of a capture that holds no packet of a reliable connection: what it holds instead.
InputError no_connection(const std::vector<std::string>& files, const Census& census, const TrackerCounts& counts);

}  // namespace traces
