// The last beats that came, for a stage that must see N more of them before it knows what to do with one.
#pragma once
#include "head.hpp"

namespace hw {

// A queue of N beats, all of them in sight, and the `next` beat on the bus behind them. In a step: look, then move().
template <unsigned W, int N>
struct BeatLine {
  // Whether there is an oldest beat; `next`: whether there is a next one.
  bool has_oldest(bool /*next*/) const { return fill_ != Fill(0); }
  bool full() const { return fill_ == Fill(N); }
  const Beat<W>& oldest(const Beat<W>& /*next*/) const { return beats_[0]; }
  // Whether the end of a packet is among them.
  bool has_last() const {
    Bits<1> any;
    for (int i = 0; i < N; i++) any = any | beats_[i].last;
    return bool(any);
  }
  // All data, the oldest first.
  Bits<(N + 1) * W> data(const Bits<W>& next) const { return cat(next, Join<N>::of(beats_)); }

  // Gives the oldest up, takes `next`, or both. Places behind the last beat stay empty, without `last`.
  void move(bool leaves, bool enters, const Beat<W>& next) {
    if (leaves) {
      for (int i = 0; i + 1 < N; i++) beats_[i] = beats_[i + 1];
      beats_[N - 1] = Beat<W>();
      fill_ = fill_ - Fill(1);
    }
    if (!enters) return;
    for (int i = 0; i < N; i++) {
      if (fill_ == Fill(uint64_t(i))) beats_[i] = next;
    }
    fill_ = fill_ + Fill(1);
  }

 private:
  typedef Bits<clog2(N + 1)> Fill;
  template <int COUNT, int NONE = 0>
  struct Join {
    static Bits<COUNT * W> of(const Beat<W>* beats) { return cat(beats[COUNT - 1].data, Join<COUNT - 1>::of(beats)); }
  };
  template <int NONE>
  struct Join<1, NONE> {
    static const Bits<W>& of(const Beat<W>* beats) { return beats[0].data; }
  };

  Beat<W> beats_[N];
  Fill fill_;
};

// Without any, the next beat is the oldest one.
template <unsigned W>
struct BeatLine<W, 0> {
  bool has_oldest(bool next) const { return next; }
  bool full() const { return true; }
  const Beat<W>& oldest(const Beat<W>& next) const { return next; }
  bool has_last() const { return false; }
  const Bits<W>& data(const Bits<W>& next) const { return next; }
  void move(bool, bool, const Beat<W>&) {}
};

// Frames on their way through a line in which each waits until its first BYTES bytes are in sight, or its end: on a bus
// narrower than that. `next` and `has_next`: the beat on the bus. In a step: look, then move().
template <unsigned W, int BYTES>
struct HeadLine {
  enum { kLine = beats_of<W>(BYTES) - 1, kBits = (kLine + 1) * int(W) };

  // The oldest beat is the first one of its frame.
  bool first() const { return !bool(inside_); }
  // It may leave.
  bool ready(bool has_next) const {
    return line_.has_oldest(has_next) && (bool(inside_) || line_.has_last() || (line_.full() && has_next));
  }
  // The next one may come in.
  bool room(bool leaves) const { return leaves || !line_.full(); }
  // When a first beat may leave: whether all of the head is there.
  bool whole(const Beat<W>& next) const {
    return !line_.has_last() && !next.bytes.ult(typename Beat<W>::Count(BYTES - kLine * int(W) / 8));
  }
  const Beat<W>& oldest(const Beat<W>& next) const { return line_.oldest(next); }
  // The oldest beat and what follows it.
  decltype(auto) data(const Beat<W>& next) const { return line_.data(next.data); }

  void move(bool leaves, bool enters, const Beat<W>& next) {
    if (leaves) inside_ = ~line_.oldest(next).last;
    line_.move(leaves, enters, next);
  }

 private:
  BeatLine<W, kLine> line_;  // the beats before the one on the bus
  Bits<1> inside_;           // the oldest beat is not the first one of its frame
};

}  // namespace hw
