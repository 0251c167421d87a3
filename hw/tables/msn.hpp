// Owner of the message sequence number and of the place where the running message of a QP stands: decides what becomes
// of each request's payload, which READs are served and what the peer is told (IBTA 9.7.4, 9.7.5; docs/protocol.md D
// rows 3, 11, 21, 22, 24 to 30, 32).
//
// Every token yields a verdict, dropped or not, since payloads and verdicts pair by order (rule 6); answers pass on to
// the requester's table. A packet that breaks the rules of a message, or is one READ more than the QP may have under
// way, is refused with Invalid Request. A refused QP is dead: what comes later is dropped without an answer, until
// control sets the row again. After an RNR NAK the row stays as it is, for the packet comes again.
//
// A packet is taken in c and judged in c + 1, one a cycle, also of one QP. A row's numbers move on without waiting for
// the verdict, and instead of the verdict it keeps what that follows from, which leaves the comparisons out of its
// recurrence; the numbers of a dead row mean nothing. A row that control has not set is dead. The READs under way have
// rows of their own, so that `served` disturbs no message.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "intake.hpp"
#include "message.hpp"

namespace hw {
namespace tables {

struct Msn {
  struct Params {
    uint32_t ack_every_packet = 0;  // 1: acknowledge each packet, not only those that ask for it
  } params;

  Counter rx_write_requests;  // WRITE messages begun that the QP's rights and the opcode sequence allow
  Counter rx_read_requests;   // READ requests of that kind, duplicates not counted
  Counter messages, packets;  // completed, accepted
  Counter invalid_request;    // NAKs of that kind given
  Counter dead_drops;         // packets for a QP that is dead
  HW_COUNTERS(rx_write_requests, rx_read_requests, messages, packets, invalid_request, dead_drops)

  void step(hls::stream<RxChecked>& in, hls::stream<MsnControl>& control, hls::stream<ReadServed>& served,
            hls::stream<RxVerdict>& out, hls::stream<Response>& response) {
    count();
    if (bool(intake_.has_packet)) {
      if (out.full() || response.full()) return;
      judge(intake_.packet, rows_.data(), reads_.data(), out, response);
    }
    if (bool(intake_.has_control)) configure(intake_.control);
    if (bool(intake_.has_event)) release(intake_.event.qpn, reads_.data());
    intake_.take(in, control, served);
    if (bool(intake_.has_packet)) {
      rows_.request(row_of(intake_.packet.packet.qpn));
      reads_.request(row_of(intake_.packet.packet.qpn));
    } else if (bool(intake_.has_event)) {
      reads_.request(row_of(intake_.event.qpn));
    }
  }

 private:
  // What the verdict on a packet follows from.
  struct Judgement {
    Share share;  // its payload of its message
    RightShares right;
    Bits<1> rest;  // everything else is right, and the QP was not dead before

    bool good() const { return bool(rest) && right.holds(share); }
  };
  struct Row {
    Bits<24> msn;
    PmtuCode pmtu;
    Message message;  // that is running, else of no meaning; of a SEND: the work request that it fills
    Bits<32> length;  // of the message as a whole
    Bits<1> in_message, sends;
    Judgement last;  // of the packet in order before
  };
  struct Reads {
    Bits<5> under_way, allowed;
  };
  // A packet and what shows without its row.
  struct Taken : RxChecked {
    Piece piece;
    Bits<1> sends, reads;
    Bits<1> completes;  // a receive work request, when it is accepted
    Bits<32> length;    // of the message that starts
    RightShares right;  // of the message: when it starts here all or none, for that is known already
    Bits<1> in_order;
    Bits<1> executes;     // in order, or a READ once more
    Bits<1> comes_again;  // refused for the moment only

    Taken() = default;
    explicit Taken(const RxChecked& token) : RxChecked(token), piece(packet.opcode, packet.payload) {
      sends = Bits<1>(wire::is_send(packet.opcode));
      reads = Bits<1>(wire::is(packet.opcode, wire::kReadRequest));
      completes = (sends & piece.ends) | Bits<1>(wire::has_immediate(packet.opcode));
      length = bool(sends) ? room : packet.dma_length;
      right = right_shares();
      in_order = Bits<1>(sequence == Bits<2>(kInOrder));
      executes = in_order | (reads & Bits<1>(sequence == Bits<2>(kDuplicate)));
      comes_again = Bits<1>(nak.get<5, 3>() == Bits<3>(wire::aeth::kRnrNak >> 5));
    }

   private:
    // A WRITE brings all that remains with its last packet and leaves something before; a SEND may leave room.
    RightShares right_shares() const {
      RightShares r;
      r.part = sends | ~piece.ends;
      r.all = sends | piece.ends;
      if (!bool(piece.starts)) return r;
      const Share of_send(packet.payload, room), of_write(packet.payload, packet.dma_length);
      const bool fits = bool(reads) ? !bool(packet.payload) : r.holds(bool(sends) ? of_send : of_write);
      r.part = r.all = r.more = Bits<1>(fits);
      return r;
    }
  };
  RamForward<Row, kMaxQps> rows_;
  RamForward<Reads, kMaxQps> reads_;
  Intake<Taken, MsnControl, RxChecked, ReadServed> intake_;

  // The packet judged last, for the counters.
  struct Outcome {
    Bits<1> fresh, alive, answered, moves;
    Bits<1> begins_write, reads, ends;
    Bits<1> refused, invalid;  // before it came here, with Invalid Request
    Judgement judgement;
  } outcome_;

  void judge(const Taken& t, const Row& row, const Reads& reads, hls::stream<RxVerdict>& out,
             hls::stream<Response>& response) {
    const bool place = !bool(t.reads) || reads.under_way.ult(reads.allowed);
    const bool alive = row.last.good();
    Judgement judgement;
    judgement.share = Share(t.packet.payload, row.message.remaining);
    judgement.right = t.right;
    judgement.rest = Bits<1>(alive && !bool(t.nak) && place && in_sequence(t, row) && t.piece.suits(row.pmtu));
    Row next = advanced();
    next.msn = row.msn + t.piece.ends.to<24>();
    next.pmtu = row.pmtu;
    next.last = judgement;

    out.write(verdict(t, row, next));
    respond(t, row, next, place, response);
    const bool moves = bool(t.in_order) && !bool(t.comes_again);
    if (moves) rows_.write(row_of(t.packet.qpn), next);
    if (bool(t.executes & t.reads) && !bool(t.nak) && place) {
      Reads more = reads;
      more.under_way = reads.under_way + Bits<5>(1);
      reads_.write(row_of(t.packet.qpn), more);
    }
    outcome_.fresh = Bits<1>(1);
    outcome_.alive = Bits<1>(alive);
    outcome_.answered = Bits<1>(t.sequence != Bits<2>(kIgnore));
    outcome_.moves = Bits<1>(moves);
    outcome_.begins_write = Bits<1>(wire::is_write(t.packet.opcode)) & t.piece.starts;
    outcome_.reads = t.reads;
    outcome_.ends = t.piece.ends;
    outcome_.refused = Bits<1>(bool(t.nak));
    outcome_.invalid = Bits<1>(t.nak == Bits<8>(wire::aeth::kNakInvalidRequest));
    outcome_.judgement = judgement;
  }

  // Where the message stands behind the packet. Control writes the same, so that it needs no choice of what to write;
  // before any packet there is no row, which a Piece that starts does not ask for.
  Row advanced() {
    const Taken& t = intake_.packet;
    const bool starts = bool(t.piece.starts);
    const Message before = starts ? Message(t.address, t.length) : rows_.data().message;
    Row next;
    next.message.end = before.end;
    next.message.remaining = before.remaining - t.packet.payload.to<32>();
    next.length = starts ? t.length : rows_.data().length;
    next.in_message = ~t.piece.ends;
    next.sends = t.sends;
    return next;
  }

  // Opcode sequence (row 26).
  static bool in_sequence(const Taken& t, const Row& row) {
    return t.piece.starts != row.in_message && (bool(t.piece.starts) || t.sends == row.sends);
  }

  static RxVerdict verdict(const Taken& t, const Row& row, const Row& next) {
    const bool keep = bool(t.in_order) && next.last.good();
    const RxTransport& packet = t.packet;
    RxVerdict v;
    v.answer = Bits<1>(wire::is_answer(packet.opcode) && !bool(packet.drop));
    v.opcode = packet.opcode;
    v.placement.keep = Bits<1>(keep);
    v.placement.body = packet.body;
    v.placement.address = bool(t.piece.starts) ? t.address : row.message.address();
    v.placement.bytes = packet.payload;
    v.placement.completes = Bits<1>(keep) & t.completes;
    v.placement.completion = completion(t, next);
    v.placement.ack.qpn = packet.qpn;
    v.placement.ack.psn = packet.psn;
    v.placement.ack.syndrome = packet.syndrome;
    v.placement.ack.msn = packet.msn;
    v.placement.ack.tag = packet.tag;
    v.placement.tag = packet.tag;
    return v;
  }

  static ReceiveCompletion completion(const Taken& t, const Row& next) {
    ReceiveCompletion c;
    c.qpn = t.packet.qpn;
    c.index = t.receive;
    c.bytes = next.length - next.message.remaining;  // a WRITE leaves nothing
    c.immediate = t.packet.immediate;
    c.has_immediate = Bits<1>(wire::has_immediate(t.packet.opcode));
    c.is_write = ~t.sends;
    c.solicited = t.packet.solicited;
    c.tag = t.packet.tag;
    return c;
  }

  // A duplicate is acknowledged with the PSN completed last, not with its own; a READ is served again with its own (D.2
  // row 3), or not at all when there is no place for it.
  void respond(const Taken& t, const Row& row, const Row& next, bool place, hls::stream<Response>& response) {
    const bool in_order = bool(t.in_order), executes = bool(t.executes), gap = t.sequence == Bits<2>(kGap);
    const Bits<8> refusal =
        bool(t.nak) ? t.nak : Bits<8>(in_order && !next.last.good() ? uint64_t(wire::aeth::kNakInvalidRequest) : 0);
    const bool refused = executes && bool(refusal);
    const bool asked = bool(t.packet.ack_request) || params.ack_every_packet != 0;
    const bool silent = executes && !refused && (bool(t.reads) ? !place : !asked);
    if (!row.last.good() || t.sequence == Bits<2>(kIgnore) || silent) return;
    Response r;
    r.read = Bits<1>(executes && !refused) & t.reads;
    r.qpn = t.packet.qpn;
    r.psn = executes ? t.packet.psn : gap ? t.expected : t.expected.previous();
    r.syndrome = refused ? refusal : Bits<8>(gap ? wire::aeth::kNakSequence : wire::aeth::kAck);
    r.msn = in_order && !refused ? next.msn : row.msn;
    r.pmtu = row.pmtu;
    r.address = t.address;
    r.bytes = t.packet.dma_length;
    r.tag = t.packet.tag;
    response.write(r);
  }

  // Counts what the last step decided, which keeps the counters out of its path.
  void count() {
    const Outcome o = outcome_;
    outcome_.fresh = Bits<1>(0);
    if (!bool(o.fresh)) return;
    if (!bool(o.alive) && bool(o.answered)) dead_drops.inc();
    if (!bool(o.alive & o.moves)) return;
    const bool good = o.judgement.good(), invalid = bool(o.refused) ? bool(o.invalid) : !good;
    if (invalid) invalid_request.inc();
    if (!invalid && bool(o.reads)) rx_read_requests.inc();
    if (!invalid && bool(o.begins_write)) rx_write_requests.inc();
    if (good) packets.inc();
    if (good && bool(o.ends)) messages.inc();
  }

  void configure(const MsnControl& c) {
    Row row = advanced();
    row.msn = c.msn;
    row.pmtu = c.pmtu;
    row.in_message = Bits<1>(0);
    row.last = good_start();
    rows_.write(row_of(c.qpn), row);
    Reads none;
    none.allowed = c.max_reads;
    reads_.write(row_of(c.qpn), none);
  }

  static Judgement good_start() {
    Judgement j;
    j.right.part = j.right.all = j.right.more = Bits<1>(1);
    j.rest = Bits<1>(1);
    return j;
  }

  // What an earlier life of the QP has left to be served does not make the count negative.
  void release(const Qpn& qpn, const Reads& reads) {
    Reads less = reads;
    if (bool(reads.under_way)) less.under_way = reads.under_way - Bits<5>(1);
    reads_.write(row_of(qpn), less);
  }
};

}  // namespace tables
}  // namespace hw
