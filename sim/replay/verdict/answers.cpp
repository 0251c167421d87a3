#include "sim/replay/verdict/answers.hpp"

#include <algorithm>
#include <utility>

#include "hw/bus/wire.hpp"
#include "sim/replay/verdict/exact_acks.hpp"
#include "sim/replay/verdict/naks.hpp"
#include "sim/replay/verdict/reads.hpp"
#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr uint32_t kAllPsns = 0x7fffff;  // that lie ahead of a PSN

bool is_invalidate(uint8_t opcode) {
  return traces::operation_of(opcode).headers[0] == traces::Header::kIeth;
}

}  // namespace

// Taken at the first NAK, READ or retry.
struct AnswerVerdict::Outstanding {
  explicit Outstanding(Peer peer) : naks(peer), reads(peer) {}
  NakJudge naks;
  ReadJudge reads;
  ExactAcks exact;
  Sighting fatal_nak;  // of the endpoint
};

AnswerVerdict::AnswerVerdict(const VerdictOptions& options, Verdicts& verdicts)
    : verdicts_(&verdicts), options_(options) {}
AnswerVerdict::AnswerVerdict(AnswerVerdict&&) noexcept = default;
AnswerVerdict::~AnswerVerdict() = default;

AnswerVerdict::Outstanding& AnswerVerdict::outstanding() {
  if (!outstanding_) outstanding_ = std::make_unique<Outstanding>(options_.peer);
  return *outstanding_;
}

void AnswerVerdict::request(uint32_t psn, uint32_t psns, uint8_t opcode, bool ack_request, bool again, uint64_t index) {
  index_ = index;
  if (!started_) {
    started_ = true;
    floor_ = next_psn_ = psn;
    acks_.start(psn);
  }
  const bool goes_back = distance24(psn, next_psn_) < 0;
  if (!goes_back) next_psn_ = (psn + psns) & traces::kPsnMask;
  if (hole_psns_ > 0) fill_hole(psn, psns);
  acks_.request(psn, psns, ack_request, again || goes_back);
  if (again || goes_back) outstanding().naks.went_back(psn, psns);
  if (is_invalidate(opcode)) {
    invalidate_ = psn;
    invalidates_ = true;
  }
  if (traces::operation_of(opcode).verb == traces::Verb::kReadRequest)
    outstanding().reads.request(psn, psns, again || goes_back, verdicts_->answers);
}

void AnswerVerdict::captured(const TransportPacket& packet, uint64_t index, int64_t time_ns) {
  index_ = index;
  answer(kCaptured, {packet, index, time_ns});
}

void AnswerVerdict::simulated(const TransportPacket& packet) {
  answer(kSimulated, {packet, index_, 0});
}

void AnswerVerdict::answer(Side side, const Sighting& sighting) {
  if (const char* reason = why_not_comparable(side, sighting.packet.psn)) {
    const bool is_captured = side == kCaptured;
    return verdicts_->answers.give(Verdict::kNotComparable, is_captured ? &sighting : nullptr,
                                   is_captured ? nullptr : &sighting, reason);
  }
  if (options_.ack_compare == AckCompare::kExact && sighting.packet.opcode == traces::kOpcodeRcAck)
    outstanding().exact.add(side, sighting, verdicts_->exact_acks);
  if (!is_refused(side, sighting)) judge(side, sighting);
}

// Null where it is comparable.
const char* AnswerVerdict::why_not_comparable(Side side, uint32_t psn) const {
  if (!started_ || (side == kCaptured && distance24(psn, next_psn_) >= 0)) return "the request was not fed";
  if (distance24(psn, floor_) < 0) return "from before the NIC's state was set";
  if (hole_psns_ > 0 && distance24(psn, hole_) >= 0) return "rests on requests that the NIC was not fed";
  return nullptr;
}

void AnswerVerdict::judge(Side side, const Sighting& sighting) {
  const TransportPacket& p = sighting.packet;
  if (traces::operation_of(p.opcode).verb == traces::Verb::kReadResponse) {
    if (side == kCaptured && serves_beyond_limit(p.psn)) return end(Quirk::kNoResourceLimit, &sighting, nullptr);
    outstanding().reads.response(side, sighting, verdicts_->answers);
  } else if (is_positive(p.syndrome)) {
    acks_.acknowledge(side, sighting, verdicts_->answers);
  } else {
    return judge_nak(side, sighting);
  }
  cover(side, p.psn);
}

// The NIC refused a READ that the endpoint answers.
bool AnswerVerdict::serves_beyond_limit(uint32_t psn) {
  return departs(options_.peer, Quirk::kNoResourceLimit) &&
         outstanding().naks.withdraw(kSimulated, psn, hw::wire::aeth::kNakInvalidRequest);
}

void AnswerVerdict::cover(Side side, uint32_t psn) {
  acks_.cover(side, psn, verdicts_->answers);
  if (outstanding_) outstanding_->naks.cover(side, psn, verdicts_->answers);
}

void AnswerVerdict::judge_nak(Side side, const Sighting& sighting) {
  const TransportPacket& p = sighting.packet;
  if (side == kSimulated && is_fatal(p.syndrome)) {
    if (invalidates_ && p.psn == invalidate_ && departs(options_.peer, Quirk::kSilenceAfterInvalidate))
      return end(Quirk::kSilenceAfterInvalidate, nullptr, &sighting);
    if (p.syndrome == hw::wire::aeth::kNakInvalidRequest && departs(options_.peer, Quirk::kNoResourceLimit) &&
        outstanding().reads.is_answered(p.psn))
      return end(Quirk::kNoResourceLimit, nullptr, &sighting);
  }
  const uint32_t before = (p.psn - 1) & traces::kPsnMask;
  acks_.cover(side, before, verdicts_->answers);
  const bool is_judged = side == kCaptured && is_fatal(p.syndrome) && refuse(sighting);
  if (!is_judged) outstanding().naks.nak(side, sighting, acks_.covered(other(side)), verdicts_->answers);
  outstanding().naks.cover(side, before, verdicts_->answers);  // last: the two may be a pair
}

// One of the two queue pairs is dead from here on, and that is no failure.
void AnswerVerdict::end(Quirk quirk, const Sighting* captured, const Sighting* simulated) {
  verdicts_->answers.depart(quirk, captured, simulated);
  give_up(row_of(quirk).sentence);
  hole_ = (captured != nullptr ? captured : simulated)->packet.psn;
  hole_psns_ = kAllPsns;
}

// The endpoint's queue pair is dead from here on: whatever else the NIC sent for these PSNs is wrong. True when it sent
// something.
bool AnswerVerdict::refuse(const Sighting& nak) {
  is_refused_ = true;
  refused_ = nak.packet.psn;
  outstanding().fatal_nak = nak;
  outstanding().fatal_nak.packet.payload = {};
  const uint64_t acks = acks_.refuse(refused_, nak, verdicts_->answers);
  return acks + outstanding().reads.refuse(refused_, nak, verdicts_->answers) > 0;
}

bool AnswerVerdict::is_refused(Side side, const Sighting& sighting) {
  const TransportPacket& p = sighting.packet;
  if (side != kSimulated || !is_refused_ || distance24(p.psn, refused_) < 0) return false;
  const bool has_aeth = traces::operation_of(p.opcode).verb != traces::Verb::kReadResponse;
  if (has_aeth && !is_positive(p.syndrome)) return false;
  verdicts_->answers.give(Verdict::kDifferent, &outstanding().fatal_nak, &sighting, "the endpoint refused it");
  outstanding().naks.withdraw(kCaptured, refused_, outstanding().fatal_nak.packet.syndrome);
  return true;
}

void AnswerVerdict::not_fed(uint32_t psn, uint32_t count) {
  if (hole_psns_ == 0) {
    hole_ = psn;
    hole_psns_ = count;
  } else {
    const int32_t end = distance24((psn + count) & traces::kPsnMask, hole_);
    hole_psns_ = uint32_t(std::max(int32_t(hole_psns_), end));
  }
}

// The requester sends again what the capture did not hold.
void AnswerVerdict::fill_hole(uint32_t psn, uint32_t psns) {
  const int32_t end = distance24((psn + psns) & traces::kPsnMask, hole_);
  if (hole_psns_ == kAllPsns || distance24(psn, hole_) > 0 || end <= 0) return;
  const uint32_t filled = std::min(uint32_t(end), hole_psns_);
  hole_ = (hole_ + filled) & traces::kPsnMask;
  hole_psns_ -= filled;
}

void AnswerVerdict::give_up(const char* reason) {
  acks_.give_up(verdicts_->answers, reason);
  if (!outstanding_) return;
  outstanding_->naks.give_up(verdicts_->answers, reason);
  outstanding_->reads.give_up(verdicts_->answers, reason);
  outstanding_->exact.give_up(verdicts_->exact_acks, reason);
}

void AnswerVerdict::restart(uint32_t psn, uint32_t msn) {
  give_up("the NIC's state was set anew");
  acks_.restart(psn, msn);
  started_ = true;
  floor_ = next_psn_ = psn;
  hole_psns_ = 0;
  is_refused_ = invalidates_ = false;
}

void AnswerVerdict::finish(bool other_direction_captured) {
  if (!other_direction_captured) give_up("the capture holds no answers");
  acks_.finish(options_.peer, verdicts_->answers);
  if (!outstanding_) return;
  outstanding_->naks.finish(verdicts_->answers);
  outstanding_->reads.finish(acks_.covered(kCaptured), verdicts_->answers);
  outstanding_->exact.finish(verdicts_->exact_acks);
  outstanding_.reset();
}

}  // namespace sim
