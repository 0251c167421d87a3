// Requests of ConnectionTracker: PSNs, path MTU, messages, memory, and why something is sent again.
#include <algorithm>
#include <iterator>

#include "traces/connections.hpp"
#include "traces/psn.hpp"

namespace traces {
namespace {

constexpr uint32_t kPathMtus[] = {256, 512, 1024, 2048, 4096};
/// A retransmission timer runs for at least that long; a NAK and the answer to it take less.
constexpr int64_t kShortestTimeout_ns = 200'000;

/// Of a READ whose RETH the snap length cut off.
constexpr uint32_t kLengthCut = 0xffffffff;

uint32_t packets_of(uint32_t length, uint32_t mtu) {
  return length == 0 ? 1 : (length - 1) / mtu + 1;
}

bool is_legal_mtu(int payload) {
  return std::find(std::begin(kPathMtus), std::end(kPathMtus), static_cast<uint32_t>(payload)) != std::end(kPathMtus);
}

uint32_t smallest_mtu_for(int payload) {
  const auto mtu = std::lower_bound(std::begin(kPathMtus), std::end(kPathMtus) - 1, static_cast<uint32_t>(payload));
  return *mtu;
}

/// The PSN behind the last one that the requests may have used up.
uint32_t reach_of(const Lane& lane) {
  if (lane.open_read_length == 0 || lane.open_read_length == kLengthCut) return lane.requests.next();
  return (lane.open_read_psn + packets_of(lane.open_read_length, kPathMtus[0])) & kPsnMask;
}

std::optional<MemoryAccess> access_of(const RocePacket& roce) {
  const Verb verb = operation_of(roce.bth.opcode).verb;
  if (roce.payload_length < 0) return std::nullopt;  // the headers were read from behind the UDP datagram
  if (roce.reth) {
    const uint8_t right = verb == Verb::kReadRequest ? kRemoteRead : kRemoteWrite;
    return MemoryAccess{roce.bth.psn, roce.reth->remote_key, roce.reth->virtual_address, roce.reth->dma_length, right};
  }
  if (roce.atomic)
    return MemoryAccess{roce.bth.psn, roce.atomic->remote_key, roce.atomic->virtual_address, 8, kRemoteAtomic};
  return std::nullopt;
}

}  // namespace

void ConnectionTracker::request(uint32_t id, const Arrival& arrival, Observation& seen) {
  const uint32_t psn = arrival.roce.bth.psn;
  if (lanes_[id].requests.started()) {
    settle_open_read(lanes_[id], psn, arrival.packet.index);
    const int32_t jump = distance24(psn, lanes_[id].requests.next());
    const bool is_far = jump > kLifeJump || jump < -kLifeJump;
    if (is_far && starts_message(arrival.roce.bth.opcode) && lanes_[id].open_read_length == 0) {
      seen.lane = id = begin_life(id, LifeBegin::kPsnJump);
    }
  }
  Lane& lane = lanes_[id];
  if (!lane.requests.started()) lane.requests.start(psn);
  if (lane.request_index == 0) lane.request_index = arrival.packet.index;
  learn_mtu_from(lane, arrival);
  const uint32_t count = span_of(lane, arrival.roce);
  const bool was_outstanding = lane.requests.outstanding();
  const SequenceStep step = lane.requests.step(psn, count, arrival.time_ns);
  seen.packet_class = step.packet_class;
  seen.gap = step.gap;
  seen.reclassified = step.reclassified;
  seen.first_sight = step.packet_class == PacketClass::kNew || step.fills_hole;
  if (step.packet_class == PacketClass::kRetransmission) repeated_request(lane, step, arrival, seen);
  if (seen.first_sight) read_request(lane, count, arrival, seen);
  if (step.packet_class == PacketClass::kNew) {
    if (!was_outstanding) lane.answers.timer_start_ns = arrival.time_ns;
    new_request(lane, count, arrival);
    if (lane.paired_by != PairedBy::kCm && lane.paired_by != PairedBy::kQpTable) {
      overlap_.requests(lane.addresses, id, lane.requests.first(), reach_of(lane));
    }
  }
  lane.last_request_ns = arrival.time_ns;
}

// A request that the tap sees for the first time.
void ConnectionTracker::read_request(Lane& lane, uint32_t count, const Arrival& arrival, Observation& seen) {
  const Verb verb = operation_of(arrival.roce.bth.opcode).verb;
  if (verb == Verb::kReadRequest || verb == Verb::kAtomic || verb == Verb::kAtomicWrite) {
    lane.reads.request(arrival.roce.bth.psn, count, arrival.time_ns);
  }
  seen.access = access_of(arrival.roce);
  if (seen.access) lane.memory.access(*seen.access);
}

void ConnectionTracker::new_request(Lane& lane, uint32_t count, const Arrival& arrival) {
  const Bth& bth = arrival.roce.bth;
  if (!lane.adopted && starts_message(bth.opcode)) {
    lane.adopted = true;
    lane.adopted_psn = bth.psn;
    lane.adopted_index = arrival.packet.index;
  }
  if (lane.adopted && ends_message(bth.opcode)) lane.messages.end((bth.psn + count - 1) & kPsnMask);
  if (lane.peer == kNoLane) lane.answers.unanswered_retries = 0;  // the requester goes on
  lane.open_read_length = 0;
  if (operation_of(bth.opcode).verb != Verb::kReadRequest) return;
  const uint32_t length = arrival.roce.reth ? arrival.roce.reth->dma_length : kLengthCut;
  // Steps of the PSN may have holes of the tap in them; a First or Middle packet is certain.
  if (length != kLengthCut && (lane.mtu_source >= MtuSource::kPacket || length <= kPathMtus[0])) return;
  lane.open_read_psn = bth.psn;
  lane.open_read_length = length;
}

void ConnectionTracker::repeated_request(Lane& lane, const SequenceStep& step, const Arrival& arrival,
                                         Observation& seen) {
  const uint32_t psn = arrival.roce.bth.psn;
  const bool response_missed = lane.reads.retry(psn);
  if (!step.retry) return;
  seen.retry = cause_of_retry(lane, psn, response_missed, arrival.time_ns);
  AnswerState& answers = lane.answers;
  answers.last_retry_interval_ns = arrival.time_ns - answers.timer_start_ns;
  answers.timer_start_ns = arrival.time_ns;
  ++answers.unanswered_retries;
}

RetryCause ConnectionTracker::cause_of_retry(Lane& lane, uint32_t psn, bool response_missed, int64_t time_ns) const {
  AnswerState& answers = lane.answers;
  if (answers.rnr_pending && distance24(psn, answers.rnr_psn) <= 0) {
    answers.rnr_pending = answers.nak_pending = false;
    return RetryCause::kRnrNak;
  }
  if (answers.nak_pending && distance24(psn, answers.nak_psn) <= 0) {
    answers.nak_pending = false;
    return RetryCause::kSequenceNak;
  }
  // A timer restarts the oldest request that is open. Without the other direction, only the requester's silence tells.
  const PsnSequence& requests = lane.requests;
  const uint32_t oldest = requests.any_acknowledged() ? requests.acknowledged() + 1 : requests.first();
  const bool from_oldest = lane.peer == kNoLane || distance24(psn, oldest) <= 0;
  const int64_t since =
      lane.peer != kNoLane ? answers.timer_start_ns : std::max(lane.last_request_ns, answers.timer_start_ns);
  if (from_oldest && time_ns - since >= kShortestTimeout_ns) return RetryCause::kTimeout;
  return response_missed ? RetryCause::kImplied : RetryCause::kUnknown;
}

uint32_t ConnectionTracker::span_of(Lane& lane, const RocePacket& roce) const {
  if (operation_of(roce.bth.opcode).verb != Verb::kReadRequest || !roce.reth) return 1;
  return std::min(packets_of(roce.reth->dma_length, lane.path_mtu), 0x7fffffu);
}

void ConnectionTracker::learn_mtu(Lane& lane, uint32_t mtu, MtuSource source, uint64_t index) {
  if (source < lane.mtu_source || (source == lane.mtu_source && mtu <= lane.path_mtu)) return;
  lane.path_mtu = mtu;
  lane.mtu_source = source;
  lane.mtu_index = index;
  if (lane.open_read_length == 0 || lane.open_read_length == kLengthCut || source < MtuSource::kPsnStep) return;
  const uint32_t count = packets_of(lane.open_read_length, mtu);
  lane.requests.correct_next((lane.open_read_psn + count) & kPsnMask);
  lane.reads.correct_newest(count);
  lane.open_read_length = 0;
}

// First and Middle packets are as long as the path MTU, of requests and of responses; others are at most that long.
void ConnectionTracker::learn_mtu_from(Lane& lane, const Arrival& arrival) {
  if (lane.mtu_source >= MtuSource::kPacket) return;
  const int payload = arrival.roce.payload_length;
  const Position position = operation_of(arrival.roce.bth.opcode).position;
  const bool is_full = position == Position::kFirst || position == Position::kMiddle;
  const uint64_t index = arrival.packet.index;
  if (is_full && is_legal_mtu(payload)) {
    learn_mtu(lane, static_cast<uint32_t>(payload), MtuSource::kPacket, index);
    if (lane.peer != kNoLane) learn_mtu(lanes_[lane.peer], static_cast<uint32_t>(payload), MtuSource::kPacket, index);
  } else if (payload > static_cast<int>(lane.path_mtu)) {
    learn_mtu(lane, smallest_mtu_for(payload), MtuSource::kLargestPayload, index);
  }
}

// The request after a READ shows how many PSNs it took, and so the path MTU.
void ConnectionTracker::settle_open_read(Lane& lane, uint32_t psn, uint64_t index) {
  if (lane.open_read_length == 0 || distance24(psn, lane.open_read_psn) <= 0) return;
  if (lane.open_read_length == kLengthCut) {
    lane.open_read_length = 0;
    lane.requests.correct_next(psn);
    lane.reads.correct_newest((psn - lane.open_read_psn) & kPsnMask);
    return;
  }
  uint32_t fitting = 0, fits = 0;
  for (const uint32_t mtu : kPathMtus) {
    if (((lane.open_read_psn + packets_of(lane.open_read_length, mtu)) & kPsnMask) != psn) continue;
    fitting = mtu;
    ++fits;
  }
  if (fits == 1) {
    learn_mtu(lane, fitting, MtuSource::kPsnStep, index);
  } else if (fits > 1) {  // several agree on the PSNs: right, whichever it is
    const uint32_t count = packets_of(lane.open_read_length, fitting);
    lane.requests.correct_next(psn);
    lane.reads.correct_newest(count);
  }
  lane.open_read_length = 0;
}

}  // namespace traces
