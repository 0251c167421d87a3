// Store and forward: a packet goes on only when all of it has come and no check has failed, so that nothing of a bad
// packet is seen by a table (docs/protocol.md row 38). Costs one frame time.
//
// The beats lie in a ring. The write pointer commits at a good last beat and goes back to the last commit at a bad one;
// the reader follows up to the commit. A row is free again in the cycle after it is requested (rule 4: the Ram holds
// what it has fetched). A packet larger than the whole ring would wait for ever, so it is dropped; and so is any packet
// that finds no room where the store must not hold up who fills it (kDrops).
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

enum WhenFull : bool { kWaits, kDrops };

template <unsigned W, int BYTES = kStoreBytes, WhenFull WHEN_FULL = kWaits>
struct PacketStore {
  enum : int { kBeats = BYTES / int(W / 8) };
  struct Params {
    uint32_t beats = kBeats;  // 1 .. kBeats
  } params;
  Counter stored, dropped;  // packets
  Counter fullest;          // beats, the most ever held
  HW_COUNTERS(stored, dropped, fullest)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    measure();
    const bool full = write_ - read_ == Pointer(params.beats), none_whole = read_ == committed_;
    forward(out);  // before accept: a commit shows in the next cycle
    accept(in, full, full && (WHEN_FULL == kDrops || none_whole));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // The first request behind a commit, and what it fetches, come without a stream moving.
  Cycles quiet() const {
    return bool(fetched_) || read_ != committed_ ? 0 : kForever;
  }
  void skip(Cycles) {}
#endif

 private:
  // One bit more than a row number has, so that full and empty differ.
  typedef Bits<clog2(kBeats) + 1> Pointer;

  Ram<Beat<W>, kBeats> beats_;
  Pointer write_, committed_, read_;
  Bits<1> fetched_;  // a beat waits in beats_.data()
  Bits<1> discard_;  // the rest of this packet is thrown away

  static Bits<clog2(kBeats)> row(const Pointer& p) {
    return p.template to<clog2(kBeats)>();
  }

  void forward(hls::stream<Beat<W>>& out) {
    if (bool(fetched_)) {
      if (out.full()) return;
      out.write(beats_.data());
      fetched_ = Bits<1>(0);
    }
    if (read_ == committed_) return;
    beats_.request(row(read_));
    read_ = read_ + Pointer(1);
    fetched_ = Bits<1>(1);
  }

  // `no_room`: and there is no use in waiting.
  void accept(hls::stream<Beat<W>>& in, bool full, bool no_room) {
    if (in.empty() || (full && !no_room)) return;

    const Beat<W>& x = in.read();
    const bool last = bool(x.last);
    const bool lost = bool(discard_) || no_room || (last && bool(x.bad));
    if (lost) {
      write_ = committed_;
    } else {
      beats_.write(row(write_), x);
      write_ = write_ + Pointer(1);
      if (last) committed_ = write_;
    }
    discard_ = Bits<1>(lost && !last);
    count(last, lost);
  }

  void count(bool last, bool lost) {
    if (last && lost) dropped.inc();
    if (last && !lost) stored.inc();
  }

  // What the last step left behind: it is followed by this one whenever it took a beat.
  void measure() {
    const Pointer held = write_ - read_;
    if (fullest.v.to<clog2(kBeats) + 1>().ult(held)) fullest.v = held.template to<32>();
  }
};

}  // namespace rx
}  // namespace hw
