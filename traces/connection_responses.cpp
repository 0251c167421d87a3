// Responses of ConnectionTracker: which requests they answer, and what they tell of them.
#include "traces/connections.hpp"
#include "traces/psn.hpp"

namespace traces {
namespace {

/// Without the requests at hand, the responses' own step must be larger to be a jump.
constexpr int32_t kBlindJump = 1 << 20;

// Upper bits of the syndrome (IBTA 9.7.5.2).
enum SyndromeKind : uint8_t { kAck = 0, kRnrNak = 1, kNak = 3 };
constexpr uint8_t kNakSequence = 0x60;
constexpr uint8_t kNakRemoteAccess = 0x62;

}  // namespace

void ConnectionTracker::response(uint32_t id, const Arrival& arrival, Observation& seen) {
  const uint32_t psn = arrival.roce.bth.psn;
  seen.packet_class = PacketClass::kNew;
  seen.lane = id = settle_life_of_response(id, arrival);
  learn_mtu_from(lanes_[id], arrival);
  Lane& lane = lanes_[id];
  ++lane.responses;
  lane.last_response_psn = psn;
  const bool is_open = lane.paired_by == PairedBy::kNothing || lane.paired_by == PairedBy::kOverlap;
  if (is_open && lane.responses <= OverlapPairing::kEvidence) suppose_pair(id, psn);
  if (lane.peer == kNoLane) return;
  Lane& requester = lanes_[lane.peer];
  const Verb verb = operation_of(arrival.roce.bth.opcode).verb;
  if (verb != Verb::kAck) {
    const OutstandingReads::Response read = requester.reads.response(psn, arrival.time_ns);
    seen.packet_class = read.packet_class;
    seen.latency_ns = read.latency_ns;
    acknowledge(requester, psn, arrival.time_ns);
  } else if (arrival.roce.aeth && arrival.roce.aeth->syndrome >> 5 == kAck) {
    read_ack(lane.peer, id, arrival);
  } else if (arrival.roce.aeth) {
    read_nak(requester, arrival, seen);
  }
}

// A response far away from the requests of its connection answers another life of the requester.
uint32_t ConnectionTracker::settle_life_of_response(uint32_t id, const Arrival& arrival) {
  const Lane& lane = lanes_[id];
  if (lane.responses == 0) return id;
  const uint32_t psn = arrival.roce.bth.psn;
  bool is_far = false;
  if (lane.peer != kNoLane && lanes_[lane.peer].requests.started()) {
    const Lane& requester = lanes_[lane.peer];
    is_far = distance24(psn, requester.requests.next()) > kLifeJump ||
             distance24(psn, requester.requests.first()) < -kLifeJump;
    if (distance24(requester.requests.next(), requester.requests.first()) < 0) is_far = false;  // wrapped once around
    if (requester.superseded) {
      const uint32_t* newest = lane_of_.find(key_of(requester.addresses, requester.qpn));
      const PsnSequence& fresh = lanes_[*newest].requests;
      is_far = is_far || (fresh.started() && distance24(psn, fresh.first()) >= 0 && distance24(psn, fresh.next()) < 0);
    }
  } else {
    const int32_t jump = distance24(psn, lane.last_response_psn);
    is_far = jump > kBlindJump || jump < -kBlindJump;
  }
  return is_far ? begin_life(id, LifeBegin::kPsnJump) : id;
}

void ConnectionTracker::suppose_pair(uint32_t id, uint32_t psn) {
  const uint32_t home = overlap_.response(addresses_.reverse(lanes_[id].addresses), id, psn);
  if (home == lanes_[id].peer) return;
  if (home == kNoLane) {
    unpair(id);
  } else if (lanes_[home].peer == kNoLane) {
    pair(id, home, PairedBy::kOverlap);
  }
}

void ConnectionTracker::acknowledge(Lane& requester, uint32_t psn, int64_t time_ns) {
  if (!requester.requests.acknowledge(psn)) return;
  requester.answers.timer_start_ns = time_ns;
  requester.answers.unanswered_retries = 0;
}

void ConnectionTracker::read_ack(uint32_t requester_id, uint32_t responder, const Arrival& arrival) {
  Lane& requester = lanes_[requester_id];
  const uint32_t psn = arrival.roce.bth.psn;
  const uint32_t msn = arrival.roce.aeth->msn;
  acknowledge(requester, psn, arrival.time_ns);
  if (requester.begin == LifeBegin::kPsnJump && requester.proof == LifeProof::kOpen) {
    prove_life(requester_id, responder, psn, msn);
  }
  requester.answers.last_msn = msn;
  if (!requester.starting_msn) infer_starting_msn(requester, psn, msn, arrival.packet.index);
}

void ConnectionTracker::infer_starting_msn(Lane& requester, uint32_t psn, uint32_t msn, uint64_t index) {
  const PsnSequence& requests = requester.requests;
  const Losses& losses = requests.losses();
  // Messages may have gone by unseen.
  if (requests.has_holes() || losses.tap + losses.unknown != 0) return;
  if (!requester.adopted || distance24(psn, requester.adopted_psn) < 0 || distance24(psn, requests.next()) >= 0) return;
  if (const auto completed = requester.messages.up_to(psn)) {
    requester.starting_msn = static_cast<uint32_t>(msn - *completed) & kPsnMask;
    requester.msn_index = index;
  }
}

void ConnectionTracker::read_nak(Lane& requester, const Arrival& arrival, Observation& seen) {
  const uint32_t psn = arrival.roce.bth.psn;
  const uint8_t syndrome = arrival.roce.aeth->syndrome;
  AnswerState& answers = requester.answers;
  const bool after_rnr = answers.rnr_seen && answers.rnr_psn == psn;
  if (syndrome == kNakSequence) {
    // What follows a request that was not ready for is refused too, and was not lost.
    if (after_rnr) return;
    acknowledge(requester, (psn - 1) & kPsnMask, arrival.time_ns);
    seen.lost_behind = requester.requests.refuse(psn);
    answers.nak_pending = true;
    answers.nak_psn = psn;
    return;
  }
  acknowledge(requester, (psn - 1) & kPsnMask, arrival.time_ns);
  answers.unanswered_retries = 0;
  if (syndrome >> 5 == kRnrNak) {
    answers.rnr_pending = answers.rnr_seen = true;
    answers.rnr_psn = psn;
  } else if (syndrome >> 5 == kNak && answers.fatal_syndrome == 0) {
    answers.fatal_syndrome = syndrome;
    answers.fatal_index = arrival.packet.index;
    answers.fatal_ns = arrival.time_ns;
    if (syndrome == kNakRemoteAccess) requester.memory.refuse(psn);
  }
}

// The MSN of a new life counts from its begin; if it goes on instead, the tap has missed what lies between.
void ConnectionTracker::prove_life(uint32_t requester_id, uint32_t responder, uint32_t psn, uint32_t msn) {
  Lane& requester = lanes_[requester_id];
  const auto completed = requester.messages.up_to(psn);
  const auto& before = lanes_[requester.previous].answers.last_msn;
  const bool restarts = completed && msn == *completed;
  if (!restarts && !before) return;
  if (restarts || distance24(msn, *before) < 0) {
    requester.proof = LifeProof::kMsnRestarts;
    return;
  }
  requester.proof = LifeProof::kMsnGoesOn;
  const uint32_t older_responder = lanes_[requester.previous].peer;
  absorb(requester_id);
  if (lanes_[responder].previous == older_responder && older_responder != kNoLane &&
      lanes_[older_responder].absorbed_by == kNoLane) {
    absorb(responder);
  }
}

}  // namespace traces
