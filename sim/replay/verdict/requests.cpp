#include "sim/replay/verdict/requests.hpp"

#include "hw/bus/wire.hpp"
#include "sim/replay/verdict/fresh_requests.hpp"
#include "sim/replay/verdict/naks.hpp"
#include "sim/replay/verdict/returns.hpp"
#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

struct RequestVerdict::Outstanding {
  explicit Outstanding(Peer peer) : returns(peer) {}
  FreshRequests fresh;
  ReturnJudge returns;
};

RequestVerdict::RequestVerdict(const VerdictOptions& options, Verdicts& verdicts)
    : verdicts_(&verdicts), options_(options) {}
RequestVerdict::RequestVerdict(RequestVerdict&&) noexcept = default;
RequestVerdict::~RequestVerdict() = default;

RequestVerdict::Outstanding& RequestVerdict::outstanding() {
  if (!outstanding_) outstanding_ = std::make_unique<Outstanding>(options_.peer);
  return *outstanding_;
}

void RequestVerdict::begin(uint32_t psn) {
  started_ = true;
  next_[kCaptured] = next_[kSimulated] = psn;
  going_back_[kCaptured] = going_back_[kSimulated] = false;
  acknowledged_ = (psn - 1) & traces::kPsnMask;
}

void RequestVerdict::captured(const TransportPacket& packet, uint32_t psns, bool first_sight, uint64_t index,
                              int64_t time_ns) {
  index_ = index;
  const Sighting sighting = {packet, index, time_ns};
  if (!started_) begin(packet.psn);
  const bool goes_back = distance24(packet.psn, next_[kCaptured]) < 0;
  if (first_sight) outstanding().fresh.add(kCaptured, sighting, psns, verdicts_->requests);
  if (goes_back)
    sent_again(kCaptured, sighting, psns);
  else
    went_on(kCaptured, packet.psn, psns);
}

void RequestVerdict::simulated(const TransportPacket& packet, uint32_t psns) {
  const Sighting sighting = {packet, index_, 0};
  if (!started_) begin(packet.psn);
  if (distance24(packet.psn, next_[kSimulated]) < 0) return sent_again(kSimulated, sighting, psns);
  outstanding().fresh.add(kSimulated, sighting, psns, verdicts_->requests);
  went_on(kSimulated, packet.psn, psns);
}

void RequestVerdict::went_on(Side side, uint32_t psn, uint32_t psns) {
  next_[side] = (psn + psns) & traces::kPsnMask;
  going_back_[side] = false;
}

// Packets in the order of their PSNs belong to one return.
void RequestVerdict::sent_again(Side side, const Sighting& sighting, uint32_t psns) {
  const uint32_t psn = sighting.packet.psn;
  const bool goes_on = going_back_[side] && distance24(psn, again_[side]) >= 0;
  again_[side] = (psn + psns) & traces::kPsnMask;
  going_back_[side] = true;
  if (!goes_on) outstanding().returns.went_back(side, sighting, verdicts_->requests);
}

void RequestVerdict::answered(const TransportPacket& packet) {
  const bool has_aeth = traces::operation_of(packet.opcode).verb != traces::Verb::kReadResponse;
  const bool is_nak = has_aeth && !is_positive(packet.syndrome);
  const bool is_recoverable = is_rnr(packet.syndrome) || packet.syndrome == hw::wire::aeth::kNakSequence;
  const bool is_outstanding = distance24(packet.psn, acknowledged_) > 0;
  if (is_nak && is_recoverable && is_outstanding) outstanding().returns.told(packet.psn, verdicts_->requests);
  const uint32_t last = is_nak ? (packet.psn - 1) & traces::kPsnMask : packet.psn;
  if (distance24(last, acknowledged_) <= 0) return;
  const uint32_t first = (acknowledged_ + 1) & traces::kPsnMask;
  acknowledged_ = last;
  if (outstanding_) outstanding_->returns.acknowledge(last, first);
}

void RequestVerdict::not_fed(uint32_t psn, uint32_t count) {
  outstanding().fresh.hole(psn, count, verdicts_->requests);
}

void RequestVerdict::restart(uint32_t psn) {
  begin(psn);
  if (!outstanding_) return;
  outstanding_->fresh.give_up(verdicts_->requests, "the NIC's state was set anew");
  outstanding_->returns.give_up(verdicts_->requests, "the NIC's state was set anew");
}

void RequestVerdict::finish() {
  if (!outstanding_) return;
  outstanding_->fresh.finish(next_[kCaptured], verdicts_->requests);
  outstanding_->returns.finish(verdicts_->requests);
  outstanding_.reset();
}

}  // namespace sim
