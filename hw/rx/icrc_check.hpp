// Checks the ICRC (IBTA annex A17.3.3) and marks a packet whose ICRC is wrong as `bad` on its last beat.
//
// The packet ends where rx/l3_length has cut it, so its last four bytes are the ICRC, and the register over all of it
// must hold the residue. The data passes unchanged. Packets that are bad already are not counted again.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/icrc.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct IcrcCheck {
  struct Params {
    uint32_t check = 1;  // 0: a wrong ICRC is counted, but passes (facts/protocol.md row 39)
  } params;
  Counter icrc_errors;
  HW_COUNTERS(icrc_errors)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    if (in.empty() || out.full()) return;
    const Beat<W>& x = in.read();
    icrc_.take(x);
    if (!bool(x.last)) return out.write(x);

    const bool wrong = !bool(x.bad) && !icrc::is_residue<W>(icrc_.state, x.bytes);
    if (wrong) icrc_errors.inc();
    Beat<W> y = x;
    y.bad = x.bad | Bits<1>(wrong && params.check != 0);
    out.write(y);
  }

 private:
  icrc::Running icrc_;
};

}  // namespace rx
}  // namespace hw
