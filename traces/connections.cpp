#include "traces/connections.hpp"

#include "traces/prefetch.hpp"
#include "traces/psn.hpp"

namespace traces {

bool is_trusted(const Packet& packet, const RocePacket& roce) {
  const bool is_cut = packet.bytes.size() < packet.original_length;
  return roce.icrc_ok() || (roce.icrc == IcrcState::kCut && is_cut);
}

ConnectionTracker::ConnectionTracker(TrackerOptions options) : options_(options), mirrors_(options.mirrors) {}

Observation ConnectionTracker::add(const Packet& packet, const RocePacket& roce) {
  Observation seen;
  if (roce.kind != FrameKind::kRoceV2) return seen;
  ++counts_.packets;
  if (!roce.has_bth) {
    ++counts_.without_bth;
    return seen;
  }
  if (!is_trusted(packet, roce)) {
    ++counts_.untrusted;
    seen.packet_class = PacketClass::kUntrusted;
    return seen;
  }
  const Bth& bth = roce.bth;
  const Arrival arrival{packet, roce, packet.time_ns};
  const bool is_cnp = bth.opcode == kOpcodeCnp;
  const bool is_rc = transport_of(bth.opcode) == Transport::kRc && operation_of(bth.opcode).verb != Verb::kReserved;
  if (is_rc || is_cnp) {
    seen.lane = find_or_create(addresses_.id_of(roce.source, roce.destination), bth.dest_qp);
    prefetch(&lanes_[seen.lane]);
  }
  seen.copy = copy_of(packet, roce, seen.lane);
  if (seen.copy != Copy::kNone)
    ++(seen.copy == Copy::kOtherPath ? counts_.mirrored_other_path : counts_.mirrored_same_path);
  if (seen.lane == kNoLane) {
    if (seen.copy == Copy::kNone) manage(arrival);
    return seen;
  }
  if (seen.copy != Copy::kNone) {
    seen.packet_class = PacketClass::kMirror;
    return seen;
  }
  if (is_cnp) return seen;
  seen.is_response = is_response(bth.opcode);
  if (seen.is_response) {
    response(seen.lane, arrival, seen);
  } else {
    request(seen.lane, arrival, seen);
  }
  touch(lanes_[seen.lane], arrival);
  return seen;
}

// A retry goes over packets that may have left an instant before: what is due is no copy.
Copy ConnectionTracker::copy_of(const Packet& packet, const RocePacket& roce, uint32_t lane) {
  const Copy copy = mirrors_.add(packet, roce);
  if (copy != Copy::kSamePath || lane == kNoLane) return copy;
  const uint32_t psn = roce.bth.psn;
  const Lane& own = lanes_[lane];
  if (is_response(roce.bth.opcode)) {
    const bool is_read = operation_of(roce.bth.opcode).verb == Verb::kReadResponse;
    return is_read && own.peer != kNoLane && lanes_[own.peer].reads.awaits(psn) ? Copy::kNone : copy;
  }
  const bool is_refused = own.answers.nak_pending && own.answers.nak_psn == psn;
  return is_refused || own.requests.continues_run(psn) || own.reads.misses(psn) ? Copy::kNone : copy;
}

void ConnectionTracker::touch(Lane& lane, const Arrival& arrival) {
  if (lane.last_index == 0) {
    lane.first_index = arrival.packet.index;
    lane.first_file = arrival.packet.file_index;
    lane.first_ns = arrival.time_ns;
  }
  lane.last_index = arrival.packet.index;
  lane.last_ns = arrival.time_ns;
}

uint32_t ConnectionTracker::find_or_create(uint32_t addresses, uint32_t qpn) {
  const uint64_t key = key_of(addresses, qpn);
  if (const uint32_t* found = lane_of_.find(key)) return *found;
  const uint32_t id = create(addresses, qpn, LifeBegin::kFirstSeen, kNoLane);
  if (options_.qp_table != nullptr) pair_from_table(id);
  return id;
}

uint32_t ConnectionTracker::create(uint32_t addresses, uint32_t qpn, LifeBegin begin, uint32_t previous) {
  const auto id = static_cast<uint32_t>(lanes_.size());
  Lane& lane = lanes_.emplace_back();
  lane.addresses = addresses;
  lane.qpn = qpn;
  lane.begin = begin;
  lane.previous = previous;
  if (options_.path_mtu != 0) {
    lane.path_mtu = options_.path_mtu;
    lane.mtu_source = MtuSource::kGiven;
  }
  lane_of_.try_emplace(key_of(addresses, qpn), id) = id;
  return id;
}

uint32_t ConnectionTracker::begin_life(uint32_t lane, LifeBegin begin) {
  lanes_[lane].superseded = true;
  overlap_.retire(lanes_[lane].addresses, lane);
  const uint32_t id = create(lanes_[lane].addresses, lanes_[lane].qpn, begin, lane);
  lanes_[id].life = lanes_[lane].life + 1;
  return id;
}

void ConnectionTracker::pair(uint32_t a, uint32_t b, PairedBy by) {
  unpair(a);
  unpair(b);
  lanes_[a].peer = b;
  lanes_[b].peer = a;
  lanes_[a].paired_by = lanes_[b].paired_by = by;
  if (by != PairedBy::kOverlap) {
    overlap_.exclude(a);
    overlap_.exclude(b);
  }
  // What one direction has told of the path MTU holds for the other.
  if (lanes_[a].mtu_source > lanes_[b].mtu_source) {
    learn_mtu(lanes_[b], lanes_[a].path_mtu, lanes_[a].mtu_source, lanes_[a].mtu_index);
  } else {
    learn_mtu(lanes_[a], lanes_[b].path_mtu, lanes_[b].mtu_source, lanes_[b].mtu_index);
  }
}

void ConnectionTracker::unpair(uint32_t lane) {
  const uint32_t peer = lanes_[lane].peer;
  if (peer == kNoLane) return;
  for (const uint32_t id : {lane, peer}) {
    lanes_[id].peer = kNoLane;
    lanes_[id].paired_by = PairedBy::kNothing;
  }
}

// The table of the host that a lane goes to knows the QPN of the lane's sender.
void ConnectionTracker::pair_from_table(uint32_t lane) {
  const uint32_t addresses = lanes_[lane].addresses;
  const auto peer_qpn = options_.qp_table->peer_of(addresses_[addresses].destination, lanes_[lane].qpn);
  if (!peer_qpn) return;
  const uint32_t reverse = addresses_.reverse(addresses);
  const uint32_t* found = lane_of_.find(key_of(reverse, *peer_qpn));
  const uint32_t peer = found ? *found : create(reverse, *peer_qpn, LifeBegin::kFirstSeen, kNoLane);
  if (peer != lane) pair(lane, peer, PairedBy::kQpTable);
}

void ConnectionTracker::manage(const Arrival& arrival) {
  const auto message = decode_cm(arrival.roce, arrival.packet.bytes);
  if (!message) {
    ++counts_.other_transports[arrival.roce.bth.opcode >> 5];
    return;
  }
  ++counts_.cm;
  if (const auto connection = cm_.add(*message, arrival.roce.source, arrival.roce.destination)) connect(*connection);
  if (message->kind == CmKind::kDreq) close(*message, arrival.roce);
}

// A lane for a life that CM announces: the one there is, unless it has been used already.
uint32_t ConnectionTracker::fresh_life(uint32_t addresses, uint32_t qpn) {
  const uint32_t* found = lane_of_.find(key_of(addresses, qpn));
  if (found == nullptr) return create(addresses, qpn, LifeBegin::kCm, kNoLane);
  return begin_life(*found, LifeBegin::kCm);
}

void ConnectionTracker::connect(const CmConnection& c) {
  const uint32_t forward = addresses_.id_of(c.active, c.passive);
  const uint32_t to_passive = fresh_life(forward, c.reply.qpn);
  const uint32_t to_active = fresh_life(addresses_.reverse(forward), c.request.qpn);
  lanes_[to_passive].requests.start(c.reply.starting_psn);
  lanes_[to_active].requests.start(c.request.starting_psn);
  for (const uint32_t id : {to_passive, to_active}) {
    Lane& lane = lanes_[id];
    lane.adopted = true;
    lane.adopted_psn = lane.requests.first();
    lane.starting_msn = 0;
    lane.retry_count = c.request.retry_count;
    lane.ack_timeout = c.request.ack_timeout;
    lane.rnr_retry_count = id == to_passive ? c.reply.rnr_retry_count : c.request.rnr_retry_count;
    if (c.request.path_mtu != 0) learn_mtu(lane, c.request.path_mtu, MtuSource::kCm, 0);
  }
  pair(to_passive, to_active, PairedBy::kCm);
}

void ConnectionTracker::close(const CmMessage& message, const RocePacket& roce) {
  const uint32_t* found = lane_of_.find(key_of(addresses_.id_of(roce.source, roce.destination), message.qpn));
  if (found == nullptr) return;
  lanes_[*found].closed = true;
  if (lanes_[*found].peer != kNoLane) lanes_[lanes_[*found].peer].closed = true;
}

// The PSN jump before `newer_id` was no new life: what the tap saw before it belongs to the same one.
void ConnectionTracker::absorb(uint32_t newer_id) {
  Lane& newer = lanes_[newer_id];
  Lane& older = lanes_[newer.previous];
  const int32_t missed = distance24(newer.requests.first(), older.requests.next());
  older.absorbed_by = newer_id;
  older.requests.finish();
  newer.requests.add_losses(older.requests.losses());
  Losses hole;
  (missed > 0 ? hole.tap : hole.unknown) = static_cast<uint64_t>(missed > 0 ? missed : -missed);
  hole.ranges = 1;
  newer.requests.add_losses(hole);
  newer.memory.merge(older.memory);
  newer.first_index = older.first_index;
  newer.first_ns = older.first_ns;
  newer.first_file = older.first_file;
  newer.life = older.life;
  newer.previous = older.previous;
  newer.begin = older.begin;
}

void ConnectionTracker::finish() {
  for (Lane& lane : lanes_) {
    lane.requests.finish();
    lane.reads.finish();
    lane.memory.finish();
  }
  overlap_result_ = overlap_.finish(lanes_.size());
  for (uint32_t id = 0; id < lanes_.size(); ++id) {
    if (lanes_[id].paired_by == PairedBy::kOverlap) unpair(id);
  }
  for (uint32_t id = 0; id < lanes_.size(); ++id) {
    const uint32_t home = overlap_result_[id].requests;
    if (home != kNoLane && lanes_[id].peer == kNoLane && lanes_[home].peer == kNoLane)
      pair(id, home, PairedBy::kOverlap);
  }
}

}  // namespace traces
