// The acknowledgements that wait for the requester, at most one a QP: the receive path never waits for it (rule 7).
//
// Taking an acknowledgement never waits for room in the output. One that finds nothing waiting, and room, passes in the
// cycle in which it is taken. Otherwise it is kept in its QP's row, and the QP waits for its turn; or it merges with
// what the QP has waiting (ack_order.hpp).
//
// The table serves one request a cycle, made in c and served in c + 1. Turns go first; there is none in the cycle after
// a turn, so the input has every second cycle at least.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tables/turns.hpp"
#include "../tokens.hpp"
#include "ack_order.hpp"

namespace hw {
namespace tx {

struct AckMerge {
  Counter merged;  // acknowledgements that another made unnecessary
  HW_COUNTERS(merged)

  void step(hls::stream<RxAck>& in, hls::stream<RxAck>& out) {
    const bool turn = turns_.fetch() && !out.full();
    const bool idle = turns_.empty() && !bool(absorbing_) && !bool(sending_);
    if (bool(absorbing_)) absorb();
    if (bool(sending_)) send(out);
    const bool passes = idle && !in.empty() && !out.full();
    const bool absorbs = !turn && !passes && !in.empty();
    if (turn) {
      rows_.request(turns_.head());
      turns_.leave();
    } else if (passes) {
      out.write(in.read());
    } else if (absorbs) {
      ack_ = in.read();
      rows_.request(row_of(ack_.qpn));
    }
    sending_ = Bits<1>(turn);
    absorbing_ = Bits<1>(absorbs);
  }

  // Acknowledgements in the stage.
  uint64_t held() const { return turns_.size() + absorbing_.u64() + sending_.u64(); }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // What waits may be able to go in the next cycle.
  Cycles quiet() const {
    return held() != 0 ? 0 : kForever;
  }
#endif

 private:
  struct Row {
    Bits<1> waiting;
    RxAck ack;
  };

  RamForward<Row, kMaxQps> rows_;
  tables::Turns<QpRow> turns_;
  Bits<1> absorbing_, sending_;  // the row asked for is that of `ack_`, that of whoever has the turn
  RxAck ack_;

  void absorb() {
    const Row row = rows_.data();
    if (bool(row.waiting)) {
      merged.inc();
      if (!replaces(ack_, row.ack)) return;
    } else {
      turns_.join(row_of(ack_.qpn));
    }
    Row kept;
    kept.waiting = Bits<1>(1);
    kept.ack = ack_;
    rows_.write(row_of(ack_.qpn), kept);
  }

  // There is room: it was seen when the row was asked for, and nothing was written since.
  void send(hls::stream<RxAck>& out) {
    out.write(rows_.data().ack);
    rows_.write(turns_.head(), Row());
  }
};

}  // namespace tx
}  // namespace hw
