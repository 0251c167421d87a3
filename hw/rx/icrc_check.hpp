// Checks the ICRC (IBTA annex A17.3.3) and marks a packet whose ICRC is wrong as `bad` on its last beat.
//
// The packet ends where rx/l3_length has cut it, so its last four bytes are the ICRC, and the register over all of it
// must hold the residue. The data passes unchanged. Packets that are bad already are not counted again. What ended is
// compared a second time in the next step, to be counted: that keeps the comparison out of the register's cycle.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/icrc.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct IcrcCheck {
  struct Params {
    uint32_t check = 1;  // 0: a wrong ICRC is counted, but passes (docs/protocol.md row 39)
  } params;
  Counter icrc_errors;
  HW_COUNTERS(icrc_errors)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    if (bool(ended_) && !icrc::is_residue<W>(icrc_.state, unused_)) icrc_errors.inc();
    ended_ = Bits<1>(0);
    if (in.empty() || out.full()) return;
    const Beat<W>& x = in.read();
    icrc_.take(x);
    if (!bool(x.last)) return out.write(x);

    ended_ = ~x.bad;
    unused_ = icrc::unused<W>(x.bytes);
    const bool wrong = params.check != 0 && !icrc::is_residue<W>(icrc_.state, unused_);
    Beat<W> y = x;
    y.bad = x.bad | Bits<1>(wrong);
    out.write(y);
  }

 private:
  icrc::Running<W> icrc_;
  Bits<1> ended_;              // the last beat was the end of a packet that was not bad before,
  Bits<clog2(W / 8)> unused_;  // and lacked so many bytes
};

}  // namespace rx
}  // namespace hw
