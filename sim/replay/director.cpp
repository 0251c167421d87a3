#include "sim/replay/director.hpp"

#include <algorithm>
#include <string_view>

#include "hw/bus/wire.hpp"
#include "sim/config/error.hpp"
#include "traces/prefetch.hpp"
#include "traces/psn.hpp"

namespace sim {
namespace {

using traces::distance24;
using traces::kNoLane;
using traces::kPsnMask;
using traces::Verb;

// The capture does not tell how long the receive buffers are: long enough.
constexpr uint32_t kReceiveBytes = uint32_t(1) << 31;

Verb verb_of(const HeldPacket& held) {
  return traces::operation_of(held.transport.opcode).verb;
}

bool takes_receive(const TransportPacket& t) {
  return hw::wire::takes_receive(hw::Bits<8>(t.opcode));
}

void tell_other_payload(ReplayConnection& c, const Sighting& request) {
  c.verdicts.requests.give(Verdict::kDifferent, &request, nullptr, "the NIC sent another payload");
}

}  // namespace

bool PayloadPairs::agree(uint32_t psn, bool captured, traces::ByteSpan payload) {
  const uint64_t hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(payload.data), payload.size});
  const auto [other, is_first] = waiting_.try_emplace(psn, Waiting{captured, hash});
  if (is_first || other->second.captured == captured) {
    other->second = {captured, hash};
    if (waiting_.size() > kWaiting) waiting_.clear();
    return true;
  }
  const bool agrees = other->second.hash == hash;
  waiting_.erase(other);
  return agrees;
}

Director::Director(LookAhead& capture, ReplayNic& nic, const DirectorOptions& options)
    : capture_(capture), nic_(nic), options_(options) {
  nic_.observe_sent([this](uint32_t number, const TransportPacket& packet) { nic_sent(number, packet); });
  read_data_.seed_with([this](uint64_t address, traces::ByteSpan bytes) { nic_.seed_memory(address, bytes); });
  capture_.observe([this](HeldPacket& held, const traces::RocePacket& roce) { observe(held, roce); });
}

// ------------------------------------------------------------------------------------------ ahead of the replay

void Director::observe(HeldPacket& held, const traces::RocePacket& roce) {
  if (held.lane == kNoLane) return;
  note_binding(held, roce);
  if (!nic_.carries_data() || held.cut) return;
  if (held.course == Course::kRequestIn) read_data_.request(host_of(roce.destination), held, held.after_gap);
  if (held.course != Course::kResponseOut || verb_of(held) != Verb::kReadResponse || held.atomic) return;
  const uint32_t requests = capture_.peer_of(held.lane);
  held.read.seeded = held.transport.payload_bytes;
  if (requests == kNoLane) return;
  read_data_.response(host_of(roce.source), requests, capture_.tracker().lanes()[requests].path_mtu, held);
}

void Director::note_binding(const HeldPacket& held, const traces::RocePacket& roce) {
  if (held.lane >= bindings_.size()) bindings_.resize(held.lane + 1);
  if (bindings_[held.lane]) return;
  const bool is_in = held.course == Course::kRequestIn || held.course == Course::kResponseIn;
  Binding b;
  b.address = is_in ? roce.destination : roce.source;
  b.peer_address = is_in ? roce.source : roce.destination;
  b.mac = is_in ? roce.destination_mac : roce.source_mac;
  b.peer_mac = is_in ? roce.source_mac : roce.destination_mac;
  b.source_port = roce.source_port;
  b.partition_key = roce.bth.partition_key;
  bindings_[held.lane] = b;
}

uint32_t Director::host_of(const traces::IpAddress& address) {
  return hosts_.emplace(address, uint32_t(hosts_.size())).first->second;
}

// ---------------------------------------------------------------------------------------------- connections

Binding Director::binding_of(uint32_t lane, uint32_t row) const {
  const uint32_t peer = capture_.peer_of(lane);
  const bool has_own = lane < bindings_.size() && bindings_[lane];
  Binding b = has_own ? *bindings_[lane] : *bindings_[peer];
  const uint32_t qpn = capture_.tracker().lanes()[lane].qpn;
  b.qpn = qpn % hw::kMaxQps == row ? qpn : row;
  b.peer_qpn = peer == kNoLane ? 0 : capture_.tracker().lanes()[peer].qpn;
  return b;
}

ReplayConnection& Director::connection_of(uint32_t lane) {
  if (lane >= by_lane_.size()) by_lane_.resize(lane + 1);
  if (by_lane_[lane] != nullptr) return *by_lane_[lane];
  const auto row = qp_rows_.claim(capture_.tracker().lanes()[lane].qpn);
  if (!row)
    throw InputError("--as: its endpoints have more than " + std::to_string(hw::kMaxQps) +
                     " queue pairs; allowed are as many as the NIC has rows: choose with --qp, --from and --to");
  auto made = std::make_unique<ReplayConnection>(options_.verdict);
  made->lane = lane;
  made->number = made->ask_number = *row;
  made->binding = binding_of(lane, *row);
  made->host = host_of(made->binding.address);
  nic_.bind(*row, made->binding);
  number(*made, *row);
  by_lane_[lane] = made.get();
  connections_.push_back(std::move(made));
  return *connections_.back();
}

void Director::number(ReplayConnection& c, uint32_t row) {
  if (row >= by_number_.size()) by_number_.resize(row + 1);
  by_number_[row] = &c;
}

// That of a packet which the endpoint sent; null while the lane to the endpoint is not known.
ReplayConnection* Director::own_connection(const HeldPacket& held) {
  const uint32_t peer = capture_.peer_of(capture_.life_of(held.lane));
  return peer == kNoLane ? nullptr : &connection_of(capture_.life_of(peer));
}

// Each of these tells where the next one lies.
void Director::prefetch_next() const {
  const auto& lanes = capture_.tracker().lanes();
  const auto lane_of = [this](uint64_t packets) {
    const HeldPacket* held = capture_.ahead(packets);
    return held == nullptr ? kNoLane : held->lane;
  };
  if (const HeldPacket* held = capture_.ahead(16)) traces::prefetch(held);
  if (const uint32_t lane = lane_of(12); lane != kNoLane) __builtin_prefetch(&lanes[lane].peer);
  if (const uint32_t lane = lane_of(8); lane < by_lane_.size()) {
    __builtin_prefetch(&by_lane_[lane]);
    if (const uint32_t peer = lanes[lane].peer; peer < by_lane_.size()) {
      __builtin_prefetch(&by_lane_[peer]);
      __builtin_prefetch(&lanes[peer].peer);
    }
  }
  if (const uint32_t lane = lane_of(4); lane < by_lane_.size()) {
    if (by_lane_[lane] != nullptr) return traces::prefetch(by_lane_[lane]);
    const uint32_t peer = lanes[lane].peer;
    if (peer < by_lane_.size() && by_lane_[peer] != nullptr) traces::prefetch(by_lane_[peer]);
  }
}

bool Director::step() {
  HeldPacket* held = capture_.next();
  if (held == nullptr) return false;
  prefetch_next();
  nic_.set_time(held->time_ns);
  switch (held->course) {
    case Course::kRequestIn:
      request_in(*held);
      break;
    case Course::kResponseIn:
      answer_in(*held);
      break;
    case Course::kRequestOut:
      request_out(*held);
      break;
    case Course::kResponseOut:
      answer_out(*held);
      break;
    case Course::kFrameIn:
      nic_.receive_frame(held->frame);
      break;
    case Course::kOther:
      break;
  }
  return true;
}

// --------------------------------------------------------------------------------------------- as responder

void Director::request_in(const HeldPacket& held) {
  if (held.undelivered) return;
  ReplayConnection& c = connection_of(capture_.life_of(held.lane));
  if (held.cut) lose_track(c, held);
  const Place place = held.cut ? Place::kUnknown : follow(c, held);
  if (place == Place::kUnknown) {
    c.tally.not_given++;
    const int32_t end = distance24(held.transport.psn + held.psns, c.unknown_from);
    if (end > 0) c.answers.not_fed(c.unknown_from, uint32_t(end));
    return;
  }
  prepare(c, held, place);
  // Behind a gap a READ may be the rest of one that the tap has missed.
  const bool may_be_rest = held.after_gap && held.transport.opcode == hw::wire::kReadRequest;
  c.answers.request(held.transport.psn, held.psns, held.transport.opcode, held.transport.ack_request,
                    !held.first_sight || may_be_rest, held.index);
  c.tally.requests_in++;
  if (!held.first_sight) nic_.settle();  // the peer sends again because of what it got, or did not get, before
  give(c, held, c.number);
}

// Keeps the responder where the endpoint's stands. The NIC must not see a packet of unknown place.
Director::Place Director::follow(ReplayConnection& c, const HeldPacket& held) {
  const TransportPacket& t = held.transport;
  int32_t ahead = c.responds ? distance24(t.psn, c.expected_psn) : 0;
  // A retry that passes over the missing PSN asks the question again.
  if (ahead > 0 && (c.known_missing != c.expected_psn || !held.first_sight)) {
    if (capture_.fate_of(held, c.expected_psn) == Fate::kLost) {
      c.known_missing = c.expected_psn;
    } else {
      lose_track(c, held);
    }
  }
  if (!c.responds) {
    if (!c.has_responded) lose_track(c, held);
    if (!begin_responder(c, held)) return Place::kUnknown;
    ahead = 0;
  }
  if (ahead != 0) return Place::kElsewhere;
  if (held.not_ready || held.refused_with != 0) {
    // What a receive was that a SEND did not fit, or when it came, nobody knows: the NIC cannot refuse the SEND alike.
    if (verb_of(held) != Verb::kSend) c.known_missing = c.expected_psn;
    return Place::kElsewhere;
  }
  c.expected_psn = (t.psn + held.psns) & kPsnMask;
  return Place::kExpected;
}

// From the PSN that is due on, the responder's state is not known.
void Director::lose_track(ReplayConnection& c, const HeldPacket& held) {
  if (c.responds || !c.has_responded) c.unknown_from = c.has_responded ? c.expected_psn : held.transport.psn;
  c.responds = false;
}

// Where a message begins for the first time, and an answer tells the MSN, if there are answers at all.
bool Director::begin_responder(ReplayConnection& c, const HeldPacket& held) {
  if (!held.first_sight || !traces::starts_message(held.transport.opcode)) return false;
  const traces::Lane& lane = capture_.tracker().lanes()[c.lane];
  const uint32_t psn = held.transport.psn;
  auto msn = capture_.msn_before(held);
  if (!msn && lane.adopted && lane.adopted_psn == psn) msn = lane.starting_msn;
  if (!msn && lane.peer != kNoLane) return false;
  if (c.has_responded) c.tally.restarts++;
  c.responds = c.has_responded = true;
  c.known_missing.reset();
  c.expected_psn = psn;
  nic_.set_responder(c.number, {psn, msn.value_or(0), lane.path_mtu});
  c.answers.restart(psn, msn.value_or(0));
  return true;
}

// What the endpoint's host had ready for the request.
void Director::prepare(ReplayConnection& c, const HeldPacket& held, Place place) {
  const TransportPacket& t = held.transport;
  if (hw::wire::has_reth(hw::Bits<8>(t.opcode)) && t.dma_length != 0) open_memory(c, held);
  if (takes_receive(t) && place == Place::kExpected) nic_.post_receive(c.number, kReceiveBytes);
}

void Director::open_memory(ReplayConnection& c, const HeldPacket& held) {
  const auto open = [&](const traces::MemoryRegion& region) {
    if (const MemoryKeys::Region* r = keys_.extend(c.host, region))
      nic_.set_region({r->nic_key, r->first, r->end, (r->rights & traces::kRemoteRead) != 0,
                       (r->rights & traces::kRemoteWrite) != 0});
  };
  const traces::MrTable* table = options_.mr_table;
  if (table != nullptr && table->has_host(c.binding.address)) {
    if (keys_.find(c.host, held.transport.remote_key) == nullptr)
      for (const traces::MemoryRegion& region : table->regions_of(c.binding.address)) open(region);
    return;
  }
  if (held.refused_with != 0) return;
  const TransportPacket& t = held.transport;
  const uint8_t right = verb_of(held) == Verb::kReadRequest ? traces::kRemoteRead : traces::kRemoteWrite;
  const MemoryKeys::Region* known = keys_.find(c.host, t.remote_key);
  const uint64_t end = t.virtual_address + t.dma_length;
  if (known != nullptr && known->covers({0, t.virtual_address, end, right})) return;
  for (const traces::MemoryRegion& region : capture_.tracker().lanes()[c.lane].memory.regions())
    if (region.remote_key == t.remote_key) open(region);
  open({t.remote_key, t.virtual_address, end, right});
}

// The packet as it came, or with the numbers that stand for its own.
void Director::give(ReplayConnection& c, const HeldPacket& held, uint32_t number) {
  TransportPacket t = held.transport;
  t.payload = held.payload();
  bool native = held.native && number == c.number && c.binding.qpn == capture_.tracker().lanes()[c.lane].qpn;
  // The connection's own P_Key is the NIC's; any other is wrong in both places.
  if (c.binding.partition_key != options_.partition_key)
    native = native && held.partition_key != c.binding.partition_key;
  if (const MemoryKeys::Region* region = keys_.find(c.host, t.remote_key)) {
    native = native && region->nic_key == t.remote_key;
    t.remote_key = region->nic_key;
  }
  c.tally.translated += !native;
  c.tally.repaired += held.repaired;
  nic_.receive(number, t, native ? traces::ByteSpan(held.frame) : traces::ByteSpan());
}

void Director::answer_out(const HeldPacket& held) {
  ReplayConnection* c = own_connection(held);
  if (c == nullptr) {
    unpaired_answers_++;
    return;
  }
  c->tally.answers_out++;
  c->answers.captured(held.transport, held.index, held.time_ns - capture_.first_ns());
  if (held.read.verified + held.read.seeded + held.read.different == 0) return;
  const Sighting response{held.transport, held.index, held.time_ns - capture_.first_ns()};
  c->verdicts.add_data({held.read.verified, held.read.seeded, held.read.different}, response);
  const bool is_known = held.read.verified == held.transport.payload_bytes;
  if (is_known && !c->answer_data.agree(held.transport.psn, true, held.payload()))
    c->verdicts.add_data({0, 0, held.transport.payload_bytes}, response);
}

// --------------------------------------------------------------------------------------------- as requester

void Director::answer_in(const HeldPacket& held) {
  ReplayConnection& c = connection_of(capture_.life_of(held.lane));
  const uint32_t psn = held.transport.psn;
  if (held.cut || !c.asks || distance24(psn, c.asked_from) < 0 || distance24(psn, c.next_psn) >= 0) {
    c.tally.not_given++;  // the request is not captured
    return;
  }
  c.tally.answers_in++;
  c.requests.answered(held.transport);
  give(c, held, c.ask_number);
}

void Director::request_out(HeldPacket& held) {
  ReplayConnection* c = own_connection(held);
  if (c == nullptr) {
    unpaired_requests_++;
    return;
  }
  c->tally.requests_out++;
  const uint32_t psn = held.transport.psn;
  const bool is_late = c->asks && distance24(psn, c->next_psn) < 0;
  if (held.first_sight && traces::starts_message(held.transport.opcode) && !is_late) post(*c, held);
  const Sighting request{held.transport, held.index, held.time_ns - capture_.first_ns()};
  const bool is_posted = c->asks && distance24(psn, c->asked_from) >= 0 && distance24(psn, c->next_psn) < 0;
  if (!is_posted) {
    c->requests.not_fed(psn, held.psns);
    if (held.first_sight)
      c->verdicts.requests.give(Verdict::kNotComparable, &request, nullptr,
                                "the capture does not hold all of its message");
    return;
  }
  c->requests.captured(held.transport, held.psns, held.first_sight, held.index, request.time_ns);
  const bool has_data = held.first_sight && !held.repaired && held.payload().size != 0;
  if (has_data && !c->request_data.agree(psn, true, held.payload())) tell_other_payload(*c, request);
}

// Each time in a queue pair of its own: the one before may have work that nobody will answer. False when the NIC has no
// more.
bool Director::begin_requester(ReplayConnection& c, const HeldPacket& held) {
  c.asks = false;
  if (c.has_asked) {
    const auto row = qp_rows_.claim(c.ask_number + 1);
    if (!row) return false;
    c.tally.restarts++;
    c.ask_number = *row;
    Binding binding = c.binding;
    binding.qpn = *row;
    nic_.bind(*row, binding);
    number(c, *row);
  }
  const uint32_t psn = held.transport.psn;
  c.asks = c.has_asked = true;
  c.asked_from = c.next_psn = psn;
  nic_.set_requester(c.ask_number, {psn, capture_.tracker().lanes()[capture_.life_of(held.lane)].path_mtu});
  c.requests.restart(psn);
  return true;
}

// Posts the message that the packet begins, after those before it that the tap saw later.
void Director::post(ReplayConnection& c, HeldPacket& held) {
  while (c.asks && c.next_psn != held.transport.psn) {
    HeldPacket* earlier = capture_.find_start(held, c.next_psn);
    if (earlier == nullptr || earlier->posted || !earlier->message.complete) break;
    post(c, *earlier);
  }
  if (!held.message.complete) {
    c.asks = false;
    return;
  }
  const TransportPacket& t = held.transport;
  if ((!c.asks || c.next_psn != t.psn) && !begin_requester(c, held)) return;
  WorkRequest work;
  const Verb verb = verb_of(held);
  work.kind = verb == Verb::kSend ? WorkKind::kSend : verb == Verb::kReadRequest ? WorkKind::kRead : WorkKind::kWrite;
  work.length = held.message.length;
  work.has_immediate = held.message.has_immediate;
  work.immediate = held.message.immediate;
  work.solicited = held.message.solicited;
  work.remote_address = t.virtual_address;
  work.remote_key = t.remote_key;
  capture_.visit_message(
      held, [&](uint64_t offset, traces::ByteSpan payload) { nic_.stage_payload(c.ask_number, offset, payload); });
  c.next_psn = (held.message.last_psn + (work.kind == WorkKind::kRead ? held.psns : 1)) & kPsnMask;
  held.posted = true;
  c.tally.posted++;
  nic_.post_send(c.ask_number, work);
}

// ------------------------------------------------------------------------------------------------- the NIC

void Director::nic_sent(uint32_t number, const TransportPacket& packet) {
  ReplayConnection& c = *by_number_[number];
  if (traces::is_response(packet.opcode)) {
    c.answers.simulated(packet);
    const bool is_read = traces::operation_of(packet.opcode).verb == Verb::kReadResponse;
    if (is_read && packet.payload.size != 0 && !c.answer_data.agree(packet.psn, false, packet.payload))
      c.verdicts.add_data({0, 0, packet.payload_bytes}, {packet, 0, 0});
    return;
  }
  if (number != c.ask_number) return;  // a life that is over
  const uint32_t mtu = capture_.tracker().lanes()[c.lane].path_mtu;
  const bool is_read = traces::operation_of(packet.opcode).verb == Verb::kReadRequest && packet.dma_length != 0;
  c.requests.simulated(packet, is_read ? (packet.dma_length - 1) / mtu + 1 : 1);
  if (packet.payload.size != 0 && !c.request_data.agree(packet.psn, false, packet.payload))
    tell_other_payload(c, {packet, 0, 0});
}

void Director::finish() {
  nic_.settle();
  for (const auto& c : connections_) {
    c->answers.finish(c->tally.answers_out != 0);
    c->requests.finish();
  }
}

}  // namespace sim
