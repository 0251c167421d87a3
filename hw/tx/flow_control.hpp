// tx/flow_control: owner of the requester's state. Gives new packets their PSN while the window has room, and turns
// acknowledgements, time-outs and control into commands for the retransmit list and the timer (IBTA 9.7.5 to 9.7.7;
// facts/protocol.md D rows 1, 7 to 13, 19, 20 and their corrections). Recovery is go-back-N.
//
// One job a cycle: taken in c (its row is requested), done in c + 1. An acknowledgement that ends with a NAK, and
// control for a QP with packets in flight, take two cycles: the same job again on the row that the first one left.
// Events go before new packets, but a new packet is taken at least every second time; an acknowledgement goes before
// the other events, but not twice running.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

// A new packet that finds no room is held, and those of other QPs behind it wait too, until the next event; then it is
// tried again. So that this event comes, the packet that takes the last place asks for an acknowledgement unless one
// sent since the last release did.
struct FlowControl {
  struct Params {
    uint32_t window_packets = 128;                  // in flight per QP: 1 .. 2^23 - 1
    uint32_t entries = kListEntries - kMaxQps;      // in flight over all QPs: 1 .. kListEntries less one per QP
  } params;

  Counter sent_packets;
  Counter packet_seq_err;                  // sequence NAKs
  Counter local_ack_timeout_err;           // time-outs with packets in flight
  Counter rnr_nak_retry_err;               // RNR NAKs: only the timer starts again
  Counter req_remote_invalid_request, req_remote_access_errors;
  Counter req_transport_retries_exceeded;
  Counter ghost_acks;                      // for a PSN that is not in flight, or of a reserved kind
  HW_COUNTERS(sent_packets, packet_seq_err, local_ack_timeout_err, rnr_nak_retry_err, req_remote_invalid_request,
              req_remote_access_errors, req_transport_retries_exceeded, ghost_acks)

  void step(hls::stream<TxPacket>& packets, hls::stream<RxAck>& acks, hls::stream<TimerExpired>& expired,
            hls::stream<FlowControlControl>& control, hls::stream<ListCommand>& list,
            hls::stream<TimerCommand>& timer) {
    total_ = total_ - freed_;
    freed_ = Count(0);
    if (bool(busy_)) {
      if (list.full() || timer.full()) return;
      Work work(table_.data());
      run(work);
      finish(work, list, timer);
      if (work.again) return;
    }
    take(packets, acks, expired, control);
    if (bool(busy_)) table_.request(row_of(job_.qpn));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A held packet is tried again without a stream being touched.
  Cycles quiet() const { return bool(busy_) && job_.kind == Kind(kPacket) ? 0 : kForever; }
  void skip(Cycles) {}

  // For end-of-run checks: packets in flight over all QPs, and whether one waits for room.
  uint64_t in_flight() const { return (total_ - freed_).u64(); }
  bool holds_packet() const { return bool(held_); }
#endif

 private:
  typedef Bits<clog2(kListEntries) + 1> Count;  // packets in flight
  typedef Bits<2> Kind;
  enum : uint8_t { kPacket, kAck, kExpired, kControl };
  enum : uint8_t { kTimerKeep, kTimerStart, kTimerStop };

  // In flight are the PSNs from `oldest` to before `next`; `in_flight` is their number, kept to have it early in the
  // cycle. `asked`: one of those sent since the last release asks for an acknowledgement.
  struct Row {
    Psn next, oldest;
    Count in_flight;
    Bits<3> retries, retry_count;
    Bits<5> timeout;
    Bits<1> live, asked;
  };
  // `covered`: an acknowledgement covers everything before this PSN; a NAK names it, an ACK the one before.
  struct Job {
    Kind kind;
    Qpn qpn;
    Psn covered;
    Bits<8> syndrome;
    FlowControlControl control;
  };
  // What a job does.
  struct Work {
    explicit Work(const Row& r) : row(r) {}
    Row row;
    bool to_list = false, again = false;
    Bits<3> op;
    Count count;
    Bits<4> status;
    Bits<2> timer;
  };

  void run(Work& work) {
    if (job_.kind == Kind(kPacket))
      new_packet(work);
    else if (job_.kind == Kind(kAck))
      acknowledge(work);
    else if (job_.kind == Kind(kExpired))
      time_out(work);
    else
      set_row(work);
  }

  void new_packet(Work& work) {
    Row& row = work.row;
    const bool room = row.in_flight.to<32>().ult(Bits<32>(params.window_packets)) &&
                      total_.to<32>().ult(Bits<32>(params.entries));
    const bool dead = !bool(row.live);
    held_ = Bits<1>(!dead && !room);
    blocked_ = held_;
    if (dead) return command(work, kListFlush, Count(0));
    if (!room) return;
    command(work, kListSend, Count(0));
    if (row.in_flight == Count(0)) work.timer = Bits<2>(kTimerStart);
    row.asked = row.asked | packet_.ack_request | Bits<1>(takes_last_place(row));
    row.next = row.next.next();
    row.in_flight = row.in_flight + Count(1);
    total_ = total_ + Count(1);
    sent_packets.inc();
  }

  bool takes_last_place(const Row& row) const {
    return row.in_flight.to<32>() == Bits<32>(params.window_packets - 1) ||
           total_.to<32>() == Bits<32>(params.entries - 1);
  }

  void acknowledge(Work& work) {
    Row& row = work.row;
    const Bits<2> kind = job_.syndrome.get<5, 2>();
    const bool ack = kind == Bits<2>(0), rnr = kind == Bits<2>(1);
    const bool names_one = job_.covered != row.next;  // a NAK names a packet in flight
    const bool good = ack || (names_one && (rnr || is_nak(job_.syndrome)));
    // Less than 2^23 are in flight, so two signs do for the two compares of a window.
    if (good && row.oldest.before(job_.covered) && !row.next.before(job_.covered)) {
      command(work, kListRelease, to_count(job_.covered.distance(row.oldest)));
      row.in_flight = to_count(row.next.distance(job_.covered));
      row.oldest = job_.covered;
      row.retries = row.retry_count;
      row.asked = Bits<1>(0);
      work.timer = Bits<2>(names_one ? kTimerStart : kTimerStop);
      work.again = !ack;
      freed_ = work.count;
    } else if (!good || job_.covered != row.oldest) {
      ghost_acks.inc();
    } else if (rnr) {
      rnr_nak_retry_err.inc();
      work.timer = Bits<2>(kTimerStart);
    } else if (!ack) {
      refuse(work);
    }
  }

  // A NAK for the oldest packet in flight.
  void refuse(Work& work) {
    if (job_.syndrome == Bits<8>(wire::aeth::kNakSequence)) {
      packet_seq_err.inc();
      return retry(work, !bool(repeated_));
    }
    if (job_.syndrome == Bits<8>(wire::aeth::kNakInvalidRequest)) req_remote_invalid_request.inc();
    if (job_.syndrome == Bits<8>(wire::aeth::kNakRemoteAccess)) req_remote_access_errors.inc();
    abort(work, Bits<4>(kRemoteInvalid - 1) + job_.syndrome.get<0, 4>());
  }

  void time_out(Work& work) {
    if (work.row.in_flight == Count(0)) return;
    local_ack_timeout_err.inc();
    retry(work, true);
  }

  // The retries are reloaded by progress, and a NAK that brought progress does not cost one.
  void retry(Work& work, bool costs) {
    Row& row = work.row;
    if (costs && row.retries == Bits<3>(0)) {
      req_transport_retries_exceeded.inc();
      return abort(work, Bits<4>(kRetriesExceeded));
    }
    if (costs) row.retries = row.retries - Bits<3>(1);
    command(work, kListReplay, row.in_flight);
    work.timer = Bits<2>(kTimerStart);
  }

  void abort(Work& work, const Bits<4>& status) {
    Row& row = work.row;
    command(work, kListAbort, row.in_flight);
    work.status = status;
    work.timer = Bits<2>(kTimerStop);
    freed_ = row.in_flight;
    row.in_flight = Count(0);
    row.oldest = row.next;
    row.live = row.asked = Bits<1>(0);
  }

  // What is left of the QP's last life is flushed first.
  void set_row(Work& work) {
    Row& row = work.row;
    work.again = row.in_flight != Count(0);
    if (work.again) return abort(work, Bits<4>(kFlushed));
    command(work, kListOpen, Count(0));
    work.timer = Bits<2>(kTimerStop);
    row.next = row.oldest = job_.control.psn;
    row.retries = row.retry_count = job_.control.retry_count;
    row.timeout = job_.control.timeout;
    row.live = Bits<1>(1);
  }

  static bool is_nak(const Bits<8>& syndrome) {
    return syndrome == Bits<8>(wire::aeth::kNakSequence) || syndrome == Bits<8>(wire::aeth::kNakInvalidRequest) ||
           syndrome == Bits<8>(wire::aeth::kNakRemoteAccess) || syndrome == Bits<8>(wire::aeth::kNakRemoteOperation);
  }

  static Count to_count(const Bits<24>& x) { return x.to<clog2(kListEntries) + 1>(); }
  static void command(Work& work, ListOp op, const Count& count) {
    work.to_list = true;
    work.op = Bits<3>(op);
    work.count = count;
  }

  void finish(const Work& work, hls::stream<ListCommand>& list, hls::stream<TimerCommand>& timer) {
    const Row before = table_.data();
    if (work.to_list) {
      ListCommand c;
      c.op = work.op;
      c.packet = packet_;
      c.packet.qpn = job_.qpn;
      c.packet.psn = work.op == Bits<3>(kListSend) ? before.next : before.oldest;
      c.packet.ack_request = packet_.ack_request | (work.row.asked & ~before.asked);
      c.count = work.count.to<24>();
      c.status = work.status;
      list.write(c);
    }
    if (work.timer != Bits<2>(kTimerKeep)) {
      TimerCommand t;
      t.qpn = job_.qpn;
      t.start = Bits<1>(work.timer == Bits<2>(kTimerStart));
      t.exponent = work.row.timeout;
      timer.write(t);
    }
    table_.write(row_of(job_.qpn), work.row);
    repeated_ = Bits<1>(work.again);
  }

  void take(hls::stream<TxPacket>& packets, hls::stream<RxAck>& acks, hls::stream<TimerExpired>& expired,
            hls::stream<FlowControlControl>& control) {
    const bool held = bool(held_);
    const bool packet = held ? !bool(blocked_) : !packets.empty();
    const bool other = !expired.empty() || !control.empty();
    const bool event = !acks.empty() || other;
    busy_ = Bits<1>(packet || event);
    if (packet && (bool(packet_turn_) || !event)) {
      if (!held) packet_ = packets.read();
      held_ = Bits<1>(1);
      job_.kind = Kind(kPacket);
      job_.qpn = packet_.qpn;
      packet_turn_ = Bits<1>(0);
    } else if (event) {
      take_event(!acks.empty() && !(other && bool(other_turn_)), acks, expired, control);
      packet_turn_ = Bits<1>(1);
      blocked_ = Bits<1>(0);
    }
  }

  void take_event(bool ack, hls::stream<RxAck>& acks, hls::stream<TimerExpired>& expired,
                  hls::stream<FlowControlControl>& control) {
    other_turn_ = Bits<1>(ack);
    if (ack) {
      const RxAck& a = acks.read();
      job_.kind = Kind(kAck);
      job_.qpn = a.qpn;
      job_.covered = bool(a.syndrome.get<5, 2>()) ? a.psn : a.psn.next();
      job_.syndrome = a.syndrome;
    } else if (!expired.empty()) {
      job_.kind = Kind(kExpired);
      job_.qpn = expired.read().qpn;
    } else {
      job_.control = control.read();
      job_.kind = Kind(kControl);
      job_.qpn = job_.control.qpn;
    }
  }

  RamForward<Row, kMaxQps> table_;
  Bits<1> busy_, repeated_;
  Job job_;
  TxPacket packet_;       // the new packet, while `held_`
  Bits<1> held_, blocked_;
  Count total_, freed_;   // in flight over all QPs; those released in the last cycle are still counted
  Bits<1> packet_turn_, other_turn_;
};

}  // namespace tx
}  // namespace hw
