// Owner of the READ requests that a QP has under way: judges each answer of the peer against the response that is due
// next (IBTA 9.7.5.1.3, 9.7.5.2.3; docs/protocol.md D rows 4, 5, 7, 8, 26), and says where a response goes.
//
// A response in order, of the right opcode and length, is placed and becomes an ACK of its PSN. One that lies ahead,
// and an acknowledgement that would cover the response that is due, is an implied NAK: it becomes a sequence NAK of the
// PSN due, once until a response brings progress. Other acknowledgements pass, other responses are dropped. Requests
// pass with the verdict that they have.
//
// A request takes one cycle, a new READ and control do too. An answer takes two: in c + 1 it is compared with its row,
// in c + 2 it is judged by that. The READ to be answered next stands in the row, those behind it in a ring, from which
// the next one is fetched meanwhile in case this one ends.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "intake.hpp"
#include "message.hpp"

namespace hw {
namespace tables {

struct OutstandingReads {
  Counter rx_read_responses;     // placed
  Counter implied_nak_seq_err;   // implied NAKs told
  Counter bad_responses;         // of the PSN due, but of a wrong opcode or length
  Counter unexpected_responses;  // no READ under way, or behind the PSN due
  HW_COUNTERS(rx_read_responses, implied_nak_seq_err, bad_responses, unexpected_responses)

  // At most kMaxReads READs of a QP are under way: who issues them sees to it.
  void step(hls::stream<RxVerdict>& in, hls::stream<ReadIssued>& issued, hls::stream<OutstandingReadsControl>& control,
            hls::stream<Placement>& out, hls::stream<ReadAnswered>& answered) {
    if (bool(intake_.has_packet)) {
      if (bool(intake_.packet.answer) && !bool(measured_.done)) {
        measure(intake_.packet, rows_.data());
        return;
      }
      if (out.full() || answered.full()) return;
      judge(intake_.packet, rows_.data(), out, answered);
      measured_.done = Bits<1>(0);
    }
    if (bool(intake_.has_event)) append(intake_.event, rows_.data());
    if (bool(intake_.has_control)) configure(intake_.control);
    intake_.take(in, control, issued);
    if (bool(intake_.has_packet)) rows_.request(row_of(intake_.packet.placement.ack.qpn));
    if (bool(intake_.has_event)) rows_.request(row_of(intake_.event.qpn));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // An answer that has been compared is judged next.
  Cycles quiet() const {
    return bool(measured_.done) ? 0 : kForever;
  }
#endif

 private:
  // A READ request: the PSN of its next response, and where that goes.
  struct Read {
    Psn psn;
    Message message;
  };
  struct Row {
    PmtuCode pmtu;
    Bits<clog2(kMaxReads) + 1> count;  // of READs under way
    ReadSlot first;                    // slot of the first one
    Read due;                          // that one
    Bits<1> begun;                     // a response to it was placed
    Bits<1> told;                      // an implied NAK is given, and there was no progress since
  };
  // A verdict and what shows without its row.
  struct Taken : RxVerdict {
    Piece piece;
    Bits<1> response;
    Bits<1> covers;  // an ACK, which acknowledges its own PSN too; a NAK does not

    Taken() = default;
    explicit Taken(const RxVerdict& token) : RxVerdict(token), piece(opcode, placement.bytes) {
      response = Bits<1>(wire::is_read_response(opcode));
      covers = ~response & Bits<1>(!bool(placement.ack.syndrome.get<5, 3>()));
    }
  };
  RamForward<Row, kMaxQps> rows_;
  Ram<Read, kMaxQps * kMaxReads> ring_;
  Intake<Taken, OutstandingReadsControl, RxVerdict, ReadIssued> intake_;

  // An answer against its row.
  struct Measured {
    Bits<1> done;
    Bits<1> under_way, at, behind;  // a READ; at the PSN due, behind it
    Bits<1> shaped;                 // opcode, and payload against PMTU
    Share share;                    // payload of what remains
    Read after;                     // the READ once the response is placed
  } measured_;

  void measure(const Taken& t, const Row& row) {
    measured_.done = Bits<1>(1);
    measured_.under_way = Bits<1>(bool(row.count));
    measured_.at = Bits<1>(t.placement.ack.psn == row.due.psn);
    measured_.behind = Bits<1>(t.placement.ack.psn.before(row.due.psn));
    // A retry may ask for the tail of a READ alone, whose responses begin with First or go on with Middle (row 5).
    measured_.shaped = (t.piece.starts | row.begun) & Bits<1>(t.piece.suits(row.pmtu));
    measured_.share = Share(t.placement.bytes, row.due.message.remaining);
    measured_.after = row.due;
    measured_.after.psn = row.due.psn.next();
    measured_.after.message.remaining = row.due.message.remaining - t.placement.bytes.to<32>();
    ring_.request(row_of(row_of(t.placement.ack.qpn), row.first + ReadSlot(1)));
  }

  void judge(const Taken& t, const Row& row, hls::stream<Placement>& out, hls::stream<ReadAnswered>& answered) {
    const Measured& m = measured_;
    const bool under_way = bool(t.answer & m.under_way), response = bool(t.response);
    const bool due = under_way && response && bool(m.at);
    const bool skips = under_way && !bool(m.behind) && (!bool(m.at) || bool(t.covers));
    const bool accepted = due && bool(m.shaped) && bool(bool(t.piece.ends) ? m.share.all : m.share.part);
    const bool implied = skips && !bool(row.told);
    const bool passes = bool(t.answer) && !response && !skips;

    out.write(placed(t, row, accepted, implied, passes));
    if (accepted || implied) rows_.write(row_of(t.placement.ack.qpn), after(t, row, bool(m.at & t.response)));
    if (accepted && bool(t.piece.ends)) {
      ReadAnswered a;
      a.qpn = t.placement.ack.qpn;
      a.tag = t.placement.tag;
      answered.write(a);
    }

    if (accepted) rx_read_responses.inc();
    if (implied) implied_nak_seq_err.inc();
    if (due && !accepted) bad_responses.inc();
    if (bool(t.answer & t.response) && !due && !skips) unexpected_responses.inc();
  }

  static Placement placed(const Taken& t, const Row& row, bool accepted, bool implied, bool passes) {
    Placement p = t.placement;
    if (!bool(t.answer)) return p;
    p.keep = Bits<1>(accepted);
    p.address = row.due.message.address();
    p.acknowledges = Bits<1>(accepted || implied || passes);
    if (accepted) p.ack.syndrome = Bits<8>(wire::aeth::kAck);
    if (implied) {
      p.ack.psn = row.due.psn;
      p.ack.syndrome = Bits<8>(wire::aeth::kNakSequence);
    }
    return p;
  }

  // The row behind the response that is due, or else behind an implied NAK. What moves up when there is none is of no
  // meaning.
  Row after(const Taken& t, const Row& row, bool progress) {
    Row next = row;
    next.told = Bits<1>(!progress);
    if (!progress) return next;
    next.due = bool(t.piece.ends) ? ring_.data() : measured_.after;
    next.begun = ~t.piece.ends;
    next.count = row.count - t.piece.ends.to<clog2(kMaxReads) + 1>();
    next.first = row.first + t.piece.ends.to<clog2(kMaxReads)>();
    return next;
  }

  void append(const ReadIssued& issued, const Row& row) {
    Read read;
    read.psn = issued.psn;
    read.message = Message(issued.local_address, issued.bytes);
    ring_.write(row_of(row_of(issued.qpn), row.first + row.count.to<clog2(kMaxReads)>()), read);
    Row next = row;
    next.count = row.count + Bits<clog2(kMaxReads) + 1>(1);
    if (!bool(row.count)) {
      next.due = read;
      next.begun = Bits<1>(0);
      next.told = Bits<1>(0);
    }
    rows_.write(row_of(issued.qpn), next);
  }

  void configure(const OutstandingReadsControl& c) {
    Row row;
    row.pmtu = c.pmtu;
    rows_.write(row_of(c.qpn), row);
  }
};

}  // namespace tables
}  // namespace hw
