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
    if (out.full()) return;
    if (bool(spilled_)) {
      out.write(rest_of_icrc());
      spilled_ = Bits<1>(0);
      return;
    }
    if (in.empty()) return;
    const Beat<W>& x = in.read();
    icrc_.take(x);
    if (bool(x.last)) {
      out.write(with_icrc(x, ~icrc::take_back(icrc_.state, icrc::unused<W>(x.bytes))));
    } else {
      out.write(x);
    }
  }

 private:
  typedef typename Beat<W>::Count Count;
  enum { kCountBits = clog2(W / 8 + 1), kShiftBits = kCountBits + 3 };

  icrc::Running icrc_;
  Bits<1> spilled_;       // some of the ICRC waits for a beat of its own:
  icrc::Register spill_;  // what of it
  Count spill_bytes_;     // 1 .. 4
  Tag tag_;

  static Bits<kShiftBits> bits(const Count& bytes) { return bytes.template to<kShiftBits>().template shl<3>(); }

  Beat<W> with_icrc(const Beat<W>& x, const icrc::Register& crc) {
    const Count room = Count(W / 8) - x.bytes;
    const bool fits = !room.ult(Count(wire::kIcrcBytes));
    spilled_ = Bits<1>(!fits);
    spill_ = crc.shr(bits(room));
    spill_bytes_ = Count(wire::kIcrcBytes) - room;
    tag_ = x.tag;

    Beat<W> y = x;
    y.data = x.data | crc.template to<W>().shl(bits(x.bytes));
    y.bytes = fits ? x.bytes + Count(wire::kIcrcBytes) : Count(W / 8);
    y.last = Bits<1>(fits);
    return y;
  }

  Beat<W> rest_of_icrc() const {
    Beat<W> y;
    y.data = spill_.template to<W>();
    y.bytes = spill_bytes_;
    y.last = Bits<1>(1);
    y.tag = tag_;
    return y;
  }
};

}  // namespace tx
}  // namespace hw
