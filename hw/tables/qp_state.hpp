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
    if (bool(intake_.has_packet) && out.full()) return;
    if (intake_.holds()) serve(rows_.data(), out);
    intake_.take(in, control, posted);
    if (bool(intake_.has_packet)) row_ = row_of(intake_.packet.qpn);
    if (bool(intake_.has_control)) row_ = row_of(intake_.control.qpn);
    if (bool(intake_.has_event)) row_ = row_of(intake_.event.qpn);
    if (intake_.holds()) rows_.request(row_);
  }

 private:
  enum : unsigned { kPmtus = 5, kReceivesBits = clog2(kReceiveWqes) + 2 };
  typedef Bits<kReceivesBits> Receives;
  struct Row {
    Qpn qpn;
    Psn expected;
    PmtuCode pmtu;
    Bits<5> rnr_timer;
    Bits<1> receive, remote_write, remote_read;
    Bits<1> silent;     // `expected` has been NAKed: nothing is said about what is ahead until it comes
    Receives receives;  // work requests in the receive queue
  };
  // A packet and what shows without its row.
  struct Taken : RxTransport {
    Bits<1> request, answer, writes, reads, takes_receive;
    Psn successor;
    Bits<32> asked;             // bytes, of a READ
    Bits<kPmtus + 1> one_more;  // by PMTU code: a PSN besides those of full responses, also where there is none

    Taken() = default;
    explicit Taken(const RxTransport& packet) : RxTransport(packet) {
      request = Bits<1>(wire::is_request(opcode));
      answer = Bits<1>(wire::is_answer(opcode));
      writes = Bits<1>(wire::is_write(opcode));
      reads = Bits<1>(wire::is(opcode, wire::kReadRequest));
      takes_receive = Bits<1>(wire::takes_receive(opcode));
      successor = psn.next();
      if (bool(reads)) asked = dma_length;
      const bool one = !bool(reads) || !bool(dma_length);
      for (uint64_t code = 1; code <= kPmtus; code++) {
        const Bits<32> below_pmtu((uint64_t(128) << code) - 1);
        if (one || bool(dma_length & below_pmtu)) one_more = one_more | Bits<kPmtus + 1>(uint64_t(1) << code);
      }
    }
    Psn behind(uint64_t pmtu_code) const {
      const Psn first = bool(one_more.at(PmtuCode(pmtu_code))) ? successor : psn;
      return Psn(first.v + asked.shr(Bits<4>(7 + pmtu_code)).to<24>());
    }
  };
  RamForward<Row, kMaxQps> rows_;
  Intake<Taken, QpStateControl, RxTransport, ReceivePosted> intake_;
  QpRow row_;  // of what the intake holds

  // A QPN without its row number, which is that of the row in any case.
  static Bits<24 - clog2(kMaxQps)> key_of(const Qpn& qpn) { return qpn.get<clog2(kMaxQps), 24 - clog2(kMaxQps)>(); }

  // One of the three that the intake holds. What is written does not wait for all that decides whether it is.
  void serve(const Row& row, hls::stream<RxChecked>& out) {
    const Taken& packet = intake_.packet;
    const bool is_packet = bool(intake_.has_packet);
    const bool in_order = packet.psn == row.expected, behind = packet.psn.before(row.expected);
    const Receives fewer = row.receives - Receives(1);  // its upper bit: there is none
    const bool ready = !(bool(packet.takes_receive) && bool(fewer.get<kReceivesBits - 1, 1>()));
    const Row next = after(row, fewer, is_packet && in_order && ready);
    if (!is_packet || (serves(packet, row) && bool(packet.request) && !behind)) rows_.write(row_, next);
    if (is_packet) out.write(judged(packet, row, in_order, behind, ready));
  }

  static bool serves(const Taken& packet, const Row& row) {
    return !bool(packet.drop) && bool(row.receive) && key_of(row.qpn) == key_of(packet.qpn);
  }

  RxChecked judged(const Taken& packet, const Row& row, bool in_order, bool behind, bool ready) {
    RxChecked checked;
    checked.packet = packet;
    checked.expected = row.expected;
    checked.sequence = Bits<2>(kIgnore);
    if (bool(packet.drop)) return checked;
    if (!serves(packet, row)) {
      qp_errors.inc();
      checked.packet.drop = DropCode(kDropTransport);
    } else if (bool(packet.answer)) {
      return checked;
    } else if (!bool(packet.request)) {
      opcode_errors.inc();
      checked.packet.drop = DropCode(kDropTransport);
    } else if (in_order) {
      checked.sequence = Bits<2>(kInOrder);
      checked.nak = refusal(packet, row, ready);
      if (!ready && !denied(packet, row)) rnr_naks.inc();
    } else if (behind) {
      checked.sequence = Bits<2>(kDuplicate);
      if (bool(packet.reads)) checked.nak = refusal(packet, row, true);
      checked.packet.drop = DropCode(kDropSequence);
      duplicate_request.inc();
    } else {
      if (!bool(row.silent)) checked.sequence = Bits<2>(kGap);
      checked.packet.drop = DropCode(kDropSequence);
      out_of_sequence.inc();
    }
    return checked;
  }

  static bool denied(const Taken& packet, const Row& row) {
    return bool((packet.writes & ~row.remote_write) | (packet.reads & ~row.remote_read));
  }
  static Bits<8> refusal(const Taken& packet, const Row& row, bool ready) {
    if (denied(packet, row)) return Bits<8>(wire::aeth::kNakInvalidRequest);
    return ready ? Bits<8>(0) : Bits<8>(wire::aeth::kRnrNak) | row.rnr_timer.to<8>();
  }

  // The row behind what the intake holds; `taken`: a packet in order and ready for, which comes to light last.
  Row after(const Row& row, const Receives& fewer, bool taken) const {
    const bool is_control = bool(intake_.has_control);
    Row next = row;
    if (is_control) configure(next, intake_.control);
    const Psn expected = is_control ? intake_.control.expected : behind(intake_.packet, row.pmtu);
    if (is_control || taken) next.expected = expected;
    if (bool(intake_.has_event)) next.receives = row.receives + Receives(1);
    if (taken && bool(intake_.packet.takes_receive)) next.receives = fewer;
    if (!bool(intake_.has_event)) next.silent = Bits<1>(!is_control && !taken);
    return next;
  }
  static Psn behind(const Taken& packet, const PmtuCode& pmtu) {
    Psn psn;
    for (uint64_t code = 1; code <= kPmtus; code++)
      if (pmtu == PmtuCode(code)) psn = packet.behind(code);
    return psn;
  }

  // Work requests may be there before the QP receives; those of a QP that is stopped are forgotten.
  static void configure(Row& row, const QpStateControl& c) {
    row.qpn = c.qpn;
    row.pmtu = c.pmtu;
    row.rnr_timer = c.rnr_timer;
    row.receive = c.receive;
    row.remote_write = c.remote_write;
    row.remote_read = c.remote_read;
    if (!bool(c.receive)) row.receives = Receives(0);
  }
};

}  // namespace tables
}  // namespace hw
