#include "traces/outstanding_reads.hpp"

#include "traces/psn.hpp"

namespace traces {
void OutstandingReads::request(uint32_t psn, uint32_t count, int64_t time_ns) {
  if (!reads_) reads_ = std::make_unique<std::array<Read, kDepth>>();
  while (used_ != 0 && time_ns - at(0).sent_ns > kHorizon_ns) give_up_front(&Losses::tap);
  if (used_ == kDepth) give_up_front(&Losses::unknown);
  Read read;
  read.first = read.next = psn;
  read.last = (psn + count - 1) & kPsnMask;
  read.sent_ns = time_ns;
  uint32_t place = used_++;
  // In order of PSN: one that fills a hole of the capture comes late.
  for (; place != 0 && distance24(at(place - 1).first, psn) > 0; --place) at(place) = at(place - 1);
  at(place) = read;
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
    ask_again(read, psn);
  }
  return missed;
}

// A retry that begins in a READ names what is missing of it. One that began before passes over it in any case.
void OutstandingReads::ask_again(Read& read, uint32_t psn) {
  const bool named = distance24(psn, read.first) >= 0;
  const bool has_begun = read.next != read.first;
  uint32_t lost = read.missing;
  if (named && has_begun && !read.complete && !read.tail_counted) {
    read.revocable = static_cast<uint32_t>(distance24(read.last, read.next)) + 1;
    read.revocable_range = read.missing == 0;
    read.under_way = read.next;
    read.tail_counted = true;
    lost += read.revocable;
  }
  if (lost == 0) return;
  (named ? losses_.wire : losses_.unknown) += lost;
  ++losses_.ranges;
  read.missing = 0;
  read.complete = false;
  read.next = named ? psn : read.first;
}

OutstandingReads::Response OutstandingReads::response(uint32_t psn, int64_t time_ns) {
  Response result;
  for (uint32_t i = 0; i < used_; ++i) {
    Read& read = at(i);
    if (distance24(psn, read.last) > 0) continue;
    if (distance24(psn, read.first) < 0) break;
    const int32_t ahead = distance24(psn, read.next);
    if (ahead > 0 && read.revocable != 0 && psn == read.under_way) {
      read.under_way = (psn + 1) & kPsnMask;
      revoke_one(read);
      return result;
    }
    if (ahead < 0) {
      result.packet_class = read.missing != 0 ? PacketClass::kOutOfOrder : PacketClass::kRetransmission;
      if (read.missing != 0) {
        --read.missing;
      } else if (read.revocable != 0) {
        revoke_one(read);
      }
    } else {
      read.missing += static_cast<uint32_t>(ahead);
      read.next = (psn + 1) & kPsnMask;
    }
    if (psn == read.last && !read.complete) {
      read.complete = true;
      if (!read.timed) result.latency_ns = time_ns - read.sent_ns;
      read.timed = true;
    }
    pop_complete();
    return result;
  }
  result.packet_class = PacketClass::kRetransmission;
  return result;
}

bool OutstandingReads::awaits(uint32_t psn) const {
  for (uint32_t i = 0; i < used_; ++i) {
    const Read& read = at(i);
    if (!read.complete && distance24(psn, read.next) >= 0 && distance24(psn, read.last) <= 0) return true;
  }
  return false;
}

bool OutstandingReads::misses(uint32_t psn) const {
  for (uint32_t i = 0; i < used_; ++i) {
    const Read& read = at(i);
    if (distance24(psn, read.first) >= 0 && distance24(psn, read.last) <= 0) return read.missing != 0;
  }
  return false;
}

void OutstandingReads::revoke_one(Read& read) {
  --losses_.wire;
  if (--read.revocable == 0 && read.revocable_range) --losses_.ranges;
}

void OutstandingReads::pop_complete() {
  while (used_ != 0 && at(0).complete && at(0).missing == 0 && at(0).revocable == 0) {
    front_ = (front_ + 1) % kDepth;
    --used_;
  }
}

void OutstandingReads::give_up_front(uint64_t Losses::*kind) {
  const Read& read = at(0);
  uint32_t missing = read.missing;
  if (!read.complete) {
    if (!read.tail_counted) missing += static_cast<uint32_t>(distance24(read.last, read.next)) + 1;
    untimed_ += !read.timed;
  }
  losses_.*kind += missing;
  losses_.ranges += missing != 0;
  front_ = (front_ + 1) % kDepth;
  --used_;
  pop_complete();
}

// What had not come when the capture ends is not lost.
void OutstandingReads::finish() {
  for (uint32_t i = 0; i < used_; ++i) at(i).tail_counted = true;
  while (used_ != 0) give_up_front(&Losses::unknown);
}

}  // namespace traces
