// Computes the ICRC of every frame (IBTA annex A17.3.3) and appends it, least significant byte first. Costs a bubble
// where the last beat has no room for its four bytes.
#pragma once
#include "../bus/icrc.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

template <unsigned W>
struct IcrcInsert {
  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    const bool spilled = bool(spilled_);
    if (out.full() || (!spilled && in.empty())) return;
    const Beat<W>& x = spilled ? nothing_ : in.read();
    if (!spilled) {
      icrc_.take(x);
      if (!bool(x.last)) return out.write(x);
      bytes_ = x.bytes;
    }
    Beat<W> y = x;
    append(y);
    out.write(y);
  }

 private:
  typedef typename Beat<W>::Count Count;
  enum { kCountBits = clog2(W / 8 + 1), kShiftBits = kCountBits + 3 };

  icrc::Running<W> icrc_;
  Bits<1> spilled_;  // some of the ICRC waits for a beat of its own
  Count bytes_;      // of the last beat of the frame
  Tag tag_;
  Beat<W> nothing_;  // what the ICRC is appended to when it has spilled

  static Bits<kShiftBits> bits(const Count& bytes) { return bytes.template to<kShiftBits>().template shl<3>(); }

  // To the last beat of a frame, or to the empty one behind it. What has spilled is made again from the register, so
  // that no more than the register itself is state.
  void append(Beat<W>& y) {
    const icrc::Register crc = ~icrc::take_back(icrc_.state, icrc::unused<W>(bytes_));
    const Count room = Count(W / 8) - bytes_;
    if (bool(spilled_)) {
      y.data = crc.shr(bits(room)).template to<W>();
      y.bytes = Count(wire::kIcrcBytes) - room;
      y.last = Bits<1>(1);
      y.tag = tag_;
      spilled_ = Bits<1>(0);
    } else {
      const bool fits = !room.ult(Count(wire::kIcrcBytes));
      y.data = y.data | crc.template to<W>().shl(bits(bytes_));
      y.bytes = fits ? bytes_ + Count(wire::kIcrcBytes) : Count(W / 8);
      y.last = Bits<1>(fits);
      tag_ = y.tag;
      spilled_ = Bits<1>(!fits);
    }
  }
};

}  // namespace tx
}  // namespace hw
