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
    const bool cuts = bool(starts_), serves_turn = served_ == Served(kTurn);
    look_for_turn(!cuts && !serves_turn, out.full());
    const Count released = released_, sent = bool(sent_) ? to_count(piece_.psns) : Count(0);
    released_ = Count(0);
    sent_ = Bits<1>(0);
    if (served_ != Served(kNothing)) serve(bool(released), out);
    total_ = total_ + sent - released;
    if (cuts) {
      piece_ = bool(rests_.data().begun) ? rests_.data().next : wqes_.data().first;
      served_ = Served(kTurn);
      qp_ = turn_.qp;
    } else {
      take(in, control, credits, answered);
    }
    if (served_ != Served(kNothing)) rows_.request(qp_);
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A turn that waits for room, or for entries, waits for a stream.
  Cycles quiet() const {
    const bool turn_comes = (bool(repeats_) || !turns_.empty()) && !bool(waits_for_room_) && !bool(lacks_entries_);
    return served_ != Served(kNothing) || bool(starts_) || bool(joins_) || turn_comes ? 0 : kForever;
  }

  // For end-of-run checks: work requests that have not left whole, and PSNs in flight over all QPs.
  uint64_t held() const {
    uint64_t requests = served_ == Served(kWqe);
    for (int qp = 0; qp < kMaxQps; qp++) requests += (rows_.peek(qp).tail - rows_.peek(qp).head).u64();
    return requests;
  }
  uint64_t in_flight() const {
    return (total_ + (bool(sent_) ? to_count(piece_.psns) : Count(0)) - released_).u64();
  }
#endif

 private:
  typedef Bits<clog2(kListEntries) + 1> Count;  // PSNs in flight
  typedef Bits<clog2(kSendWqes) + 1> Index;     // of a work request: one bit more than a slot, to tell full from empty
  // What is served: an input or a turn. Control goes before the work requests of the life that it begins.
  typedef Bits<3> Served;
  enum : uint8_t { kNothing, kControl, kWqe, kCredit, kAnswered, kTurn };

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
    MessagePsns sent;
    Bits<16> since_ack;  // packets since one asked for an acknowledgement
  };

  // ------------------------------------------------------------------------------------------------ inputs

  void take(hls::stream<Wqe>& in, hls::stream<WorkQueueControl>& control, hls::stream<Credit>& credits,
            hls::stream<ReadAnswered>& answered) {
    const Served next = next_input(cat(cat(Bits<1>(!answered.empty()), Bits<1>(!credits.empty())),
                                       cat(Bits<1>(!in.empty()), Bits<1>(!control.empty()))));
    served_ = next;
    if (next == Served(kNothing)) return;
    last_input_ = (next - Served(kControl)).to<2>();
    if (next == Served(kWqe)) {
      wqe_ = in.read();
      last_byte_ = bool(wqe_.length) ? wqe_.length - Bits<32>(1) : Bits<32>(0);
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
    return Served(kControl) + (from + first).to<3>();
  }

  // ------------------------------------------------------------------------------------------------- table

  void serve(bool releases, hls::stream<TxPacket>& out) {
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
      joins = take_turn(row, releases, out);
    joins_ = Bits<1>(joins);
    joining_.qp = qp_;
    joining_.slot = slot(row.head);
    if (joins) row.state = State(kInRing);
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
    s.first = first_piece(last_byte_, row.pmtu, wqe_.operation, Bits<5>(read_psns()));
    wqes_.write(row_of(qp_, slot(row.tail)), s);
    row.tail = row.tail + Index(1);
    return row.state == State(kIdle);
  }

  // What is left of an earlier life is forgotten.
  void begin_life(Row& row) {
    const bool in_ring = row.state == State(kInRing) || row.state == State(kVoid);
    released_ = row.in_flight;
    lacks_entries_ = Bits<1>(0);
    row = Row();
    row.state = State(in_ring ? kVoid : kIdle);
    row.pmtu = control_.pmtu;
    row.max_reads = control_.max_reads;
    row.live = Bits<1>(1);
    rests_.write(qp_, Rest());
  }

  // Credit of packets of an earlier life may come late: it is no more than what is in flight.
  bool give_credit(Row& row) {
    const bool all = bool(credit_.dead) || !credit_.psns.ult(row.in_flight.to<24>());
    const bool wakes = row.state == State(kLacksPsns) || (row.state == State(kLacksRead) && bool(credit_.dead));
    released_ = all ? row.in_flight : to_count(credit_.psns);
    lacks_entries_ = Bits<1>(0);
    row.in_flight = all ? Count(0) : row.in_flight - to_count(credit_.psns);
    row.live = row.live & ~credit_.dead;
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

  // Starts the turn of who waits for entries, of the head of the ring, or of who joins when nobody is there. There is
  // room still when its packet leaves.
  void look_for_turn(bool may_start, bool full) {
    const bool known = turns_.fetch(), alone = bool(joins_) && turns_.empty();
    const bool wants = may_start && (bool(repeats_) || known || alone) && !bool(lacks_entries_);
    const bool starts = wants && !full;
    const bool repeats = bool(repeats_), direct = starts && !repeats && !known;
    waits_for_room_ = Bits<1>(wants && full);
    starts_ = Bits<1>(starts);
    if (bool(joins_) && !direct) turns_.join(joining_);
    joins_ = Bits<1>(0);
    if (!starts) return;
    if (!repeats) turn_ = known ? turns_.head() : joining_;
    if (!repeats && known) turns_.leave();
    repeats_ = Bits<1>(0);
    wqes_.request(row_of(turn_.qp, turn_.slot));
    rests_.request(turn_.qp);
  }

  // One packet of the QP whose turn it is, if it has credit. True when the QP wants another turn.
  bool take_turn(Row& row, bool releases, hls::stream<TxPacket>& out) {
    const Count psns = to_count(piece_.psns), window_left = Count(window()) - psns;
    const bool is_read = wqes_.data().wqe.operation == Bits<2>(kOpRead), live = bool(row.live);
    const bool is_void = row.state == State(kVoid), lacks_read = live && is_read && !row.reads.ult(row.max_reads);
    const bool lacks_psns = live && window_left.ult(row.in_flight), last_psn = live && !row.in_flight.ult(window_left);
    const bool lacks_entry = live && (Count(params.entries) - psns).ult(total_);
    const bool last = bool(piece_.last) || !live, more = !last || row.head + Index(1) != row.tail;
    const bool has_credit = !is_void && !lacks_read && !lacks_psns;
    const bool again = is_void ? row.head != row.tail : more && !lacks_read && !last_psn && !lacks_entry;
    repeats_ = Bits<1>(has_credit && lacks_entry);
    lacks_entries_ = Bits<1>(has_credit && lacks_entry && !releases);
    if (has_credit && lacks_entry) return false;
    if (!again) row.state = after_turn(is_void, lacks_read, lacks_psns || more);
    if (has_credit) send(row, last, last_psn, out);
    return again;
  }

  static State after_turn(bool is_void, bool lacks_read, bool lacks_psns) {
    return State(is_void ? kIdle : lacks_read ? kLacksRead : lacks_psns ? kLacksPsns : kIdle);
  }

  void send(Row& row, bool last, bool last_psn, hls::stream<TxPacket>& out) {
    const Wqe w = wqes_.data().wqe;
    const Rest rest = rests_.data();
    const bool is_read = w.operation == Bits<2>(kOpRead), live = bool(row.live);
    const bool asks =
        last || is_read || last_psn || is_last_entry() || rest.since_ack == Bits<16>(params.ack_interval - 1);
    out.write(packet_of(w, rest, row.pmtu, last, asks));
    rests_.write(qp_, last ? Rest() : rest_behind(w, rest, asks));
    sent_ = Bits<1>(live);
    if (live) {
      row.in_flight = row.in_flight + to_count(piece_.psns);
      row.reads = row.reads + Bits<5>(is_read);
    }
    row.head = row.head + Index(last);
  }

  // No READ request may find what this packet leaves enough.
  bool is_last_entry() const {
    return (Count(params.entries) - Count(read_psns())).ult(total_ + to_count(piece_.psns));
  }

  Rest rest_behind(const Wqe& w, const Rest& rest, bool asks) const {
    Rest r;
    r.begun = Bits<1>(1);
    r.next = next_piece(piece_, w.operation, Bits<5>(read_psns()));
    r.sent = rest.sent + piece_.psns.to<23>();
    if (!asks) r.since_ack = rest.since_ack + Bits<16>(1);
    return r;
  }

  TxPacket packet_of(const Wqe& w, const Rest& rest, const PmtuCode& pmtu, bool last, bool asks) const {
    const bool is_read = w.operation == Bits<2>(kOpRead);
    const Bits<4> shift = Bits<4>(7) + pmtu.to<4>();
    const Bits<32> sent = rest.sent.to<32>().shl(shift);
    const Bits<32> bytes = last ? w.length - sent : piece_.psns.to<32>().shl(shift);
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
    p.psns = piece_.psns;
    p.last = Bits<1>(last);
    p.index = w.index;
    p.tag = w.tag;
    return p;
  }

  RamForward<Row, kMaxQps> rows_;
  Ram<Slot, kMaxQps * kSendWqes> wqes_;
  Ram<Rest, kMaxQps> rests_;
  tables::Turns<Turn> turns_;

  Served served_;  // what is served in the next step, of the QP `qp_`, its row being asked for
  QpRow qp_;
  Bits<2> last_input_;  // of the kinds from kControl on
  Wqe wqe_;
  Bits<32> last_byte_;  // of its message
  WorkQueueControl control_;
  Credit credit_;
  // A turn: it starts with the request of `turn_`'s work request, whose `piece_` is cut in the next step, and served in
  // the one after that.
  Turn turn_;
  Piece piece_;
  Bits<1> starts_;
  Bits<1> repeats_, lacks_entries_;  // `turn_` is to be had again, not before entries are free
  Bits<1> waits_for_room_;
  Bits<1> joins_;  // `joining_` joins the ring in the next step
  Turn joining_;

  Count total_, released_;  // in flight over all QPs; what the last step released of it
  Bits<1> sent_;            // the last step added what `piece_` takes
};

}  // namespace tx
}  // namespace hw
