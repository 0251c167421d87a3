#include "sim/replay/look_ahead.hpp"

#include <algorithm>
#include <cmath>

#include "hw/bus/wire.hpp"
#include "traces/prefetch.hpp"
#include "traces/psn.hpp"
#include "traces/repair.hpp"

namespace sim {
namespace {

using traces::distance24;
using traces::kNoLane;
using traces::Verb;

constexpr size_t kPlainIpBytes = 20;
// How far a NAK looks back for the packet that it refuses.
constexpr unsigned kLookBack = 4096;
// Packets read at a time: the code that reads and the code that replays take turns in the processor's caches.
constexpr size_t kBatch = 256;
// Half of what is held at most, so that enough stays ahead of a packet.
constexpr unsigned kWalk = 1 << 16;

// What the NIC does not know yet, as the nearest thing that it does: the PSN and the MSN go on as they would.
bool replace_unsupported(TransportPacket& t, LookAheadCounts& counts) {
  const Verb verb = traces::operation_of(t.opcode).verb;
  if (verb == Verb::kAtomic || verb == Verb::kAtomicWrite || verb == Verb::kFlush) {
    counts.atomics++;
    t.opcode = hw::wire::kReadRequest;
    t.virtual_address = 0;
    t.remote_key = t.dma_length = t.payload_bytes = 0;
    return true;
  }
  if (verb == Verb::kAtomicAck) {
    t.opcode = hw::wire::kReadResponseOnly;
    t.payload_bytes = 0;
    return true;
  }
  return false;
}

// A SEND with invalidate as the SEND that it is besides.
bool drop_invalidate(TransportPacket& t, LookAheadCounts& counts) {
  if (traces::operation_of(t.opcode).headers[0] != traces::Header::kIeth) return false;
  counts.invalidates++;
  t.opcode = traces::starts_message(t.opcode) ? hw::wire::kSendOnly : hw::wire::kSendLast;
  return true;
}

bool is_plain_ethernet(const traces::RocePacket& roce) {
  return roce.has_ethernet && roce.ethernet_offset == 0 && roce.tunnels == 0 && roce.vlan_tags.empty() &&
         roce.destination.version == 4 && roce.udp_offset - roce.ip_offset == kPlainIpBytes;
}

bool is_nak(const TransportPacket& t) {
  return t.opcode == traces::kOpcodeRcAck && t.syndrome >> 5 != 0;
}

}  // namespace

LookAhead::LookAhead(LookAheadOptions options, EndpointFilter endpoints)
    : options_(std::move(options)),
      endpoints_(std::move(endpoints)),
      reader_(options_.files),
      tracker_(options_.tracker),
      ring_(options_.packets) {}

uint32_t LookAhead::life_of(uint32_t lane) const {
  const auto& lanes = tracker_.lanes();
  while (lanes[lane].absorbed_by != kNoLane) lane = lanes[lane].absorbed_by;
  return lane;
}

HeldPacket* LookAhead::next() {
  if (popped_) begin_++;
  popped_ = false;
  skip_unwanted();
  if (begin_ == end_) return nullptr;
  popped_ = true;
  HeldPacket& held = at(begin_);
  if (held.lane != kNoLane) held.psns = psns_of(held);
  return &held;
}

void LookAhead::fill() {
  if (end_ - begin_ + std::min(kBatch, ring_.size() / 2) > ring_.size()) return;
  while (!at_end_ && end_ - begin_ < ring_.size()) {
    try {
      at_end_ = !reader_.read(packet_);
    } catch (const traces::InputError& error) {
      if (!begun_) throw;
      input_error_ = error.what();
      at_end_ = true;
    }
    if (at_end_)
      tracker_.finish();
    else
      take(packet_);
  }
}

// Fills up, and leaves out packets that were held before the answers told whose they are.
void LookAhead::skip_unwanted() {
  for (fill(); begin_ != end_; fill()) {
    const uint32_t lane = at(begin_).lane;
    if (lane == kNoLane || is_wanted(lane)) return;
    counts_.other_qp++;
    begin_++;
  }
}

bool LookAhead::in_window(int64_t time_ns) {
  if (!begun_) first_ns_ = time_ns;
  begun_ = true;
  const double since_s = double(time_ns - first_ns_) * 1e-9;
  return since_s >= options_.from_s.value_or(-1e18) && since_s <= options_.to_s.value_or(1e18);
}

void LookAhead::take(traces::Packet& packet) {
  if (!in_window(packet.time_ns)) {
    counts_.outside_window++;
    return;
  }
  traces::RocePacket roce = traces::decode(packet);
  const traces::Observation seen = tracker_.add(packet, roce);
  if (seen.lane < lanes_.size()) __builtin_prefetch(&lanes_[seen.lane]);
  const bool is_mirror = seen.packet_class == traces::PacketClass::kMirror;
  const bool is_cut = packet.bytes.size() < packet.original_length && roce.kind == traces::FrameKind::kRoceV2;
  const bool is_lost = is_cut && !is_mirror && traces::repair(packet, roce) == traces::Repair::kImpossible;
  counts_.cut += is_lost;
  census_.add(packet, roce);
  if (!is_mirror && (!is_lost || roce.has_bth)) hold(packet, roce, seen, is_lost);
}

bool LookAhead::is_wanted(uint32_t lane) const {
  if (!options_.qpn) return true;
  const uint32_t peer = peer_of(lane);
  return tracker_.lanes()[lane].qpn == *options_.qpn ||
         (peer != kNoLane && tracker_.lanes()[peer].qpn == *options_.qpn);
}

Course LookAhead::course_of(const traces::RocePacket& roce, const traces::Observation& seen) {
  using Side = EndpointFilter::Side;
  const bool of_lane = seen.lane != kNoLane && seen.packet_class != traces::PacketClass::kOther;
  const Side side =
      of_lane ? endpoints_.side_of(tracker_.lanes()[seen.lane].addresses, roce) : endpoints_.side_of(roce);
  if (!of_lane) {
    const bool is_roce = roce.kind == traces::FrameKind::kRoceV2;
    return side == Side::kTowards || (!is_roce && side == Side::kNeither) ? Course::kFrameIn : Course::kOther;
  }
  if (side == Side::kBoth) counts_.both_ends++;
  if (side == Side::kNeither) counts_.strangers++;
  if (side != Side::kTowards && side != Side::kFrom) return Course::kOther;
  if (!may_be_wanted(seen.lane)) {
    counts_.other_qp++;
    return Course::kOther;
  }
  if (side == Side::kTowards) return seen.is_response ? Course::kResponseIn : Course::kRequestIn;
  return seen.is_response ? Course::kResponseOut : Course::kRequestOut;
}

void LookAhead::hold(traces::Packet& packet, traces::RocePacket& roce, const traces::Observation& seen, bool is_cut) {
  const Course course = course_of(roce, seen);
  if (course == Course::kOther || (course == Course::kFrameIn && (is_cut || !options_.keep_frames))) return;
  const uint64_t sequence = end_++;
  HeldPacket& held = at(sequence);
  traces::prefetch(&at(sequence + 2));
  std::vector<uint8_t> buffer = std::move(held.frame);
  held = HeldPacket();
  held.index = packet.index;
  held.time_ns = packet.time_ns;
  held.course = course;
  held.cut = is_cut;
  held.repaired = packet.repaired;
  held.partition_key = roce.bth.partition_key;
  held.native = is_plain_ethernet(roce) || roce.kind != traces::FrameKind::kRoceV2;
  held.payload_offset = uint32_t(roce.payload_offset);
  held.frame = std::move(buffer);
  held.frame.swap(packet.bytes);
  if (course != Course::kFrameIn) {
    held.lane = seen.lane;
    held.transport = transport_of(roce);
    held.first_sight = seen.first_sight;
    held.retry = seen.retry;
    held.after_gap = seen.gap != 0;
    held.out_of_order = seen.packet_class == traces::PacketClass::kOutOfOrder;
    held.atomic = replace_unsupported(held.transport, counts_);
    held.native = !drop_invalidate(held.transport, counts_) && !held.atomic && held.native;
    link(held, sequence);
    if (course == Course::kRequestIn || course == Course::kRequestOut) note_request(held, sequence);
    if (is_nak(held.transport)) note_nak(held, seen.lost_behind);
  }
  if (observer_) observer_(held, roce);
  if (!options_.keep_frames) held.frame.swap(packet.bytes);
}

void LookAhead::link(HeldPacket& held, uint64_t sequence) {
  if (held.lane >= lanes_.size()) lanes_.resize(tracker_.lanes().size());
  LaneEnds& ends = lanes_[held.lane];
  held.previous_in_lane = ends.newest;
  if (is_held(ends.newest)) at(ends.newest).next_in_lane = sequence;
  ends.newest = sequence;
}

// Of a READ as many as it has responses, by what is known of the path MTU now.
uint32_t LookAhead::psns_of(const HeldPacket& held) const {
  const TransportPacket& t = held.transport;
  if (t.opcode != hw::wire::kReadRequest || t.dma_length == 0) return 1;
  return std::min((t.dma_length - 1) / tracker_.lanes()[held.lane].path_mtu + 1, 0x7fffffu);
}

// The message as far as it is known.
void LookAhead::note_request(HeldPacket& held, uint64_t sequence) {
  const TransportPacket& t = held.transport;
  held.psns = psns_of(held);
  if (traces::starts_message(t.opcode) && held.first_sight) lanes_[held.lane].open_message = sequence;
  if (traces::ends_message(t.opcode)) complete_message(held);
}

// The message that the packet ends, when all of it has been seen: a packet that the tap lost may have been the end of
// one message or the begin of the next.
void LookAhead::complete_message(const HeldPacket& last) {
  HeldPacket* start = start_of(last);
  if (start == nullptr || start->message.complete || start->cut || last.cut) return;
  const TransportPacket& t = last.transport;
  const auto behind = uint32_t(distance24(t.psn, start->transport.psn));
  if (behind != 0 && traces::starts_message(t.opcode)) return;  // of another one
  const bool is_send = traces::operation_of(start->transport.opcode).verb == Verb::kSend;
  const uint32_t before = behind * start->transport.payload_bytes;
  HeldMessage& m = start->message;
  m.length = is_send ? before + t.payload_bytes : start->transport.dma_length;
  m.complete = is_send ? has_all_before(last, behind)
                       : t.opcode == hw::wire::kReadRequest || before + t.payload_bytes == m.length;
  m.has_immediate = hw::wire::has_immediate(hw::Bits<8>(t.opcode));
  m.immediate = t.immediate;
  m.solicited = t.solicited;
  m.last_psn = t.psn;
}

// The begin of the message that the packet belongs to: the nearest one before it by PSN.
HeldPacket* LookAhead::start_of(const HeldPacket& packet) {
  const uint64_t open = lanes_[packet.lane].open_message;
  const auto begins_before = [&](const HeldPacket& held) {
    const uint32_t psn = packet.transport.psn;
    const bool is_over = held.message.complete && distance24(psn, held.message.last_psn) > 0;
    return held.course == packet.course && held.first_sight && traces::starts_message(held.transport.opcode) &&
           distance24(psn, held.transport.psn) >= 0 && !is_over;
  };
  if (is_held(open) && begins_before(at(open))) return &at(open);
  uint64_t sequence = packet.previous_in_lane;
  for (unsigned steps = 0; is_held(sequence) && steps < kLookBack; steps++) {
    HeldPacket& held = at(sequence);
    if (begins_before(held)) return &held;
    sequence = held.previous_in_lane;
  }
  return nullptr;
}

// Whether the `count` PSNs before the packet's have been seen, in any order.
bool LookAhead::has_all_before(const HeldPacket& packet, uint32_t count) const {
  std::vector<bool> seen(count);
  uint32_t left = count;
  uint64_t sequence = packet.previous_in_lane;
  for (unsigned steps = 0; left != 0 && is_held(sequence) && steps < kLookBack; steps++) {
    const HeldPacket& held = at(sequence);
    const uint32_t back = (packet.transport.psn - held.transport.psn) & traces::kPsnMask;
    if (held.course == packet.course && back - 1 < count && !seen[back - 1]) {
      seen[back - 1] = true;
      left--;
    }
    sequence = held.previous_in_lane;
  }
  return left == 0;
}

// The newest transmission of a request, as far as the packets are held.
HeldPacket* LookAhead::newest_request(uint32_t lane, uint32_t psn) {
  if (lane == kNoLane || lane >= lanes_.size()) return nullptr;
  uint64_t sequence = lanes_[lane].newest;
  for (unsigned steps = 0; is_held(sequence) && steps < kLookBack; steps++) {
    HeldPacket& held = at(sequence);
    const int32_t into = distance24(psn, held.transport.psn);
    const bool is_request = held.course == Course::kRequestIn || held.course == Course::kRequestOut;
    if (is_request && into >= 0 && into < int32_t(psns_of(held))) return &held;
    sequence = held.previous_in_lane;
  }
  return nullptr;
}

// The packet that begins the message of a request; null when it is not held, or the tap missed a part.
HeldPacket* LookAhead::begin_of(HeldPacket& request) {
  HeldPacket* part = &request;
  uint64_t sequence = request.previous_in_lane;
  for (unsigned steps = 0; !traces::starts_message(part->transport.opcode); steps++) {
    if (!is_held(sequence) || steps == kLookBack) return nullptr;
    HeldPacket& held = at(sequence);
    if (held.course == request.course && distance24(part->transport.psn, held.transport.psn) == 1) part = &held;
    sequence = held.previous_in_lane;
  }
  return part;
}

// What a NAK tells of the request that it names.
void LookAhead::note_nak(const HeldPacket& nak, bool lost_behind) {
  const uint32_t psn = nak.transport.psn;
  HeldPacket* refused = newest_request(peer_of(nak.lane), psn);
  if (refused == nullptr) return;
  const uint8_t syndrome = nak.transport.syndrome;
  if (syndrome >> 5 == 1) {
    refused->not_ready = true;
  } else if (syndrome != hw::wire::aeth::kNakSequence) {
    refused->refused_with = syndrome;
    if (HeldPacket* begin = begin_of(*refused)) begin->refused_with = syndrome;
  } else if (lost_behind && !refused->out_of_order && nak.course == Course::kResponseOut && !refused->undelivered) {
    refused->undelivered = true;
    counts_.undelivered++;
  }
}

uint64_t LookAhead::sequence_of(const HeldPacket& held) const {
  const auto place = uint64_t(&held - ring_.data());
  return begin_ + ((place - begin_) & (ring_.size() - 1));
}

// Visits what follows in the lane of `from` and in the other one, in order, until `visit` returns true.
template <class Visit>
void LookAhead::walk(const HeldPacket& from, Visit&& visit) const {
  uint64_t own = from.next_in_lane, other = kNoPacket;
  const uint32_t peer = peer_of(from.lane);
  const uint64_t start = sequence_of(from);
  if (peer != kNoLane && peer < lanes_.size()) {
    uint64_t s = lanes_[peer].newest;  // back to the first one behind `from`
    while (is_held(s) && s > start) {
      other = s;
      s = at(s).previous_in_lane;
    }
  }
  for (unsigned steps = 0; steps < kWalk && (is_held(own) || is_held(other)); steps++) {
    uint64_t& nearer = !is_held(other) || (is_held(own) && own < other) ? own : other;
    const HeldPacket& held = at(nearer);
    if (visit(held)) return;
    nearer = held.next_in_lane;
  }
}

HeldPacket* LookAhead::find_start(const HeldPacket& from, uint32_t psn) {
  uint64_t sequence = from.next_in_lane;
  for (unsigned steps = 0; is_held(sequence) && steps < kLookBack; steps++) {
    HeldPacket& held = at(sequence);
    const bool fits = held.course == from.course && held.first_sight && held.transport.psn == psn;
    if (fits) return traces::starts_message(held.transport.opcode) ? &held : nullptr;
    sequence = held.next_in_lane;
  }
  return nullptr;
}

void LookAhead::visit_message(const HeldPacket& start,
                              const std::function<void(uint64_t, traces::ByteSpan)>& visit) const {
  if (start.transport.payload_bytes == 0) return;
  const auto packets = uint32_t(distance24(start.message.last_psn, start.transport.psn));
  const HeldPacket* held = &start;
  for (uint32_t left = packets + 1; left != 0;) {
    const uint32_t into = (held->transport.psn - start.transport.psn) & traces::kPsnMask;
    if (held->course == start.course && held->first_sight && into <= packets) {
      visit(uint64_t(into) * start.transport.payload_bytes, held->payload());
      left--;
    }
    if (!is_held(held->next_in_lane)) return;
    held = &at(held->next_in_lane);
  }
}

Fate LookAhead::fate_of(const HeldPacket& from, uint32_t psn) const {
  Fate fate = Fate::kUnknown;
  walk(from, [&](const HeldPacket& held) {
    const TransportPacket& t = held.transport;
    if (held.lane == from.lane) {
      const int32_t into = distance24(psn, t.psn);
      const bool is_request = held.course == from.course;
      if (is_request && into >= 0 && into < int32_t(psns_of(held))) fate = Fate::kLost;
    } else if (traces::is_response(t.opcode)) {
      const int32_t ahead = distance24(t.psn, psn);
      if (!is_nak(t) && ahead >= 0) fate = Fate::kArrived;
      if (is_nak(t) && ahead > 0) fate = Fate::kArrived;
      if (is_nak(t) && ahead == 0) fate = t.syndrome == hw::wire::aeth::kNakSequence ? Fate::kLost : Fate::kArrived;
    }
    return fate != Fate::kUnknown;
  });
  return fate;
}

std::optional<uint32_t> LookAhead::msn_before(const HeldPacket& start) const {
  std::vector<uint32_t> ends;  // last PSNs of the messages so far
  std::optional<uint32_t> msn;
  uint32_t next = start.transport.psn;
  const auto add = [&](const HeldPacket& request) {
    if (request.transport.psn != next) return;
    next = (next + psns_of(request)) & traces::kPsnMask;
    if (traces::ends_message(request.transport.opcode)) ends.push_back((next - 1) & traces::kPsnMask);
  };
  add(start);
  walk(start, [&](const HeldPacket& held) {
    const TransportPacket& t = held.transport;
    if (held.lane == start.lane) {
      if (held.course != start.course) return false;
      add(held);
      return distance24(t.psn, start.transport.psn) <= 0;  // sent again: the responder may not have taken the first one
    }
    const bool tells = t.opcode == traces::kOpcodeRcAck || t.opcode == hw::wire::kReadResponseOnly ||
                       t.opcode == hw::wire::kReadResponseLast;
    if (!tells) return false;
    const bool is_before = distance24(t.psn, start.transport.psn) < 0;
    if (is_before) return is_nak(t);  // one of the past; a NAK: the responder waits for what came before
    const uint32_t covered = is_nak(t) ? t.psn - 1 : t.psn;
    if (distance24(covered, next) >= 0) return true;  // it answers what the tap has not seen
    const auto completed =
        std::count_if(ends.begin(), ends.end(), [&](uint32_t end) { return distance24(end, covered) <= 0; });
    msn = (t.msn - uint32_t(completed)) & traces::kPsnMask;
    return true;
  });
  return msn;
}

}  // namespace sim
