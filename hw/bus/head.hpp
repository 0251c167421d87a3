// Where a header is longer than a beat: the beats of its frame, counted and gathered.
#pragma once
#include "beat.hpp"

namespace hw {

// How many beats of W bits it takes to see the first `bytes` bytes of a frame.
template <unsigned W>
constexpr int beats_of(int bytes) {
  return (bytes * 8 + int(W) - 1) / int(W);
}

// The first BEATS beats of a frame, as state of a stage: with_next() in every cycle that takes one of them, then
// keep().
template <unsigned W, int BEATS>
struct Head {
  enum { kBits = BEATS * W };

  // How many are there already: 0 .. BEATS - 1.
  const Bits<clog2(BEATS)>& count() const { return count_; }
  bool lacks_one() const { return count_ == Bits<clog2(BEATS)>(BEATS - 1); }
  // What is there with the beat `data` behind it, the rest zero.
  Bits<kBits> with_next(const Bits<W>& data) const {
    Bits<kBits> all;
    Each<BEATS - 1>::read(*this, data, all);
    return all;
  }
  // The same when count() is known to be COUNT, without a multiplexer: only what there is.
  template <int COUNT>
  Bits<(COUNT + 1) * W> with_next_at(const Bits<W>& data) const {
    return Gather<COUNT>::of(before_, data);
  }
  // Takes the beat; `done`: the next one begins another head.
  void keep(const Bits<W>& data, bool done) {
    Each<BEATS - 2>::write(*this, data);
    count_ = done ? Bits<clog2(BEATS)>(0) : count_ + Bits<clog2(BEATS)>(1);
  }

 private:
  // Place PLACE and those before it.
  template <int PLACE, int NONE = 0>
  struct Each {
    static void read(const Head& head, const Bits<W>& data, Bits<kBits>& all) {
      Each<PLACE - 1>::read(head, data, all);
      if (head.count_ == Bits<clog2(BEATS)>(PLACE)) {
        all.template set<PLACE* int(W)>(data);
      } else if (Bits<clog2(BEATS)>(PLACE).ult(head.count_)) {
        all.template set<PLACE* int(W)>(head.before_[PLACE % (BEATS - 1)]);
      }
    }
    static void write(Head& head, const Bits<W>& data) {
      Each<PLACE - 1>::write(head, data);
      if (head.count_ == Bits<clog2(BEATS)>(PLACE)) head.before_[PLACE] = data;
    }
  };
  template <int NONE>
  struct Each<-1, NONE> {
    static void read(const Head&, const Bits<W>&, Bits<kBits>&) {}
    static void write(Head&, const Bits<W>&) {}
  };

  template <int COUNT, int NONE = 0>
  struct Gather {
    static Bits<(COUNT + 1) * W> of(const Bits<W>* before, const Bits<W>& last) {
      return cat(last, Gather<COUNT - 1>::of(before, before[COUNT - 1]));
    }
  };
  template <int NONE>
  struct Gather<0, NONE> {
    static const Bits<W>& of(const Bits<W>*, const Bits<W>& last) { return last; }
  };

  Bits<W> before_[BEATS - 1];
  Bits<clog2(BEATS)> count_;
};

// One beat is a head by itself.
template <unsigned W>
struct Head<W, 1> {
  enum { kBits = W };

  Bits<1> count() const { return Bits<1>(0); }
  bool lacks_one() const { return true; }
  const Bits<W>& with_next(const Bits<W>& data) const { return data; }
  template <int COUNT>
  const Bits<W>& with_next_at(const Bits<W>& data) const {
    return data;
  }
  void keep(const Bits<W>&, bool) {}
};

}  // namespace hw
