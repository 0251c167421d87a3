// What the responder has to send: where receive ends and transmit begins (rule 7). Each QP has up to kMaxReads READs to
// serve, in the order in which they came, and behind them at most one acknowledgement; QPs take turns packet by packet.
//
// Taking a response never waits for room in the outputs: tables/msn keeps the READs of a QP to what fits here and gives
// the place of one away again when it is told that it has been served. An acknowledgement never overtakes a READ, whose
// responses acknowledge what precedes them (IBTA 9.7.5.1.2): one that waits is forgotten when a READ of a later PSN
// joins, and follows one of an earlier PSN, a duplicate. Acknowledgements of one QP merge (ack_order.hpp).
//
// An acknowledgement that finds nothing waiting, and room, passes in the cycle in which it is taken. Else the tables
// serve one request a cycle, made in c and served in c + 1. Turns go first; there is none in the cycle after a turn,
// and input and control share what is left, one by one when both wait. A turn comes every second cycle, and every third
// to a QP that is alone.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tables/turns.hpp"
#include "../tokens.hpp"
#include "ack_order.hpp"

namespace hw {
namespace tx {

struct ResponseQueue {
  Counter acks_sent, naks_sent, read_responses;  // packets
  Counter merged;                                // acknowledgements that another packet made unnecessary
  HW_COUNTERS(acks_sent, naks_sent, read_responses, merged)

  void step(hls::stream<Response>& in, hls::stream<ResponseQueueControl>& control, hls::stream<TxPacket>& out,
            hls::stream<ReadServed>& served) {
    const bool turn = turns_.fetch() && !out.full() && !served.full();
    const bool passes = idle() && !out.full();
    if (bool(absorbing_)) absorb();
    if (bool(clearing_)) clear();
    if (bool(sending_)) send(out, served);
    sending_ = Bits<1>(turn);
    clearing_ = Bits<1>(!turn && !control.empty() && (in.empty() || !bool(cleared_last_)));
    absorbing_ = Bits<1>(!turn && !bool(clearing_) && !in.empty());
    if (turn) {
      rows_.request(turns_.head().qp);
      acks_.request(turns_.head().qp);
      reads_.request(row_of(turns_.head().qp, turns_.head().slot));
      turns_.leave();
    } else if (bool(clearing_)) {
      cleared_ = row_of(control.read().qpn);
      rows_.request(cleared_);
      cleared_last_ = Bits<1>(1);
    } else if (bool(absorbing_)) {
      take(in.read(), passes, out);
      cleared_last_ = Bits<1>(0);
    }
  }

  // QPs with something that waits, one that has its turn and a response that was just taken included.
  uint64_t held() const { return turns_.size() + absorbing_.u64() + sending_.u64(); }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // What waits may be able to go in the next cycle.
  Cycles quiet() const {
    return idle() ? kForever : 0;
  }
#endif

 private:
  typedef Bits<clog2(kMaxReads) + 1> ReadCount;  // 0 .. kMaxReads
  typedef Bits<24> ResponseCount;                // of a READ: 2^31 bytes are 2^23 of them
  struct Turn {
    QpRow qp;
    ReadSlot slot;  // of the QP's oldest READ, or of the next to come
  };
  // `oldest` moves on only when a READ has been served, so that it always is what the QP's Turn says.
  struct Row {
    ReadSlot oldest;
    ReadCount reads;
    Bits<1> in_turns, ack_waits;
  };
  struct Ack {
    Qpn qpn;
    Psn psn;
    Bits<8> syndrome;
    Bits<24> msn;
    Tag tag;
  };
  // A READ and how far it is. Only the counts of its responses change: address and PSN of one are worked out when it
  // leaves, where nothing waits for them.
  struct Read {
    Qpn qpn;
    Bits<64> address;
    PacketBytes last_bytes;  // of the last response
    Psn psn;                 // of the first
    Bits<24> msn;
    PmtuCode pmtu;
    ResponseCount sent, left;  // before, and behind the next one; `left` means nothing when that is the last
    Bits<1> first, last;       // the next one is
    Tag tag;
  };

  RamForward<Row, kMaxQps> rows_;
  RamForward<Ack, kMaxQps> acks_;  // beside the rows, so that only whether one is written hangs on how it compares
  RamForward<Read, kMaxQps * kMaxReads> reads_;
  tables::Turns<Turn> turns_;
  Bits<1> absorbing_, clearing_, sending_;  // the row asked for: of `response_`, of `cleared_`, of whoever has the turn
  Bits<1> cleared_last_;                    // of input and control, control came last
  Response response_;
  QpRow cleared_;

  bool idle() const {
    return turns_.empty() && !bool(absorbing_) && !bool(clearing_) && !bool(sending_);
  }

  void take(const Response& response, bool passes, hls::stream<TxPacket>& out) {
    response_ = response;
    if (bool(response.read)) response_.syndrome = Bits<8>(wire::aeth::kAck);
    rows_.request(row_of(response.qpn));
    acks_.request(row_of(response.qpn));
    if (!passes || bool(response.read)) return;
    send_acknowledgement(acknowledgement(response), out);
    absorbing_ = Bits<1>(0);
  }

  void absorb() {
    const QpRow qp = row_of(response_.qpn);
    const Row row = rows_.data();
    const bool is_read = bool(response_.read), waits = bool(row.ack_waits),
               replaced = replaces(response_, acks_.data());
    if (waits && (replaced || !is_read)) merged.inc();
    Row next = row;
    next.in_turns = Bits<1>(1);
    if (is_read) {
      reads_.write(row_of(qp, row.oldest + row.reads.to<clog2(kMaxReads)>()), whole(response_));
      next.reads = row.reads + ReadCount(1);
      next.ack_waits = Bits<1>(waits && !replaced);
    } else {
      if (!waits || replaced) acks_.write(qp, acknowledgement(response_));
      next.ack_waits = Bits<1>(1);
    }
    rows_.write(qp, next);
    if (!bool(row.in_turns)) turns_.join(turn_of(qp, row.oldest));
  }

  // The QP keeps its turn, in which it then has nothing to say.
  void clear() {
    Row row = rows_.data();
    row.reads = ReadCount(0);
    row.ack_waits = Bits<1>(0);
    rows_.write(cleared_, row);
  }

  // There is room: it was seen when the row was asked for, and nothing was written since.
  void send(hls::stream<TxPacket>& out, hls::stream<ReadServed>& served) {
    const Turn turn = turns_.head();
    const Row row = rows_.data();
    const Read read = reads_.data();
    const bool reads = bool(row.reads), is_served = reads && bool(read.last);
    Row next = row;
    next.reads = row.reads - ReadCount(is_served);
    next.oldest = row.oldest + ReadSlot(is_served);
    next.ack_waits = Bits<1>(reads && bool(row.ack_waits));
    next.in_turns = Bits<1>(bool(next.reads) || bool(next.ack_waits));
    rows_.write(turn.qp, next);
    reads_.write(row_of(turn.qp, turn.slot), rest_of(read));
    if (bool(next.in_turns)) turns_.join(turn_of(turn.qp, next.oldest));

    if (reads) {
      out.write(read_response(read));
      read_responses.inc();
    } else if (bool(row.ack_waits)) {
      send_acknowledgement(acks_.data(), out);
    }
    if (is_served) {
      ReadServed s;
      s.qpn = read.qpn;
      served.write(s);
    }
  }

  void send_acknowledgement(const Ack& ack, hls::stream<TxPacket>& out) {
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

  static Turn turn_of(const QpRow& qp, const ReadSlot& slot) {
    Turn turn;
    turn.qp = qp;
    turn.slot = slot;
    return turn;
  }
  static Ack acknowledgement(const Response& response) {
    Ack ack;
    ack.qpn = response.qpn;
    ack.psn = response.psn;
    ack.syndrome = response.syndrome;
    ack.msn = response.msn;
    ack.tag = response.tag;
    return ack;
  }

  static Read whole(const Response& response) {
    const PacketBytes pmtu = pmtu_bytes(response.pmtu);
    const PacketBytes odd = response.bytes.to<13>() & (pmtu - PacketBytes(1));
    Read read;
    read.qpn = response.qpn;
    read.address = response.address;
    read.last_bytes = bool(response.bytes) && !bool(odd) ? pmtu : odd;
    read.psn = response.psn;
    read.msn = response.msn;
    read.pmtu = response.pmtu;
    read.left = (response.bytes - Bits<32>(1)).shr<7>().shr(response.pmtu).to<24>();
    read.first = Bits<1>(1);
    read.last = Bits<1>(!pmtu.to<32>().ult(response.bytes));
    read.tag = response.tag;
    return read;
  }
  // What one response leaves.
  static Read rest_of(const Read& read) {
    Read rest = read;
    rest.sent = read.sent + ResponseCount(1);
    rest.left = read.left - ResponseCount(1);
    rest.first = Bits<1>(0);
    rest.last = Bits<1>(read.left == ResponseCount(1));
    return rest;
  }
  static TxPacket read_response(const Read& read) {
    const bool first = bool(read.first), last = bool(read.last);
    TxPacket packet;
    packet.opcode = Bits<8>(first  ? last ? wire::kReadResponseOnly : wire::kReadResponseFirst
                            : last ? wire::kReadResponseLast
                                   : wire::kReadResponseMiddle);
    packet.qpn = read.qpn;
    packet.psn = Psn(read.psn.v + read.sent);
    packet.local_address = read.address + read.sent.to<64>().shl<7>().shl(read.pmtu);
    packet.payload = last ? read.last_bytes : pmtu_bytes(read.pmtu);
    packet.syndrome = Bits<8>(wire::aeth::kAck);
    packet.msn = read.msn;
    packet.tag = read.tag;
    return packet;
  }
};

}  // namespace tx
}  // namespace hw
