#include "sim/replay/verdict/acks.hpp"

#include <algorithm>

#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr size_t kMaxWaiting[2] = {1024, 128};  // per side; the NIC may only be slow

void give(VerdictCounts& counts, Verdict verdict, Side side, const Sighting& one, const Sighting* counterpart,
          const char* reason) {
  if (side == kCaptured)
    counts.give(verdict, &one, counterpart, reason);
  else
    counts.give(verdict, counterpart, &one, reason);
}

}  // namespace

void AckJudge::start(uint32_t psn) {
  covered_[kCaptured] = covered_[kSimulated] = (psn - 1) & traces::kPsnMask;
  has_agreed_ = is_due_ = is_again_ = false;
}

void AckJudge::restart(uint32_t psn, uint32_t msn) {
  start(psn);
  agreed_psn_ = covered_[kCaptured];
  agreed_msn_ = msn;
  has_agreed_ = true;
}

void AckJudge::request(uint32_t psn, uint32_t psns, bool ack_request, bool again) {
  const uint32_t last = (psn + psns - 1) & traces::kPsnMask;
  if (again) {
    const bool goes_on = is_again_ && distance24(psn, again_last_) == 1;
    if (!goes_on) again_first_ = psn;
    again_last_ = last;
    is_again_ = true;
  } else if (ack_request) {
    due_ = last;
    is_due_ = true;
  }
}

// Between the last agreed one and here a message ends at most once for each PSN.
bool AckJudge::is_plausible(uint32_t psn, uint32_t msn) const {
  if (!has_agreed_) return true;
  const int32_t messages = distance24(msn, agreed_msn_);
  return messages >= 0 && messages <= distance24(psn, agreed_psn_);
}

// The requester went back to `psn` or to before it.
bool AckJudge::is_sent_again(uint32_t psn) const {
  return is_again_ && distance24(psn, again_first_) >= 0;
}

void AckJudge::agree(const Sighting& ack) {
  agreed_psn_ = ack.packet.psn;
  agreed_msn_ = ack.packet.msn;
  has_agreed_ = true;
}

AckJudge::Reacks& AckJudge::reacks() {
  if (!reacks_) reacks_ = std::make_unique<Reacks>();
  return *reacks_;
}

void AckJudge::acknowledge(Side side, const Sighting& ack, VerdictCounts& counts) {
  if (traces::operation_of(ack.packet.opcode).verb == traces::Verb::kAtomicAck) return atomic(side, ack, counts);
  const uint32_t psn = ack.packet.psn;
  if (distance24(psn, covered_[side]) <= 0) return repeat(side, ack, counts);
  const bool judged = meet(side, ack, counts);
  covered_[side] = psn;
  if (judged) return;
  if (distance24(psn, covered_[other(side)]) <= 0)
    lie_between(side, ack, counts);
  else
    wait(side, ack, counts);
}

void AckJudge::atomic(Side side, const Sighting& ack, VerdictCounts& counts) {
  const bool is_new = distance24(ack.packet.psn, agreed_psn_) > 0;
  const bool is_right = !is_new || is_plausible(ack.packet.psn, ack.packet.msn);
  cover(side, ack.packet.psn, counts);
  give(counts, is_right ? Verdict::kNotComparable : Verdict::kDifferent, side, ack, nullptr,
       is_right ? "atomics are not yet supported" : "an MSN that the answers before it exclude");
  if (is_right && is_new && has_agreed_) agree(ack);
}

// Judges those of the other side that waited up to this PSN. True when this one is judged with them.
bool AckJudge::meet(Side side, const Sighting& ack, VerdictCounts& counts) {
  if (!waits_for(side)) return false;
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const Sighting& w) { return distance24(w.packet.psn, ack.packet.psn) >= 0; });
  const bool is_paired = at != waiting_.end() && at->packet.psn == ack.packet.psn;
  const bool is_same = is_paired && at->packet.msn == ack.packet.msn;
  // Of two that contradict each other one is wrong, and which one is not known: both are judged with that, unless a
  // third one agrees with this one.
  bool bounds = is_paired ? is_same : is_plausible(ack.packet.psn, ack.packet.msn);
  bool judged = is_paired;
  for (auto before = waiting_.begin(); before != at; ++before) {
    if (bounds && is_plausible(before->packet.psn, before->packet.msn) &&
        distance24(ack.packet.msn, before->packet.msn) < 0) {
      give(counts, Verdict::kDifferent, side, ack, &*before, "the MSN goes back");
      judged = true;
      bounds = is_same;
    } else {
      cover_one(*before, counts);
    }
  }
  if (is_paired)
    give(counts, is_same ? Verdict::kMatch : Verdict::kDifferent, side, ack, &*at, is_same ? "the same" : "other MSN");
  if (is_same) agree(ack);
  waiting_.drop_front(size_t(at - waiting_.begin()) + (is_paired ? 1 : 0));
  return judged;
}

// One that waited, and for which the other side has no ACK of its own.
void AckJudge::cover_one(const Sighting& ack, VerdictCounts& counts) {
  if (!is_plausible(ack.packet.psn, ack.packet.msn))
    return give(counts, Verdict::kDifferent, ahead_, ack, nullptr, "an MSN that the answers before it exclude");
  give(counts, Verdict::kEquivalent, ahead_, ack, nullptr, "covered by a neighbour");
  agree(ack);
}

// The other side has acknowledged more already.
void AckJudge::lie_between(Side side, const Sighting& ack, VerdictCounts& counts) {
  const TransportPacket& p = ack.packet;
  if (!is_plausible(p.psn, p.msn))
    return give(counts, Verdict::kDifferent, side, ack, nullptr, "an MSN that the answers before it exclude");
  const bool bounded = waits_for(side) && is_plausible(waiting_.front().packet.psn, waiting_.front().packet.msn);
  if (bounded && distance24(waiting_.front().packet.msn, p.msn) < 0) {
    give(counts, Verdict::kDifferent, side, ack, &waiting_.front(), "the MSN goes back");
    waiting_.drop_front(1);  // one of the two is wrong, and which one is not known
    return;
  }
  give(counts, Verdict::kEquivalent, side, ack, nullptr, "covered by a neighbour");
  agree(ack);
}

void AckJudge::wait(Side side, const Sighting& ack, VerdictCounts& counts) {
  if (waiting_.size() == kMaxWaiting[side]) {
    const bool is_captured = ahead_ == kCaptured;
    give(counts, is_captured ? Verdict::kMissing : Verdict::kNotComparable, ahead_, waiting_.front(), nullptr,
         is_captured ? "the NIC falls far behind" : "the endpoint falls far behind");
    waiting_.drop_front(1);
  }
  ahead_ = side;
  waiting_.push_back(ack);
}

// An ACK of what the side acknowledged before. Its number is free; its MSN may be that of its PSN or a later one.
void AckJudge::repeat(Side side, const Sighting& ack, VerdictCounts& counts) {
  const TransportPacket& p = ack.packet;
  const int32_t behind = distance24(covered_[side], p.psn);
  if (behind > 0 && is_sent_again(p.psn)) {
    if (reacks().own_psn[side]++ == 0) reacks().first[side] = ack;
    return;
  }
  if (is_again_ && behind == 0) reacks().completed_psn[side] = true;
  const bool is_ahead = !waiting_.empty() && ahead_ == side;
  const uint32_t psn = is_ahead ? waiting_.back().packet.psn : agreed_psn_;
  const uint32_t msn = is_ahead ? waiting_.back().packet.msn : agreed_msn_;
  const bool is_known = is_ahead || has_agreed_;
  const int32_t messages = distance24(msn, p.msn), psns = distance24(psn, p.psn);
  const bool is_right = !is_known || (psns >= 0 ? messages >= 0 && messages <= psns : is_plausible(p.psn, p.msn));
  give(counts, is_right ? Verdict::kEquivalent : Verdict::kDifferent, side, ack, nullptr,
       is_right ? "acknowledged again" : "acknowledged again with another MSN");
}

void AckJudge::cover(Side side, uint32_t psn, VerdictCounts& counts) {
  if (distance24(psn, covered_[side]) <= 0) return;
  covered_[side] = psn;
  if (!waits_for(side)) return;
  size_t covered = 0;
  for (const Sighting& ack : waiting_) {
    if (distance24(ack.packet.psn, psn) > 0) break;
    cover_one(ack, counts);
    covered++;
  }
  waiting_.drop_front(covered);
}

size_t AckJudge::refuse(uint32_t psn, const Sighting& nak, VerdictCounts& counts) {
  if (!waits_for(kCaptured)) return 0;
  size_t refused = 0;
  for (const Sighting& ack : waiting_) {
    if (distance24(ack.packet.psn, psn) < 0) continue;
    counts.give(Verdict::kDifferent, &nak, &ack, "the endpoint refused it");
    refused++;
  }
  waiting_.drop_back(refused);
  return refused;
}

void AckJudge::give_up(VerdictCounts& counts, const char* reason) {
  for (const Sighting& ack : waiting_) give(counts, Verdict::kNotComparable, ahead_, ack, nullptr, reason);
  waiting_.clear();
}

void AckJudge::finish_reacks(Peer peer, VerdictCounts& counts) {
  if (!reacks_) return;
  const uint64_t captured = reacks_->own_psn[kCaptured], simulated = reacks_->own_psn[kSimulated];
  const Sighting *one = &reacks_->first[kCaptured], *two = &reacks_->first[kSimulated];
  if (captured > 0 && simulated > 0)
    counts.give(Verdict::kEquivalent, one, two, "acknowledged again with its own PSN", captured + simulated);
  else if (captured > 0 && departs(peer, Quirk::kOwnPsnReack))
    counts.depart(Quirk::kOwnPsnReack, one, nullptr, captured);
  else if (captured > 0)
    counts.give(Verdict::kDifferent, one, nullptr, "acknowledged again with its own PSN", captured);
  else if (simulated > 0)
    counts.give(reacks_->completed_psn[kCaptured] ? Verdict::kDifferent : Verdict::kUnseen, nullptr, two,
                "acknowledged again with its own PSN", simulated);
  reacks_.reset();
}

void AckJudge::finish(Peer peer, VerdictCounts& counts) {
  finish_reacks(peer, counts);
  if (ahead_ == kSimulated) return give_up(counts, "the capture ends");
  const bool owed = is_due_ && distance24(due_, covered_[kSimulated]) > 0;
  for (const Sighting& ack : waiting_) {
    if (owed)
      counts.give(Verdict::kMissing, &ack, nullptr, "the NIC never acknowledged it");
    else if (is_again_ && departs(peer, Quirk::kAckInMessage))
      counts.depart(Quirk::kAckInMessage, &ack, nullptr);
    else
      counts.give(Verdict::kNotComparable, &ack, nullptr, "nothing asked the NIC for this ACK");
  }
  waiting_.clear();
}

}  // namespace sim
