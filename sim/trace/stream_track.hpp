// A stream as a traced run sees it: where each of its tokens came from, when it got room, and how long it was full.
#pragma once
#include <deque>

#include "sim/kernel/token_look.hpp"
#include "sim/trace/events.hpp"

namespace sim {

struct TrackedToken {
  EventId written = 0;  // by this event
  uint32_t tag = 0;     // its packet, or that of the step that wrote it
  hw::Cycles ready = 0;
  TokenLook look;  // without the pointer
};

class StreamTrack {
 public:
  StreamTrack(hw::StreamBase& stream, TokenLooker looker)
      : stream_(&stream), looker_(looker), delay_(stream.depth() + hw::latency_of(stream.spec().kind)) {}

  const hw::StreamBase& stream() const { return *stream_; }
  bool was_read(hw::Cycles cycle) const { return stream_->last_read() == cycle; }
  bool was_written(hw::Cycles cycle) const { return stream_->last_write() == cycle; }
  TokenLook look() const { return looker_(*stream_); }

  void write(TrackedToken token, hw::Cycles cycle) {
    settle(cycle);
    token.ready = cycle + delay_;
    token.look.tag = nullptr;
    tokens_.push_back(token);
  }
  TrackedToken read(hw::Cycles cycle) {
    settle(cycle);
    const TrackedToken token = tokens_.front();
    tokens_.pop_front();
    if (was_full_[0]) last_room_ = reads_[0].event;
    was_full_[0] = was_full_[1];
    reads_[0] = reads_[1];
    was_full_[1] = full_;
    reads_[1] = {cycle, 0};
    return token;
  }
  // The event of the last read, once it has a number.
  void read_by(EventId event) { reads_[1].event = event; }

  // The read in the cycle before `cycle` that gave room to a full stream; 0: there was none.
  EventId gave_room(hw::Cycles cycle) const {
    for (int i = 0; i < 2; i++)
      if (was_full_[i] && reads_[i].cycle + 1 == cycle) return reads_[i].event;
    return 0;
  }

  // The latest read that gave room to a full stream; 0: there was none.
  EventId last_room() const { return was_full_[1] ? reads_[1].event : was_full_[0] ? reads_[0].event : last_room_; }

  size_t fill() const { return tokens_.size(); }
  // When the next token can be read; kForever when there is none.
  hw::Cycles head_ready() const { return tokens_.empty() ? hw::kForever : tokens_.front().ready; }
  uint64_t cycles_full() const { return cycles_full_; }
  // To be called at the end.
  void settle(hw::Cycles cycle) {
    if (cycle == settled_) return;
    // What the cycles from settled_ + 1 to `cycle` begin with.
    full_ = tokens_.size() == stream_->spec().capacity;
    if (full_) cycles_full_ += cycle - settled_;
    fill_cycles_ += tokens_.size() * (cycle - settled_);
    settled_ = cycle;
  }
  uint64_t fill_cycles() const { return fill_cycles_; }  // sum of the fill over all cycles

 private:
  struct Read {
    hw::Cycles cycle = hw::kForever - 1;
    EventId event = 0;
  };
  hw::StreamBase* stream_;
  TokenLooker looker_;
  hw::Cycles delay_;
  std::deque<TrackedToken> tokens_;
  bool full_ = false;  // at the start of cycle settled_
  bool was_full_[2] = {false, false};
  Read reads_[2];
  EventId last_room_ = 0;  // before these
  hw::Cycles settled_ = 0;
  uint64_t cycles_full_ = 0, fill_cycles_ = 0;
};

}  // namespace sim
