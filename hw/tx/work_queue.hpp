// tx/work_queue: owner of the send queues. Holds each QP's work requests, lets the QPs take turns packet by packet, and
// cuts their messages into packets (pieces.hpp). A packet needs credit: PSNs of its QP and of all QPs that are not in
// flight, and of a READ a place among those that the QP may have under way. A QP without credit leaves the ring of
// those that take turns, and comes back with its credit: it holds up nobody.
//
// One row a cycle is asked for in c and served in c + 1: that of a turn, or of an input. A turn comes every third cycle
// at most, and the inputs have the two cycles between in any case, one by one in the order of their ports; so a packet
// with its work request and its credit costs three cycles, on one QP as on many. No input ever waits for `out`.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tables/turns.hpp"
#include "pieces.hpp"

namespace hw {
namespace tx {

// A packet asks for an acknowledgement when it is the last of its message, is the `ack_interval`-th since that was
// asked in a long one, or may be the last for want of credit: it takes the last PSN of its QP, or leaves less of all
// QPs' than a READ request may need. PSNs are given later, by flow_control. The RETH of a WRITE is that of the whole
// message in each of its packets; First and Only take it to the wire. A READ is cut into requests, each with a RETH of
// its own.
//
// A QP that is dead, or never was alive, needs no credit: each work request leaves as one packet, to be flushed. The
// host never has more than kSendWqes work requests of a QP here.
struct WorkQueue {
  struct Params {
    uint32_t ack_interval = 16;                 // packets, 1 .. 65535
    uint32_t window_packets = 128;              // PSNs in flight per QP: 1 .. 2^23 - 1
    uint32_t entries = kListEntries - kMaxQps;  // PSNs in flight over all QPs: 1 .. kListEntries less one per QP
    uint32_t read_psns = 16;                    // of a READ request at most: 1 .. 16; more than can be in flight never
  } params;
  Counter work_requests;
  HW_COUNTERS(work_requests)

  void step(hls::stream<Wqe>& in, hls::stream<WorkQueueControl>& control, hls::stream<Credit>& credits,
            hls::stream<ReadAnswered>& answered, hls::stream<TxPacket>& out) {
    const bool wants_turn = turns_.fetch() && served_ != Served(kTurn) && !bool(lacks_entries_);
    waits_for_room_ = Bits<1>(wants_turn && out.full());
    total_ = total_ + change_;
    change_ = Count(0);
    if (served_ != Served(kNothing)) serve(out);
    if (wants_turn && !out.full()) {
      const Turn turn = turns_.head();
      served_ = Served(kTurn);
      qp_ = turn.qp;
      wqes_.request(row_of(turn.qp, turn.slot));
      rests_.request(turn.qp);
    } else {
      take(in, control, credits, answered);
    }
    if (served_ != Served(kNothing)) rows_.request(qp_);
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A turn that waits for room, or for entries, waits for a stream.
  Cycles quiet() const {
    const bool turn_comes = !turns_.empty() && !bool(waits_for_room_) && !bool(lacks_entries_);
    return served_ != Served(kNothing) || turn_comes ? 0 : kForever;
  }

  // For end-of-run checks: work requests that have not left whole, and PSNs in flight over all QPs.
  uint64_t held() const {
    uint64_t requests = served_ == Served(kWqe);
    for (int qp = 0; qp < kMaxQps; qp++) requests += (rows_.peek(qp).tail - rows_.peek(qp).head).u64();
    return requests;
  }
  uint64_t in_flight() const {
    return (total_ + change_).u64();
  }
#endif

 private:
  typedef Bits<clog2(kListEntries) + 1> Count;  // PSNs in flight
  typedef Bits<clog2(kSendWqes) + 1> Index;     // of a work request: one bit more than a slot, to tell full from empty
  // What is served: an input, in the order of their ports, or a turn.
  typedef Bits<3> Served;
  enum : uint8_t { kNothing, kWqe, kControl, kCredit, kAnswered, kTurn };

  // kVoid: in the ring, but its Turn is one of an earlier life of the QP.
  typedef Bits<3> State;
  enum : uint8_t { kIdle, kInRing, kVoid, kLacksPsns, kLacksRead };

  struct Turn {
    QpRow qp;
    SendSlot slot;  // of the QP's oldest work request
  };
  struct Row {
    State state;
    Index head, tail;
    Count in_flight;
    Bits<5> reads, max_reads;
    PmtuCode pmtu;
    Bits<1> live;
  };
  struct Slot {
    Wqe wqe;
    Piece first;
  };
  // Of the oldest work request of a QP, once it has begun.
  struct Rest {
    Bits<1> begun;
    Piece next;
    Bits<16> since_ack;  // packets since one asked for an acknowledgement
  };

  // ------------------------------------------------------------------------------------------------ inputs

  void take(hls::stream<Wqe>& in, hls::stream<WorkQueueControl>& control, hls::stream<Credit>& credits,
            hls::stream<ReadAnswered>& answered) {
    const Served next = next_input(cat(cat(Bits<1>(!answered.empty()), Bits<1>(!credits.empty())),
                                       cat(Bits<1>(!control.empty()), Bits<1>(!in.empty()))));
    served_ = next;
    if (next == Served(kNothing)) return;
    last_input_ = (next - Served(kWqe)).to<2>();
    if (next == Served(kWqe)) {
      wqe_ = in.read();
      qp_ = row_of(wqe_.qpn);
      work_requests.inc();
    } else if (next == Served(kControl)) {
      control_ = control.read();
      qp_ = row_of(control_.qpn);
    } else if (next == Served(kCredit)) {
      credit_ = credits.read();
      qp_ = row_of(credit_.qpn);
    } else {
      qp_ = row_of(answered.read().qpn);
    }
  }

  // The first after the last one, round about.
  Served next_input(const Bits<4>& waiting) const {
    const Bits<2> from = last_input_ + Bits<2>(1);
    const Bits<4> turned = cat(waiting, waiting).shr(from).to<4>();
    if (!bool(turned)) return Served(kNothing);
    const Bits<2> first(bool(turned.get<0, 1>()) ? 0 : bool(turned.get<1, 1>()) ? 1 : bool(turned.get<2, 1>()) ? 2 : 3);
    return Served(kWqe) + (from + first).to<3>();
  }

  // ------------------------------------------------------------------------------------------------- table

  void serve(hls::stream<TxPacket>& out) {
    Row row = rows_.data();
    bool joins = false;
    if (served_ == Served(kWqe))
      joins = accept(row);
    else if (served_ == Served(kControl))
      begin_life(row);
    else if (served_ == Served(kCredit))
      joins = give_credit(row);
    else if (served_ == Served(kAnswered))
      joins = end_read(row);
    else
      joins = take_turn(row, out);
    if (joins) {
      Turn turn;
      turn.qp = qp_;
      turn.slot = slot(row.head);
      turns_.join(turn);
      row.state = State(kInRing);
    }
    rows_.write(qp_, row);
  }

  static SendSlot slot(const Index& i) {
    return i.get<0, clog2(kSendWqes)>();
  }
  // In flight at most, over one QP and over all; and PSNs of a READ request.
  uint32_t window() const {
    return params.window_packets < params.entries ? params.window_packets : params.entries;
  }
  uint32_t read_psns() const {
    return params.read_psns < window() ? params.read_psns : window();
  }

  bool accept(Row& row) {
#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
    if ((row.tail - row.head).u64() == kSendWqes) violation("more work requests than the QP has slots", "work_queue");
#endif
    Slot s;
    s.wqe = wqe_;
    s.first = first_piece(wqe_, row.pmtu, Bits<5>(read_psns()));
    wqes_.write(row_of(qp_, slot(row.tail)), s);
    row.tail = row.tail + Index(1);
    return row.state == State(kIdle);
  }

  // What is left of an earlier life is forgotten.
  void begin_life(Row& row) {
    change_ = Count(0) - row.in_flight;
    const bool in_ring = row.state == State(kInRing) || row.state == State(kVoid);
    row = Row();
    row.state = State(in_ring ? kVoid : kIdle);
    row.pmtu = control_.pmtu;
    row.max_reads = control_.max_reads;
    row.live = Bits<1>(1);
    rests_.write(qp_, Rest());
    lacks_entries_ = Bits<1>(0);
  }

  // Credit of packets of an earlier life may come late: it is no more than what is in flight.
  bool give_credit(Row& row) {
    const Bits<24> in_flight = row.in_flight.to<24>();
    const bool all = bool(credit_.dead) || !credit_.psns.ult(in_flight);
    const bool wakes = row.state == State(kLacksPsns) || (row.state == State(kLacksRead) && bool(credit_.dead));
    change_ = Count(0) - (all ? row.in_flight : to_count(credit_.psns));
    row.in_flight = all ? Count(0) : row.in_flight - to_count(credit_.psns);
    row.live = row.live & ~credit_.dead;
    lacks_entries_ = Bits<1>(0);
    return wakes;
  }

  bool end_read(Row& row) {
    if (bool(row.reads)) row.reads = row.reads - Bits<5>(1);
    return row.state == State(kLacksRead);
  }

  template <int N>
  static Count to_count(const Bits<N>& psns) {
    return psns.template to<clog2(kListEntries) + 1>();
  }

  // ------------------------------------------------------------------------------------------------- turns

  // One packet of the QP whose turn it is, if it has credit. True when the QP wants another turn.
  bool take_turn(Row& row, hls::stream<TxPacket>& out) {
    const Slot work = wqes_.data();
    const Rest rest = rests_.data();
    const Piece piece = bool(rest.begun) ? rest.next : work.first;
    const bool is_read = work.wqe.operation == Bits<2>(kOpRead), live = bool(row.live);
    const Count psns = to_count(piece.psns), room = Count(window()) - psns;
    if (row.state == State(kVoid)) return leave(row, row.head == row.tail ? kIdle : kInRing);
    if (live && is_read && !row.reads.ult(row.max_reads)) return leave(row, kLacksRead);
    if (live && room.ult(row.in_flight)) return leave(row, kLacksPsns);
    lacks_entries_ = Bits<1>(live && (Count(params.entries) - psns).ult(total_));
    if (bool(lacks_entries_)) return false;

    const bool last = bool(piece.last) || !live, last_psn = live && row.in_flight == room;
    const bool asks =
        last || is_read || last_psn || is_last_entry(psns) || rest.since_ack == Bits<16>(params.ack_interval - 1);
    out.write(packet_of(work, rest, piece, row.pmtu, last, asks));
    rests_.write(qp_, last ? Rest() : rest_behind(work.wqe, rest, piece, asks));
    if (live) {
      change_ = psns;
      row.in_flight = row.in_flight + psns;
      row.reads = row.reads + Bits<5>(is_read);
    }
    if (last) row.head = row.head + Index(1);
    return leave(row, last && row.head == row.tail ? kIdle : last_psn ? kLacksPsns : kInRing);
  }

  bool leave(Row& row, uint8_t state) {
    turns_.leave();
    row.state = State(state);
    return state == kInRing;
  }

  // No READ request may find what this packet leaves enough.
  bool is_last_entry(const Count& psns) const {
    return (Count(params.entries) - Count(read_psns())).ult(total_ + psns);
  }

  Rest rest_behind(const Wqe& w, const Rest& rest, const Piece& piece, bool asks) const {
    Rest r;
    r.begun = Bits<1>(1);
    r.next = next_piece(piece, w.operation, Bits<5>(read_psns()));
    if (!asks) r.since_ack = rest.since_ack + Bits<16>(1);
    return r;
  }

  TxPacket packet_of(const Slot& work, const Rest& rest, const Piece& piece, const PmtuCode& pmtu, bool last,
                     bool asks) const {
    const Wqe& w = work.wqe;
    const bool is_read = w.operation == Bits<2>(kOpRead);
    const Bits<4> shift = Bits<4>(7) + pmtu.to<4>();
    const Bits<32> sent = (work.first.left - piece.left).to<32>().shl(shift);
    const Bits<32> bytes = last ? w.length - sent : piece.psns.to<32>().shl(shift);
    TxPacket p;
    p.opcode = request_opcode(w, !bool(rest.begun), last);
    p.qpn = w.qpn;
    p.ack_request = Bits<1>(asks);
    p.solicited = Bits<1>(bool(w.solicited) && last && !is_read);
    p.local_address = w.local_address + sent.to<64>();
    p.remote_address = is_read ? w.remote_address + sent.to<64>() : w.remote_address;
    p.rkey = w.rkey;
    p.dma_length = is_read ? bytes : w.length;
    p.immediate = w.immediate;
    p.payload = is_read ? PacketBytes(0) : bytes.to<13>();
    p.pmtu = pmtu;
    p.psns = piece.psns;
    p.last = Bits<1>(last);
    p.index = w.index;
    return p;
  }

  RamForward<Row, kMaxQps> rows_;
  Ram<Slot, kMaxQps * kSendWqes> wqes_;
  Ram<Rest, kMaxQps> rests_;
  tables::Turns<Turn> turns_;

  Served served_;  // what is served in the next step, of the QP `qp_`, its row being asked for
  QpRow qp_;
  Bits<2> last_input_;  // its number, the first port's being 0
  Wqe wqe_;
  WorkQueueControl control_;
  Credit credit_;
  Count total_, change_;   // in flight over all QPs; what the last step adds to it
  Bits<1> lacks_entries_;  // for the head of the ring: who came first is not overtaken by who needs less
  Bits<1> waits_for_room_;
};

}  // namespace tx
}  // namespace hw
