#include "traces/outstanding_reads.hpp"

#include "traces/psn.hpp"

namespace traces {
namespace {

constexpr uint32_t kPsnMask = 0xffffff;

}  // namespace

void OutstandingReads::request(uint32_t psn, uint32_t count, int64_t time_ns) {
  if (!reads_) reads_ = std::make_unique<std::array<Read, kDepth>>();
  while (used_ != 0 && time_ns - at(0).sent_ns > kHorizon_ns) give_up_front(&Losses::tap);
  if (used_ == kDepth) give_up_front(&Losses::unknown);
  at(used_++) = {psn, (psn + count - 1) & kPsnMask, psn, 0, time_ns, false};
}

void OutstandingReads::correct_newest(uint32_t count) {
  if (used_ != 0) at(used_ - 1).last = (at(used_ - 1).first + count - 1) & kPsnMask;
}

bool OutstandingReads::retry(uint32_t psn) {
  bool missed = false;
  for (uint32_t i = 0; i < used_; ++i) {
    Read& read = at(i);
    if (distance24(psn, read.last) > 0) continue;
    missed = missed || read.missing != 0;
    if (read.missing == 0) continue;
    losses_.wire += read.missing;
    ++losses_.ranges;
    read.missing = 0;
    read.complete = false;
    read.next = distance24(psn, read.first) > 0 ? psn : read.first;
  }
  return missed;
}

OutstandingReads::Response OutstandingReads::response(uint32_t psn, int64_t time_ns) {
  Response result;
  for (uint32_t i = 0; i < used_; ++i) {
    Read& read = at(i);
    if (distance24(psn, read.last) > 0) continue;
    if (distance24(psn, read.first) < 0) break;
    const int32_t ahead = distance24(psn, read.next);
    if (ahead < 0) {
      result.packet_class = read.missing != 0 ? PacketClass::kOutOfOrder : PacketClass::kRetransmission;
      if (read.missing != 0) --read.missing;
    } else {
      read.missing += static_cast<uint32_t>(ahead);
      read.next = (psn + 1) & kPsnMask;
    }
    if (psn == read.last && !read.complete) {
      read.complete = true;
      result.latency_ns = time_ns - read.sent_ns;
    }
    pop_complete();
    return result;
  }
  result.packet_class = PacketClass::kRetransmission;
  return result;
}

void OutstandingReads::pop_complete() {
  while (used_ != 0 && at(0).complete && at(0).missing == 0) {
    front_ = (front_ + 1) % kDepth;
    --used_;
  }
}

void OutstandingReads::give_up_front(uint64_t Losses::*kind) {
  const Read& read = at(0);
  uint32_t missing = read.missing;
  if (!read.complete) {
    missing += static_cast<uint32_t>(distance24(read.last, read.next)) + 1;
    ++untimed_;
  }
  losses_.*kind += missing;
  losses_.ranges += missing != 0;
  front_ = (front_ + 1) % kDepth;
  --used_;
  pop_complete();
}

void OutstandingReads::finish() {
  while (used_ != 0) give_up_front(&Losses::unknown);
}

}  // namespace traces
