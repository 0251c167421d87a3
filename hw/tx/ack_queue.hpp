// The acknowledgements that wait to be sent, at most one a QP: where receive ends and transmit begins (rule 7).
//
// Taking an acknowledgement never waits for room in the output. One that finds the queue empty, and room, passes in the
// cycle in which it is taken. Otherwise it is kept in its QP's row, and the QP joins a ring; or it merges with what the
// QP has waiting:
//   a NAK            replaces all but a fatal NAK: it acknowledges whatever precedes it
//   an ACK           replaces an ACK; it replaces a sequence NAK from the NAK's PSN on, since the gap is closed then,
//                    and is dropped behind it, where the NAK says as much (docs/protocol.md D rows 11, 12)
//   a fatal NAK      (0x61 .. 0x63) stays: the QP is in error, nothing may follow (D row 27)
//
// The table serves one request a cycle, made in c and served in c + 1. The output goes first; it cannot ask again
// before the ring has given its next head, so the input has every second cycle at least.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

struct AckQueue {
  Counter acks_sent, naks_sent;
  Counter merged;  // acknowledgements that one packet made unnecessary
  HW_COUNTERS(acks_sent, naks_sent, merged)

  void step(hls::stream<AckToSend>& in, hls::stream<TxPacket>& out) {
    const RingIndex tail = tail_;  // who joins the ring in this step can be asked for in the next
    const bool idle = head_ == tail_ && !bool(absorbing_);
    if (bool(absorbing_)) absorb();
    if (bool(sending_)) send_head(out);
    if (idle && !in.empty() && !out.full()) {
      send(in.read(), out);
      return;
    }
    take(in, out);
    if (!bool(fetched_) && head_ != tail) {
      ring_.request(slot(head_));
      fetched_ = Bits<1>(1);
    }
  }

  // QPs with an acknowledgement that waits.
  uint64_t held() const { return (tail_ - head_).u64() + absorbing_.u64(); }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // What waits may be able to go in the next cycle.
  Cycles quiet() const {
    return held() != 0 ? 0 : kForever;
  }
#endif

 private:
  typedef Bits<clog2(kMaxQps) + 1> RingIndex;  // one bit more than a slot, to tell full from empty
  struct Row {
    Bits<1> waiting;
    AckToSend ack;
  };

  RamForward<Row, kMaxQps> rows_;
  Ram<QpRow, kMaxQps> ring_;
  RingIndex head_, tail_;
  Bits<1> fetched_;              // the head of the ring was asked for: its row number is there from the next cycle on
  Bits<1> absorbing_, sending_;  // the row asked for is that of `ack_`, that of the head of the ring
  AckToSend ack_;

  static QpRow slot(const RingIndex& i) {
    return i.get<0, clog2(kMaxQps)>();
  }
  static bool is_nak(const Bits<8>& syndrome) {
    return syndrome.get<5, 2>() == Bits<2>(3);
  }
  static bool is_fatal(const Bits<8>& syndrome) {
    return is_nak(syndrome) && bool(syndrome.get<0, 5>());
  }
  static bool replaces(const AckToSend& later, const AckToSend& waiting) {
    if (is_nak(later.syndrome)) return !is_fatal(waiting.syndrome);
    return !is_nak(waiting.syndrome) || (!is_fatal(waiting.syndrome) && !later.psn.before(waiting.psn));
  }

  void take(hls::stream<AckToSend>& in, hls::stream<TxPacket>& out) {
    const bool sends = bool(fetched_) && !out.full();
    const bool absorbs = !sends && !in.empty();
    if (sends) {
      rows_.request(ring_.data());
    } else if (absorbs) {
      ack_ = in.read();
      rows_.request(row_of(ack_.qpn));
    }
    sending_ = Bits<1>(sends);
    absorbing_ = Bits<1>(absorbs);
  }

  void absorb() {
    const Row row = rows_.data();
    if (bool(row.waiting)) {
      merged.inc();
      if (!replaces(ack_, row.ack)) return;
    } else {
      ring_.write(slot(tail_), row_of(ack_.qpn));
      tail_ = tail_ + RingIndex(1);
    }
    Row kept;
    kept.waiting = Bits<1>(1);
    kept.ack = ack_;
    rows_.write(row_of(ack_.qpn), kept);
  }

  // There is room: it was seen when the row was asked for, and nothing was written since.
  void send_head(hls::stream<TxPacket>& out) {
    send(rows_.data().ack, out);
    rows_.write(ring_.data(), Row());
    head_ = head_ + RingIndex(1);
    fetched_ = Bits<1>(0);
  }

  void send(const AckToSend& ack, hls::stream<TxPacket>& out) {
    TxPacket packet;
    packet.opcode = Bits<8>(wire::kAcknowledge);
    packet.qpn = ack.qpn;
    packet.psn = ack.psn;
    packet.syndrome = ack.syndrome;
    packet.msn = ack.msn;
    packet.tag = ack.tag;
    out.write(packet);
    if (is_nak(ack.syndrome)) {
      naks_sent.inc();
    } else {
      acks_sent.inc();
    }
  }
};

}  // namespace tx
}  // namespace hw
