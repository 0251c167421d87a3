// Owner of the responder's PSN state: judges each request's PSN (IBTA 9.7.5.1; docs/protocol.md D rows 1, 2, 11).
//
// A packet is taken in c, and in c + 1 its row is judged, written back and the verdict given: one packet a cycle, also
// of one QP, since the Ram forwards. What an earlier stage dropped, and what names a QP that does not receive, passes
// without an answer (row 37). A QP that lacks the right to be written is refused with Invalid Request (row 29).
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"
#include "intake.hpp"

namespace hw {
namespace tables {

struct QpState {
  Counter qp_errors;          // packets for a QP that does not exist or does not receive
  Counter duplicate_request;  // behind the expected PSN
  Counter out_of_sequence;    // ahead of it
  HW_COUNTERS(qp_errors, duplicate_request, out_of_sequence)

  void step(hls::stream<RxRequest>& in, hls::stream<QpStateControl>& control, hls::stream<RxChecked>& out) {
    if (bool(intake_.has_packet)) {
      if (out.full()) return;
      out.write(judge(intake_.packet, rows_.data()));
    }
    if (bool(intake_.has_control)) configure(intake_.control);
    intake_.take(in, control);
    if (bool(intake_.has_packet)) rows_.request(row_of(intake_.packet.qpn));
  }

 private:
  struct Row {
    Qpn qpn;
    Psn expected;
    Bits<1> receive, remote_write;
    Bits<1> nak_sent;  // the gap before `expected` is NAKed: silence about what is ahead until `expected` comes
  };
  RamForward<Row, kMaxQps> rows_;
  Intake<RxRequest, QpStateControl> intake_;

  // A QPN without its row number, which is that of the row in any case.
  static Bits<24 - clog2(kMaxQps)> key_of(const Qpn& qpn) { return qpn.get<clog2(kMaxQps), 24 - clog2(kMaxQps)>(); }

  RxChecked judge(const RxRequest& request, const Row& row) {
    RxChecked checked;
    checked.request = request;
    checked.expected = row.expected;
    checked.sequence = Bits<2>(kIgnore);
    if (bool(request.drop)) return checked;
    if (!bool(row.receive) || key_of(row.qpn) != key_of(request.qpn)) {
      checked.request.drop = DropCode(kDropTransport);
      qp_errors.inc();
      return checked;
    }
    const bool in_order = request.psn == row.expected, behind = request.psn.before(row.expected);
    if (!behind) rows_.write(row_of(request.qpn), after(row, in_order));
    if (in_order) {
      checked.sequence = Bits<2>(kInOrder);
      if (wire::is_write(request.opcode) && !bool(row.remote_write))
        checked.nak = Bits<8>(wire::aeth::kNakInvalidRequest);
      return checked;
    }
    checked.request.drop = DropCode(kDropSequence);
    if (behind) {
      checked.sequence = Bits<2>(kDuplicate);
      duplicate_request.inc();
    } else {
      if (!bool(row.nak_sent)) checked.sequence = Bits<2>(kGap);
      out_of_sequence.inc();
    }
    return checked;
  }

  // The row behind a packet that is in order, or else ahead. Nothing but that one comparison leads to its bits.
  static Row after(const Row& row, bool in_order) {
    Row next = row;
    if (in_order) next.expected = row.expected.next();
    next.nak_sent = Bits<1>(!in_order);
    return next;
  }

  void configure(const QpStateControl& c) {
    Row row;
    row.qpn = c.qpn;
    row.expected = c.expected;
    row.receive = c.receive;
    row.remote_write = c.remote_write;
    rows_.write(row_of(c.qpn), row);
  }
};

}  // namespace tables
}  // namespace hw
