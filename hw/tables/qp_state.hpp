// Owner of the responder's PSN state: judges each request's PSN (IBTA 9.7.5.1; docs/protocol.md D rows 1, 2, 11), the
// rights of its QP (row 29) and whether there is a receive work request for it (rows 14, 16, 17).
//
// A packet is taken in c, and in c + 1 its row is judged, written back and the verdict given: one packet a cycle, also
// of one QP, since the Ram forwards. What an earlier stage dropped, and what names a QP that does not receive, passes
// without an answer (row 37); so does an opcode that is none of ours (row 35), and an answer, which is judged further
// on.
//
// A READ request takes a PSN for each of its responses. A packet that finds no receive work request is refused with an
// RNR NAK and its PSN stays the expected one: what is ahead of it is met with silence until it comes again.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"
#include "intake.hpp"

namespace hw {
namespace tables {

struct QpState {
  Counter qp_errors;          // packets for a QP that does not exist or does not receive
  Counter opcode_errors;      // of an opcode that is neither request nor answer
  Counter duplicate_request;  // behind the expected PSN
  Counter out_of_sequence;    // ahead of it
  Counter rnr_naks;           // in order without a receive work request
  HW_COUNTERS(qp_errors, opcode_errors, duplicate_request, out_of_sequence, rnr_naks)

  void step(hls::stream<RxTransport>& in, hls::stream<QpStateControl>& control, hls::stream<ReceivePosted>& posted,
            hls::stream<RxChecked>& out) {
    if (bool(intake_.has_packet)) {
      if (out.full()) return;
      out.write(judge(intake_.packet, rows_.data()));
    }
    if (bool(intake_.has_control)) configure(intake_.control, rows_.data());
    if (bool(intake_.has_event)) count(intake_.event, rows_.data());
    intake_.take(in, control, posted);
    if (bool(intake_.has_packet)) rows_.request(row_of(intake_.packet.qpn));
    if (bool(intake_.has_control)) rows_.request(row_of(intake_.control.qpn));
    if (bool(intake_.has_event)) rows_.request(row_of(intake_.event.qpn));
  }

 private:
  enum : uint64_t { kPmtus = 5 };
  typedef Bits<clog2(kReceiveWqes) + 1> Receives;
  struct Row {
    Qpn qpn;
    Psn expected;
    PmtuCode pmtu;
    Bits<5> rnr_timer;
    Bits<1> receive, remote_write, remote_read;
    Bits<1> silent;     // `expected` has been NAKed: nothing is said about what is ahead until it comes
    Receives receives;  // work requests in the receive queue
  };
  // A packet and what shows without its row. `next`: the PSN behind it for each PMTU, which is all that the row must
  // choose from when the packet turns out to be in order.
  struct Taken : RxTransport {
    Bits<1> request, answer, writes, reads, takes_receive;
    Psn next[kPmtus];

    Taken() = default;
    explicit Taken(const RxTransport& packet) : RxTransport(packet) {
      request = Bits<1>(wire::is_request(opcode));
      answer = Bits<1>(wire::is_answer(opcode));
      writes = Bits<1>(wire::is_write(opcode));
      reads = Bits<1>(wire::is(opcode, wire::kReadRequest));
      takes_receive = Bits<1>(wire::takes_receive(opcode));
      const Bits<32> bytes = bool(reads) ? dma_length : Bits<32>(0);
      next[0] = behind<8>(bytes);
      next[1] = behind<9>(bytes);
      next[2] = behind<10>(bytes);
      next[3] = behind<11>(bytes);
      next[4] = behind<12>(bytes);
    }
    // A READ takes a PSN for each response, of 2^SHIFT bytes, at least one.
    template <int SHIFT>
    Psn behind(const Bits<32>& bytes) const {
      const bool one_more = bool(bytes.template get<0, SHIFT>()) || !bool(bytes);
      return Psn(psn.v + bytes.template shr<SHIFT>().template to<24>() + Bits<24>(one_more));
    }
  };
  RamForward<Row, kMaxQps> rows_;
  Intake<Taken, QpStateControl, RxTransport, ReceivePosted> intake_;

  // A QPN without its row number, which is that of the row in any case.
  static Bits<24 - clog2(kMaxQps)> key_of(const Qpn& qpn) { return qpn.get<clog2(kMaxQps), 24 - clog2(kMaxQps)>(); }

  RxChecked judge(const Taken& packet, const Row& row) {
    RxChecked checked;
    checked.packet = packet;
    checked.expected = row.expected;
    checked.sequence = Bits<2>(kIgnore);
    if (bool(packet.drop)) return checked;
    if (!bool(row.receive) || key_of(row.qpn) != key_of(packet.qpn)) {
      qp_errors.inc();
      checked.packet.drop = DropCode(kDropTransport);
    } else if (bool(packet.request)) {
      judge_request(packet, row, checked);
    } else if (!bool(packet.answer)) {
      opcode_errors.inc();
      checked.packet.drop = DropCode(kDropTransport);
    }
    return checked;
  }

  void judge_request(const Taken& packet, const Row& row, RxChecked& checked) {
    const bool in_order = packet.psn == row.expected, behind = packet.psn.before(row.expected);
    const bool granted =
        !(bool(packet.writes) && !bool(row.remote_write)) && !(bool(packet.reads) && !bool(row.remote_read));
    const bool ready = !(bool(packet.takes_receive) && !bool(row.receives));
    if (!behind) rows_.write(row_of(packet.qpn), after(packet, row, in_order && ready));
    if (in_order || (behind && bool(packet.reads))) checked.nak = refusal(row, granted, ready);
    if (in_order) {
      checked.sequence = Bits<2>(kInOrder);
      if (granted && !ready) rnr_naks.inc();
      return;
    }
    checked.packet.drop = DropCode(kDropSequence);
    if (behind) {
      checked.sequence = Bits<2>(kDuplicate);
      duplicate_request.inc();
    } else {
      if (!bool(row.silent)) checked.sequence = Bits<2>(kGap);
      out_of_sequence.inc();
    }
  }

  static Bits<8> refusal(const Row& row, bool granted, bool ready) {
    if (!granted) return Bits<8>(wire::aeth::kNakInvalidRequest);
    return ready ? Bits<8>(0) : Bits<8>(wire::aeth::kRnrNak) | row.rnr_timer.to<8>();
  }

  // The row behind a packet that has been taken, or else is ahead or not ready.
  static Row after(const Taken& packet, const Row& row, bool taken) {
    Row next = row;
    if (taken) {
      for (uint64_t i = 0; i < kPmtus; i++)
        if (row.pmtu == PmtuCode(i + 1)) next.expected = packet.next[i];
      if (bool(packet.takes_receive)) next.receives = row.receives - Receives(1);
    }
    next.silent = Bits<1>(!taken);
    return next;
  }

  // Work requests may be there before the QP receives; those of a QP that is stopped are forgotten.
  void configure(const QpStateControl& c, const Row& before) {
    Row row;
    row.qpn = c.qpn;
    row.expected = c.expected;
    row.pmtu = c.pmtu;
    row.rnr_timer = c.rnr_timer;
    row.receive = c.receive;
    row.remote_write = c.remote_write;
    row.remote_read = c.remote_read;
    if (bool(c.receive)) row.receives = before.receives;
    rows_.write(row_of(c.qpn), row);
  }

  void count(const ReceivePosted& posted, const Row& before) {
    Row row = before;
    row.receives = before.receives + Receives(1);
    rows_.write(row_of(posted.qpn), row);
  }
};

}  // namespace tables
}  // namespace hw
