// tx/work_queue: owner of the send queues. Holds each QP's work requests, lets the QPs take turns packet by packet, and
// cuts their messages into packets (pieces.hpp). A packet needs credit: PSNs of its QP and of all QPs that are not in
// flight, and for a READ a place among those that the QP may have under way. A QP without credit leaves the ring of
// those that take turns, and comes back with its credit: it holds up nobody.
//
// The table serves one request a cycle, made in c and served in c + 1. A turn takes three cycles: its work request is
// asked for in c, the packet is cut and the QP's row asked for in c + 1, and it leaves in c + 2. The two requests that
// the table can serve meanwhile belong to the inputs: work requests and control take turns with credits and answered
// READs, and in each pair both do when both wait. So a packet with its work request and its credit costs three cycles,
// on one QP as on many. No input ever waits for `out`.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tables/turns.hpp"
#include "pieces.hpp"

namespace hw {
namespace tx {

// A packet asks for an acknowledgement when it is the last of its message, is an `ack_interval`-th of a long one, or
// may be the last for want of credit: it takes the last PSN of its QP, or leaves less of all QPs' than a READ request
// may need. PSNs are given later, by flow_control.
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
    const QpRow cut_qp = turn_.qp;
    const bool cuts = bool(starts_), serves_turn = served_ == Served(kTurn);
    look_for_turn(!cuts && !serves_turn, out.full());
    const Count released = released_, sent = bool(sent_) ? to_count(piece_.psns) : Count(0);
    released_ = Count(0);
    sent_ = Bits<1>(0);
    if (served_ != Served(kNothing)) serve(bool(released) || bool(releases_), out);
    releases_ = Bits<1>(bool(released));
    if (cuts) {
      is_read_ = Bits<1>(wqes_.data().wqe.operation == Bits<2>(kOpRead));
      piece_ = bool(rests_.data().begun) ? rests_.data().next : wqes_.data().first;
      lacks_entry_ = Bits<1>((Count(params.entries) - to_count(piece_.psns)).ult(total_));
      served_ = Served(kTurn);
      qp_ = cut_qp;
    } else {
      take(in, control, credits, answered);
    }
    total_ = total_ + sent - released;
    rows_.request(qp_);
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
    for (int qp = 0; qp < kMaxQps; qp++) requests += rows_.peek(qp).waiting.u64();
    return requests;
  }
  uint64_t in_flight() const {
    return (total_ + (bool(sent_) ? to_count(piece_.psns) : Count(0)) - released_).u64();
  }
#endif

 private:
  enum : int { kCountBits = clog2(kListEntries) + 1 };
  typedef Bits<kCountBits> Count;               // PSNs in flight
  typedef Bits<kCountBits + 1> Change;          // with a sign
  typedef Bits<clog2(kSendWqes) + 1> Requests;  // of a QP: 0 .. kSendWqes
  // What is served: an input or a turn.
  typedef Bits<3> Served;
  enum : uint8_t { kNothing, kControl, kWqe, kCredit, kAnswered, kTurn };

  // One of them. kVoid: in the ring, but its Turn is one of an earlier life of the QP.
  typedef Bits<4> State;
  enum : uint8_t { kIdle = 0, kInRing = 1, kVoid = 2, kLacksPsns = 4, kLacksRead = 8 };

  struct Turn {
    QpRow qp;
    SendSlot slot;  // of the QP's oldest work request
  };
  struct Row {
    State state;
    SendSlot head;  // the oldest work request
    Requests waiting;
    Count in_flight;
    Bits<5> max_reads, reads_left;  // READ requests under way at most, and how many more
    PmtuCode pmtu;
    Bits<1> live;
  };
  struct Slot {
    Wqe wqe;
    Piece first;
  };
  // ------------------------------------------------------------------------------------------------ inputs

  // Control goes before the work requests of the life that it begins, but not twice running.
  void take(hls::stream<Wqe>& in, hls::stream<WorkQueueControl>& control, hls::stream<Credit>& credits,
            hls::stream<ReadAnswered>& answered) {
    const bool wqe = !in.empty(), life = !control.empty(), credit = !credits.empty(), answer = !answered.empty();
    const bool first = bool(back_last_) || !(credit || answer), back = !(bool(back_last_) && (wqe || life));
    const bool takes_control = first && life && !(wqe && bool(control_last_));
    const bool takes_wqe = first && wqe && !(life && !bool(control_last_));
    const bool takes_credit = back && credit && !(answer && bool(credit_last_));
    const bool takes_answer = back && answer && !(credit && !bool(credit_last_));
    served_ = Served((takes_wqe ? kWqe : 0) | (takes_control ? kControl : 0) | (takes_credit ? kCredit : 0) |
                     (takes_answer ? kAnswered : 0));
    qp_ =
        take(takes_wqe, in) | take(takes_control, control) | take(takes_credit, credits) | take(takes_answer, answered);
    back_last_ = Bits<1>(takes_credit || takes_answer);
    control_last_ = Bits<1>(takes_control || (wqe && !takes_wqe && bool(control_last_)));
    if (takes_credit || takes_answer) credit_last_ = Bits<1>(takes_credit);
  }
  // The row of the token that is taken, 0 for none.
  template <class T>
  QpRow take(bool takes, hls::stream<T>& from) {
    if (!takes) return QpRow(0);
    const T& token = from.read();
    keep(token);
    return row_of(token.qpn);
  }
  void keep(const Wqe& w) {
    wqe_ = w;
    last_byte_ = bool(w.length) ? w.length - Bits<32>(1) : Bits<32>(0);
    work_requests.inc();
  }
  void keep(const WorkQueueControl& c) {
    control_ = c;
  }
  void keep(const Credit& c) {
    returned_ = bool(c.psns.get<kCountBits, 24 - kCountBits>()) ? ~Count(0) : to_count(c.psns);
    dead_ = c.dead;
  }
  void keep(const ReadAnswered&) {}

  // ------------------------------------------------------------------------------------------------- table

  void serve(bool releases, hls::stream<TxPacket>& out) {
    Row row = rows_.data();
    bool stays = in_ring(row);  // and so does not join it
    if (served_ == Served(kTurn))
      stays = take_turn(row, releases, out);
    else if (served_ == Served(kWqe))
      accept(row);
    else if (served_ == Served(kControl))
      begin_life(row);
    else if (served_ == Served(kCredit))
      give_credit(row);
    else
      end_read(row);
    joins_ = Bits<1>(in_ring(row) && !stays);
    joining_.qp = qp_;
    joining_.slot = row.head;
    row.in_flight = count(rows_.data().in_flight);
    rows_.write(qp_, row);
  }

  // What is in flight after this step. Credit of packets of an earlier life may come late: it is no more than what is
  // in flight. One adder for what comes and what goes.
  Count count(const Count& in_flight) {
    const bool is_credit = served_ == Served(kCredit), is_control = served_ == Served(kControl);
    const Change moved = to_change(in_flight) + (is_credit ? Change(0) - to_change(returned_) : to_change(piece_.psns));
    const bool all = is_control || (is_credit && (bool(dead_) || bool(moved.get<kCountBits, 1>())));
    if (is_control || is_credit) released_ = all ? in_flight : returned_;
    return all ? Count(0) : is_credit || bool(sent_) ? to_count(moved) : in_flight;
  }

  // In flight at most, over one QP and over all; and PSNs of a READ request.
  uint32_t window() const {
    return params.window_packets < params.entries ? params.window_packets : params.entries;
  }
  uint32_t read_psns() const {
    return params.read_psns < window() ? params.read_psns : window();
  }

  static bool in_ring(const Row& row) {
    return bool(row.state & State(kInRing));
  }

  void accept(Row& row) {
#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
    if (row.waiting.u64() == kSendWqes) violation("more work requests than the QP has slots", "work_queue");
#endif
    Slot s;
    s.wqe = wqe_;
    s.first = first_piece(last_byte_, row.pmtu, wqe_.operation == Bits<2>(kOpRead), Bits<5>(read_psns()));
    wqes_.write(row_of(qp_, row.head + row.waiting.to<clog2(kSendWqes)>()), s);
    row.waiting = row.waiting + Requests(1);
    if (row.state == State(kIdle)) row.state = State(kInRing);
  }

  // What is left of an earlier life is forgotten.
  void begin_life(Row& row) {
    const bool has_turn = bool(row.state & State(kInRing | kVoid));
    lacks_entries_ = Bits<1>(0);
    row = Row();
    row.state = State(has_turn ? kVoid : kIdle);
    row.pmtu = control_.pmtu;
    row.max_reads = row.reads_left = control_.max_reads;
    row.live = Bits<1>(1);
    rests_.write(qp_, Rest());
  }

  void give_credit(Row& row) {
    lacks_entries_ = Bits<1>(0);
    row.live = row.live & ~dead_;
    if (bool(row.state & State(bool(dead_) ? kLacksPsns | kLacksRead : kLacksPsns))) row.state = State(kInRing);
  }

  void end_read(Row& row) {
    if (row.reads_left != row.max_reads) row.reads_left = row.reads_left + Bits<5>(1);
    if (bool(row.state & State(kLacksRead))) row.state = State(kInRing);
  }

  template <int N>
  static Count to_count(const Bits<N>& psns) {
    return psns.template to<kCountBits>();
  }
  template <int N>
  static Change to_change(const Bits<N>& psns) {
    return psns.template to<kCountBits + 1>();
  }

  // ------------------------------------------------------------------------------------------------- turns

  // Starts the turn of who waited for entries, of the head of the ring, or of who joins it when nobody is there. The
  // room is there still when the packet leaves.
  void look_for_turn(bool may_start, bool full) {
    const bool repeats = bool(repeats_), known = turns_.fetch(), alone = bool(joins_) && turns_.empty();
    const bool may = may_start && !bool(lacks_entries_), starts = may && !full && (repeats || known || alone);
    const bool direct = starts && !repeats && !known;
    waits_for_room_ = Bits<1>(may && full && (repeats || known));
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

  // One packet of the QP whose turn it is, if it has credit. True when it keeps its turn, for want of entries.
  bool take_turn(Row& row, bool releases, hls::stream<TxPacket>& out) {
    const Count psns = to_count(piece_.psns), window_left = Count(window()) - psns;
    const bool is_void = bool(row.state & State(kVoid)), live = bool(row.live);
    const bool has_next = Requests(1).ult(row.waiting), more = !bool(piece_.last) || has_next;
    const bool lacks_read = bool(is_read_) && !bool(row.reads_left);
    const bool lacks_entry = bool(lacks_entry_);
    const bool lacks_psns = window_left.ult(row.in_flight), last_psn = !row.in_flight.ult(window_left);
    const bool asks_all = !is_void && live && !lacks_read, asks_own = asks_all && !lacks_entry;
    const bool unasked = is_void ? bool(row.waiting) : !live && has_next;
    repeats_ = Bits<1>(asks_all && lacks_entry);
    lacks_entries_ = Bits<1>(asks_all && lacks_entry && !releases);
    row.state = State((unasked || (asks_all && (lacks_entry || (more && !last_psn))) ? kInRing : 0) |
                      (!is_void && live && lacks_read ? kLacksRead : 0) |
                      (asks_own && (lacks_psns || (last_psn && more)) ? kLacksPsns : 0));
    const bool pays = asks_own && !lacks_psns, flushes = !is_void && !live, last = bool(piece_.last) || !live;
    sent_ = Bits<1>(pays);
    if (pays || flushes) {
      row.reads_left = row.reads_left - Bits<5>(live && bool(is_read_));
      row.head = row.head + SendSlot(last);
      row.waiting = row.waiting - Requests(last);
      send(row.pmtu, last, live && last_psn, out);
    }
    return asks_all && lacks_entry;
  }

  void send(const PmtuCode& pmtu, bool last, bool last_psn, hls::stream<TxPacket>& out) {
    const Wqe w = wqes_.data().wqe;
    const Rest rest = rests_.data();
    const bool is_read = bool(is_read_), nth = rest.since_nth == Bits<16>(params.ack_interval - 1);
    TxPacket packet = packet_of(w, rest, piece_, pmtu, is_read, last);
    packet.ack_request = Bits<1>(last || nth || is_read || last_psn || is_last_entry());
    out.write(packet);
    rests_.write(qp_, last ? Rest() : rest_behind(rest, piece_, is_read, Bits<5>(read_psns()), nth));
  }

  // No READ request may find what this packet leaves enough.
  bool is_last_entry() const {
    return (Count(params.entries) - Count(read_psns())).ult(total_ + to_count(piece_.psns));
  }

  RamForward<Row, kMaxQps> rows_;
  Ram<Slot, kMaxQps * kSendWqes> wqes_;
  Ram<Rest, kMaxQps> rests_;
  tables::Turns<Turn> turns_;

  Served served_;  // what is served in the next step, of the QP `qp_`
  QpRow qp_;
  Bits<1> back_last_, control_last_, credit_last_;  // who of each pair was taken last
  Wqe wqe_;
  Bits<32> last_byte_;  // of its message
  WorkQueueControl control_;
  Count returned_;  // by a credit: no more than can be in flight
  Bits<1> dead_;
  // A turn: it starts with the request of `turn_`'s work request, whose `piece_` is cut in the next step, and served in
  // the one after that.
  Turn turn_;
  Piece piece_;
  Bits<1> is_read_, lacks_entry_;
  Bits<1> starts_;
  Bits<1> repeats_, lacks_entries_;  // `turn_` is to be had again, not before entries are free
  Bits<1> waits_for_room_;
  Bits<1> joins_;  // `joining_` joins the ring in the next step
  Turn joining_;

  Count total_, released_;  // in flight over all QPs; what the last step released of it
  Bits<1> releases_;        // the one before released some
  Bits<1> sent_;            // the last step added what `piece_` takes
};

}  // namespace tx
}  // namespace hw
