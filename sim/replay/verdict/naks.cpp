#include "sim/replay/verdict/naks.hpp"

#include <algorithm>

#include "hw/bus/wire.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr size_t kMaxWaiting = 64, kMaxReturns = 64;

// The kind, without the RNR timer.
uint8_t kind_of(uint8_t syndrome) {
  return is_rnr(syndrome) ? uint8_t(hw::wire::aeth::kRnrNak) : syndrome;
}

}  // namespace

bool is_positive(uint8_t syndrome) {
  return syndrome >> 5 == 0;
}
bool is_rnr(uint8_t syndrome) {
  return syndrome >> 5 == 1;
}
bool is_fatal(uint8_t syndrome) {
  return syndrome >> 5 == 3 && syndrome != hw::wire::aeth::kNakSequence;
}

void NakJudge::went_back(uint32_t psn, uint32_t psns) {
  for (Waiting& w : waiting_) {
    const int32_t offset = distance24(w.nak.packet.psn, psn);
    if (offset >= 0 && uint32_t(offset) < psns) w.retried = true;
  }
  const uint32_t end = (psn + psns) & traces::kPsnMask;
  if (!returns_.empty() && returns_.back().end == psn) {
    returns_.back().end = end;
    return;
  }
  if (returns_.size() == kMaxReturns) returns_.erase(returns_.begin());
  returns_.push_back({psn, end});
}

bool NakJudge::was_retried(uint32_t psn) const {
  return std::any_of(returns_.begin(), returns_.end(),
                     [psn](const Return& r) { return distance24(psn, r.first) >= 0 && distance24(psn, r.end) < 0; });
}

void NakJudge::nak(Side side, const Sighting& nak, uint32_t other_covered, VerdictCounts& counts) {
  const TransportPacket& p = nak.packet;
  const bool after_rnr = side == kCaptured && has_rnr_ && rnr_psn_ == p.psn && !is_rnr(p.syndrome);
  if (side == kCaptured && is_rnr(p.syndrome)) {
    rnr_psn_ = p.psn;
    has_rnr_ = true;
  }
  if (pair(side, nak, counts)) return;
  if (waiting_.size() == kMaxWaiting) resolve(0, counts);
  const bool is_passed = distance24(p.psn, other_covered) <= 0;
  waiting_.push_back({nak, side, was_retried(p.psn), after_rnr});
  if (is_passed) resolve(waiting_.size() - 1, counts);
}

bool NakJudge::pair(Side side, const Sighting& nak, VerdictCounts& counts) {
  const TransportPacket& p = nak.packet;
  const auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
    return w.side != side && w.nak.packet.psn == p.psn && kind_of(w.nak.packet.syndrome) == kind_of(p.syndrome);
  });
  if (same == waiting_.end()) return false;
  const Sighting& captured = side == kCaptured ? nak : same->nak;
  const Sighting& simulated = side == kCaptured ? same->nak : nak;
  if (captured.packet.msn != simulated.packet.msn)
    counts.give(Verdict::kDifferent, &captured, &simulated, "other MSN");
  else if (captured.packet.syndrome != simulated.packet.syndrome)
    counts.give(Verdict::kEquivalent, &captured, &simulated, "another RNR timer");
  else
    counts.give(Verdict::kMatch, &captured, &simulated, "the same");
  waiting_.erase(same);
  return true;
}

void NakJudge::cover(Side side, uint32_t psn, VerdictCounts& counts) {
  for (size_t i = 0; i < waiting_.size();) {
    const Waiting& w = waiting_[i];
    if (w.side == side || distance24(w.nak.packet.psn, psn) > 0) {
      i++;
      continue;
    }
    resolve(i, counts);
    i = 0;  // its partner may have stood before it
  }
}

// One of the other side that contradicts it: for the same PSN, else of the same kind. One that the requester reacted to
// was right.
size_t NakJudge::find_partner(size_t i) const {
  const Waiting& w = waiting_[i];
  size_t of_kind = waiting_.size();
  for (size_t k = 0; k < waiting_.size(); k++) {
    const Waiting& o = waiting_[k];
    const Waiting& simulated = w.side == kSimulated ? w : o;
    if (o.side == w.side || simulated.retried) continue;
    if (o.nak.packet.psn == w.nak.packet.psn && !o.after_rnr && !w.after_rnr) return k;
    if (kind_of(o.nak.packet.syndrome) == kind_of(w.nak.packet.syndrome)) of_kind = std::min(of_kind, k);
  }
  return of_kind;
}

// Takes waiting_[i] out: no counterpart can come any more.
void NakJudge::resolve(size_t i, VerdictCounts& counts) {
  const size_t partner = find_partner(i);
  const Waiting w = waiting_[i];
  if (partner < waiting_.size()) {
    contradict(w, waiting_[partner], counts);
    waiting_.erase(waiting_.begin() + std::ptrdiff_t(std::max(i, partner)));
    waiting_.erase(waiting_.begin() + std::ptrdiff_t(std::min(i, partner)));
    return;
  }
  waiting_.erase(waiting_.begin() + std::ptrdiff_t(i));
  if (w.side == kCaptured)
    resolve_captured(w, counts);
  else
    resolve_simulated(w, counts);
}

void NakJudge::contradict(const Waiting& a, const Waiting& b, VerdictCounts& counts) {
  const Sighting& captured = a.side == kCaptured ? a.nak : b.nak;
  const Sighting& simulated = a.side == kCaptured ? b.nak : a.nak;
  const bool long_send = captured.packet.psn == simulated.packet.psn &&
                         captured.packet.syndrome == hw::wire::aeth::kNakRemoteOperation &&
                         simulated.packet.syndrome == hw::wire::aeth::kNakInvalidRequest;
  if (long_send && departs(peer_, Quirk::kOperationalErrorForLongSend))
    counts.depart(Quirk::kOperationalErrorForLongSend, &captured, &simulated);
  else
    counts.give(Verdict::kDifferent, &captured, &simulated, "another NAK");
}

void NakJudge::resolve_captured(const Waiting& w, VerdictCounts& counts) {
  if (w.after_rnr && departs(peer_, Quirk::kNakAfterRnr))
    counts.depart(Quirk::kNakAfterRnr, &w.nak, nullptr);
  else
    counts.give(Verdict::kMissing, &w.nak, nullptr, "the NIC sent no such NAK");
}

void NakJudge::resolve_simulated(const Waiting& w, VerdictCounts& counts) {
  if (w.retried)
    counts.give(Verdict::kUnseen, nullptr, &w.nak, "the requester went back to it");
  else
    counts.give(Verdict::kExtra, nullptr, &w.nak, "the endpoint acknowledged the PSN without a retry");
}

bool NakJudge::withdraw(Side side, uint32_t psn, uint8_t syndrome) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
    return w.side == side && w.nak.packet.psn == psn && w.nak.packet.syndrome == syndrome;
  });
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void NakJudge::give_up(VerdictCounts& counts, const char* reason) {
  for (const Waiting& w : waiting_)
    counts.give(Verdict::kNotComparable, w.side == kCaptured ? &w.nak : nullptr, w.side == kCaptured ? nullptr : &w.nak,
                reason);
  waiting_ = {};
  has_rnr_ = false;
}

void NakJudge::finish(VerdictCounts& counts) {
  for (size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].side == kCaptured) {
      resolve(i, counts);
      i = 0;
    } else {
      i++;
    }
  }
  for (const Waiting& w : waiting_)
    counts.give(Verdict::kUnseen, nullptr, &w.nak, "the endpoint's own is not in the capture, nor a later answer");
  waiting_ = {};
}

}  // namespace sim
