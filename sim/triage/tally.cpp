#include "sim/triage/tally.hpp"

namespace sim {
namespace {

using traces::Copy;
using traces::PacketClass;
using traces::RetryCause;
using traces::Verb;

constexpr int kCongestionExperienced = 3;  // RFC 3168

OperationKind kind_of(Verb verb) {
  switch (verb) {
    case Verb::kSend:
      return OperationKind::kSend;
    case Verb::kWrite:
      return OperationKind::kWrite;
    case Verb::kReadRequest:
      return OperationKind::kRead;
    case Verb::kAtomic:
      return OperationKind::kAtomic;
    default:
      return OperationKind::kOther;
  }
}

NakKind nak_kind(uint8_t syndrome) {
  if (syndrome >> 5 == 1) return NakKind::kRnr;
  const unsigned code = syndrome & 31;
  if (syndrome >> 5 != 3 || code >= static_cast<unsigned>(NakKind::kRnr)) return NakKind::kOther;
  return static_cast<NakKind>(code);
}

AnomalyKind anomaly_of(NakKind kind) {
  if (kind == NakKind::kRnr) return AnomalyKind::kRnrNak;
  return kind == NakKind::kSequence ? AnomalyKind::kSequenceNak : AnomalyKind::kFatalNak;
}

uint64_t bytes_of(const traces::RocePacket& roce) {
  return roce.payload_length > 0 ? static_cast<uint64_t>(roce.payload_length) : 0;
}

}  // namespace

void LaneTally::add(const LaneTally& other) {
  request_packets += other.request_packets;
  request_bytes += other.request_bytes;
  for (size_t i = 0; i < operations.size(); i++) operations[i] += other.operations[i];
  read_bytes += other.read_bytes;
  retransmitted += other.retransmitted;
  out_of_order += other.out_of_order;
  for (size_t i = 0; i < retries.size(); i++) retries[i] += other.retries[i];
  denied += other.denied;
  first_request_anomaly.keep_first(other.first_request_anomaly);
  response_packets += other.response_packets;
  response_bytes += other.response_bytes;
  repeated_responses += other.repeated_responses;
  for (size_t i = 0; i < naks.size(); i++) naks[i] += other.naks[i];
  first_response_anomaly.keep_first(other.first_response_anomaly);
  if (other.latencies) {
    if (!latencies) latencies = std::make_unique<LatencyHistogram>();
    latencies->add(*other.latencies);
  }
  mirrored_other_path += other.mirrored_other_path;
  mirrored_same_path += other.mirrored_same_path;
  ce_marked += other.ce_marked;
  cnps += other.cnps;
}

Tally::Tally(const traces::ConnectionTracker& tracker, const traces::MrTable* mr_table)
    : tracker_(tracker), mr_table_(mr_table) {}

void Tally::add(const traces::Packet& packet, const traces::RocePacket& roce, const traces::Observation& seen) {
  if (seen.lane == traces::kNoLane) return;
  if (seen.lane >= lanes_.size()) lanes_.resize(tracker_.lanes().size());
  LaneTally& lane = lanes_[seen.lane];
  if (seen.copy != Copy::kNone) {
    ++(seen.copy == Copy::kOtherPath ? lane.mirrored_other_path : lane.mirrored_same_path);
    return;
  }
  if ((roce.traffic_class & 3) == kCongestionExperienced) ++lane.ce_marked;
  if (roce.bth.opcode == traces::kOpcodeCnp) {
    ++lane.cnps;
    return;
  }
  const Anomaly here = {AnomalyKind::kNone, packet.time_ns, packet.index, packet.file_index};
  if (seen.is_response) {
    add_response(lane, roce, seen, here);
  } else {
    add_request(lane, roce, seen, here);
  }
}

void Tally::add_request(LaneTally& lane, const traces::RocePacket& roce, const traces::Observation& seen,
                        Anomaly here) {
  const auto note = [&](AnomalyKind kind) {
    here.kind = kind;
    lane.first_request_anomaly.keep_first(here);
  };
  if (seen.reclassified != 0) {
    lane.retransmitted += seen.reclassified;
    lane.out_of_order -= seen.reclassified;
  }
  if (seen.packet_class == PacketClass::kRetransmission) {
    ++lane.retransmitted;
    ++lane.retries[static_cast<size_t>(seen.retry)];
    note(seen.retry == RetryCause::kTimeout ? AnomalyKind::kTimeout : AnomalyKind::kRetransmission);
  }
  if (seen.packet_class == PacketClass::kOutOfOrder) ++lane.out_of_order;
  if (!seen.first_sight) return;
  ++lane.request_packets;
  lane.request_bytes += bytes_of(roce);
  const Verb verb = traces::operation_of(roce.bth.opcode).verb;
  if (traces::starts_message(roce.bth.opcode)) ++lane.operations[static_cast<size_t>(kind_of(verb))];
  if (verb == Verb::kReadRequest && roce.reth) lane.read_bytes += roce.reth->dma_length;
  if (seen.access && is_denied(roce, *seen.access)) {
    ++lane.denied;
    note(AnomalyKind::kDenied);
  }
}

void Tally::add_response(LaneTally& lane, const traces::RocePacket& roce, const traces::Observation& seen,
                         Anomaly here) {
  ++lane.response_packets;
  lane.response_bytes += bytes_of(roce);
  if (seen.packet_class == PacketClass::kRetransmission) ++lane.repeated_responses;
  if (seen.latency_ns) {
    if (!lane.latencies) lane.latencies = std::make_unique<LatencyHistogram>();
    lane.latencies->add(*seen.latency_ns);
  }
  const bool is_nak = roce.bth.opcode == traces::kOpcodeRcAck && roce.aeth && roce.aeth->syndrome >> 5 != 0;
  if (!is_nak) return;
  const NakKind kind = nak_kind(roce.aeth->syndrome);
  ++lane.naks[static_cast<size_t>(kind)];
  here.kind = anomaly_of(kind);
  lane.first_response_anomaly.keep_first(here);
}

bool Tally::is_denied(const traces::RocePacket& roce, const traces::MemoryAccess& access) {
  if (mr_table_ == nullptr || access.length == 0 || !mr_table_->has_host(roce.destination)) return false;
  return !mr_table_->permits(roce.destination, access);
}

void Tally::finish() {
  lanes_.resize(tracker_.lanes().size());
  for (uint32_t id = 0; id < lanes_.size(); id++) {
    const uint32_t heir = tracker_.lanes()[id].absorbed_by;
    if (heir == traces::kNoLane) continue;
    lanes_[heir].add(lanes_[id]);
    lanes_[id] = {};
  }
}

const LaneTally& Tally::operator[](uint32_t lane) const {
  static const LaneTally kNothing;
  return lane < lanes_.size() ? lanes_[lane] : kNothing;
}

}  // namespace sim
