// What triage counts of each lane, packet by packet.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/triage/latency_histogram.hpp"
#include "traces/connections.hpp"
#include "traces/mr_table.hpp"

namespace sim {

// Requests that begin, by what they do; READ counts its request.
enum class OperationKind : uint8_t { kSend, kWrite, kRead, kAtomic, kOther };
constexpr size_t kOperationKinds = 5;

// NAKs by IBTA 9.7.5.2.
enum class NakKind : uint8_t {
  kSequence,
  kInvalidRequest,
  kRemoteAccess,
  kRemoteOperation,
  kInvalidRead,
  kRnr,
  kOther
};
constexpr size_t kNakKinds = 7;

constexpr size_t kRetryCauses = 6;  // traces::RetryCause

// What went wrong first.
enum class AnomalyKind : uint8_t { kNone, kRetransmission, kTimeout, kSequenceNak, kRnrNak, kFatalNak, kDenied };

struct Anomaly {
  AnomalyKind kind = AnomalyKind::kNone;
  int64_t time_ns = 0;
  uint64_t index = 0;  // of the packet
  uint32_t file = 0;

  void keep_first(const Anomaly& other) {
    if (kind == AnomalyKind::kNone || (other.kind != AnomalyKind::kNone && other.time_ns < time_ns)) *this = other;
  }
};

struct LaneTally {
  // Requests.
  uint64_t request_packets = 0, request_bytes = 0;  // new ones; payload
  std::array<uint64_t, kOperationKinds> operations{};
  uint64_t read_bytes = 0;  // asked for by new READs
  uint64_t retransmitted = 0, out_of_order = 0;
  std::array<uint64_t, kRetryCauses> retries{};
  uint64_t denied = 0;  // accesses outside of the MR table
  Anomaly first_request_anomaly;

  // Responses.
  uint64_t response_packets = 0, response_bytes = 0, repeated_responses = 0;
  std::array<uint64_t, kNakKinds> naks{};
  Anomaly first_response_anomaly;
  std::unique_ptr<LatencyHistogram> latencies;  // of the READs and atomics answered in this lane; made at the first

  // Of any kind.
  uint64_t mirrored_other_path = 0, mirrored_same_path = 0;
  uint64_t ce_marked = 0, cnps = 0;

  void add(const LaneTally& other);
};

class Tally {
 public:
  // `mr_table` may be nullptr; the tracker is that of the observations.
  Tally(const traces::ConnectionTracker& tracker, const traces::MrTable* mr_table);

  void add(const traces::Packet& packet, const traces::RocePacket& roce, const traces::Observation& seen);

  // After the tracker's finish(): gives each life that was found to be the one after it to that one.
  void finish();

  // Of a lane of the tracker; zeros for one without packets.
  const LaneTally& operator[](uint32_t lane) const;

 private:
  void add_request(LaneTally& lane, const traces::RocePacket& roce, const traces::Observation& seen, Anomaly here);
  void add_response(LaneTally& lane, const traces::RocePacket& roce, const traces::Observation& seen, Anomaly here);
  bool is_denied(const traces::RocePacket& roce, const traces::MemoryAccess& access);

  const traces::ConnectionTracker& tracker_;
  const traces::MrTable* mr_table_;
  std::vector<LaneTally> lanes_;
};

}  // namespace sim
