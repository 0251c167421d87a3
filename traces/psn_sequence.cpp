#include "traces/psn_sequence.hpp"

#include <algorithm>

#include "traces/psn.hpp"

namespace traces {

void PsnSequence::start(uint32_t psn) {
  started_ = true;
  first_ = next_ = psn;
}

bool PsnSequence::outstanding() const {
  return started_ && (!any_acknowledged_ || distance24(next_, acknowledged_) > 1);
}

SequenceStep PsnSequence::step(uint32_t psn, uint32_t count, int64_t time_ns) {
  const int32_t ahead = distance24(psn, next_);
  if (ahead < 0) {
    if (Hole* hole = hole_with(psn)) return step_into(*hole, psn, count, time_ns);
    return step_again(psn, count, time_ns);
  }
  // A retry goes on to where the requester was, so what it has not reached was lost again.
  if (in_run_ && run_next_ != next_)
    open(run_next_, static_cast<uint32_t>(distance24(next_, run_next_)), time_ns, true);
  if (ahead > 0) open(next_, static_cast<uint32_t>(ahead), time_ns, false);
  next_ = (psn + count) & kPsnMask;
  in_run_ = false;
  late_count_ = 0;
  SequenceStep step;
  step.gap = static_cast<uint32_t>(ahead);
  return step;
}

// A packet that the tap has not seen before, behind one that it has: late, or sent again because it was lost.
SequenceStep PsnSequence::step_into(Hole& hole, uint32_t psn, uint32_t count, int64_t time_ns) {
  const bool goes_on = in_run_ && psn == run_next_;
  const bool sent_again = goes_on || hole.named || time_ns - hole.opened_ns > kReorderWindow_ns;
  SequenceStep step;
  step.fills_hole = !hole.again;
  if (!sent_again) {
    fill(hole, psn, count);
    late_count_ = late_count_ != 0 && psn == late_next_ ? late_count_ + 1 : 1;
    late_next_ = (psn + count) & kPsnMask;
    step.packet_class = PacketClass::kOutOfOrder;
    return step;
  }
  step.packet_class = PacketClass::kRetransmission;
  step.retry = !goes_on;
  if (step.retry) run_first_ = psn;
  // What is missing side by side is taken as lost together. A run that began before the hole would have passed over it
  // in any case.
  hole.named = hole.named || distance24(run_first_, hole.first) >= 0;
  if (hole.named || !hole.again) {
    (hole.named ? losses_.wire : losses_.unknown) += held_by(hole, psn, count);
    losses_.ranges += !hole.counted;
    hole.counted = true;
  }
  fill(hole, psn, count);
  in_run_ = true;
  run_next_ = (psn + count) & kPsnMask;
  return step;
}

// A retry goes through the PSNs in order, so one that is passed over was lost; another retry would begin at the PSN
// that a NAK names, or before.
bool PsnSequence::skips_in_run(uint32_t psn) const {
  const bool is_named = refused_seen_ && refused_ == psn;
  return in_run_ && !is_named && distance24(psn, run_next_) > 0;
}

SequenceStep PsnSequence::step_again(uint32_t psn, uint32_t count, int64_t time_ns) {
  SequenceStep step;
  step.packet_class = PacketClass::kRetransmission;
  if (skips_in_run(psn)) {
    step.gap = static_cast<uint32_t>(distance24(psn, run_next_));
    open(run_next_, step.gap, time_ns, true);
    run_next_ = psn;
  }
  step.retry = !(in_run_ && psn == run_next_);
  if (step.retry) run_first_ = psn;
  if (late_count_ != 0 && psn == late_next_) {  // the packets that filled the hole were the begin of this run
    step.reclassified = late_count_;
    losses_.wire += late_count_;
    ++losses_.ranges;
    run_first_ = (psn - late_count_) & kPsnMask;
  }
  late_count_ = 0;
  refused_seen_ = false;
  in_run_ = true;
  run_next_ = (psn + count) & kPsnMask;
  return step;
}

bool PsnSequence::continues_run(uint32_t psn) const {
  return in_run_ && distance24(psn, run_next_) >= 0;
}

void PsnSequence::open(uint32_t first, uint32_t count, int64_t time_ns, bool again) {
  if (holes_used_ == kHoles) {
    lose(holes_[0], &Losses::unknown, holes_[0].count);
    erase(0);
  }
  holes_[holes_used_++] = {first, count, time_ns, false, again, false};
}

PsnSequence::Hole* PsnSequence::hole_with(uint32_t psn) {
  for (uint32_t i = 0; i < holes_used_; ++i) {
    const int32_t offset = distance24(psn, holes_[i].first);
    if (offset >= 0 && offset < static_cast<int32_t>(holes_[i].count)) return &holes_[i];
  }
  return nullptr;
}

uint32_t PsnSequence::held_by(const Hole& hole, uint32_t psn, uint32_t count) {
  return std::min(count, hole.count - ((psn - hole.first) & kPsnMask));
}

// Takes what a packet holds out of a hole, and splits the hole where there is room.
void PsnSequence::fill(Hole& hole, uint32_t psn, uint32_t count) {
  const uint32_t before = (psn - hole.first) & kPsnMask;
  const uint32_t taken = held_by(hole, psn, count);
  const uint32_t after = hole.count - before - taken;
  const auto index = static_cast<uint32_t>(&hole - holes_.data());
  if (before != 0 && after != 0 && holes_used_ < kHoles) {
    Hole rest = hole;
    rest.first = (psn + taken) & kPsnMask;
    rest.count = after;
    hole.count = before;
    std::copy_backward(&hole + 1, holes_.data() + holes_used_, holes_.data() + holes_used_ + 1);
    holes_[index + 1] = rest;
    ++holes_used_;
  } else if (before != 0) {
    hole.count = before + after;  // without room, the rest counts from where it began
  } else if (after != 0) {
    hole.first = (psn + taken) & kPsnMask;
    hole.count = after;
  } else {
    erase(index);
  }
}

// A second transmission that nobody missed counts for nothing: the first one may have arrived.
void PsnSequence::lose(Hole& hole, uint64_t Losses::*kind, uint32_t count) {
  if (hole.again && !hole.named) return;
  losses_.*kind += count;
  losses_.ranges += !hole.counted;
  hole.counted = true;
}

void PsnSequence::erase(uint32_t index) {
  std::copy(holes_.begin() + index + 1, holes_.begin() + holes_used_, holes_.begin() + index);
  --holes_used_;
}

bool PsnSequence::acknowledge(uint32_t psn) {
  if (any_acknowledged_ && distance24(psn, acknowledged_) <= 0) return false;
  if (!started_ || distance24(psn, next_) >= 0) return false;  // answers what the tap has not seen
  any_acknowledged_ = true;
  acknowledged_ = psn;
  for (uint32_t i = 0; i < holes_used_;) {
    Hole& hole = holes_[i];
    const int32_t covered = distance24(psn, hole.first) + 1;
    if (covered <= 0) {
      ++i;
      continue;
    }
    // Named by a NAK, it has arrived since: the tap has missed the second transmission.
    const auto kind = hole.named ? &Losses::wire : &Losses::tap;
    if (covered >= static_cast<int32_t>(hole.count)) {
      lose(hole, kind, hole.count);
      erase(i);
    } else {
      lose(hole, kind, static_cast<uint32_t>(covered));
      hole.first = (psn + 1) & kPsnMask;
      hole.count -= static_cast<uint32_t>(covered);
      ++i;
    }
  }
  return true;
}

bool PsnSequence::refuse(uint32_t psn) {
  acknowledge((psn - 1) & kPsnMask);
  if (Hole* hole = hole_with(psn)) {
    hole->named = true;
    return false;
  }
  const bool seen = started_ && distance24(psn, next_) < 0 && distance24(psn, first_) >= 0;
  if (!seen || (refused_seen_ && refused_ == psn)) return false;
  refused_seen_ = true;
  refused_ = psn;
  ++losses_.behind;
  ++losses_.ranges;
  return true;
}

void PsnSequence::finish() {
  for (uint32_t i = 0; i < holes_used_; ++i) {
    lose(holes_[i], holes_[i].named ? &Losses::wire : &Losses::unknown, holes_[i].count);
  }
  holes_used_ = 0;
}

void PsnSequence::add_losses(const Losses& more) {
  losses_.wire += more.wire;
  losses_.behind += more.behind;
  losses_.tap += more.tap;
  losses_.unknown += more.unknown;
  losses_.ranges += more.ranges;
}

}  // namespace traces
