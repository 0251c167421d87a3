// tx/flow_control: owner of the requester's state. Gives new packets their PSNs, and turns acknowledgements, time-outs
// and control into commands for the retransmit list and the timer, and into credits for the work queue (IBTA 9.7.5 to
// 9.7.7; docs/protocol.md D rows 1, 7 to 13, 19, 20 and their corrections). Recovery is go-back-N.
//
// A job is taken in c (its row is requested) and done in c + 1, while the next is taken; an ACK needs one cycle more
// to be compared before it is applied, a NAK a third for what it says of the packet that it names, control a second to
// flush what is left of the QP's last life. A packet and its ACK thus cost three cycles. What may be taken never
// depends on the row, to keep that loop short.
//
// Events go before new packets, but a new packet is taken at least every second time; an acknowledgement goes before
// the other events, but not twice running.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

// A packet that comes has its room already: work_queue has counted the PSNs in flight, and the list's entries with
// them. They come back as credits when they are released, or when an error ends the QP. Neither what a dead QP's
// packets flush nor what control flushes gives credits: work_queue forgets what a QP has in flight when it hears that
// the QP is dead, and when control opens it again.
struct FlowControl {
  Counter sent_packets;
  Counter packet_seq_err;         // sequence NAKs
  Counter local_ack_timeout_err;  // time-outs with packets in flight
  Counter rnr_nak_retry_err;      // RNR NAKs: only the timer starts again
  Counter req_remote_invalid_request, req_remote_access_errors;
  Counter req_transport_retries_exceeded;
  Counter ghost_acks;  // for a PSN that is not in flight, or of a reserved kind
  HW_COUNTERS(sent_packets, packet_seq_err, local_ack_timeout_err, rnr_nak_retry_err, req_remote_invalid_request,
              req_remote_access_errors, req_transport_retries_exceeded, ghost_acks)

  void step(hls::stream<TxPacket>& packets, hls::stream<RxAck>& acks, hls::stream<TimerExpired>& expired,
            hls::stream<FlowControlControl>& control, hls::stream<ListCommand>& list, hls::stream<TimerCommand>& timer,
            hls::stream<ReadIssued>& reads, hls::stream<Credit>& credits) {
    if (bool(busy_)) {
      if (list.full() || timer.full() || reads.full() || credits.full()) return;
      Work work;
      work.row = table_.data();
      run(work);
      finish(work, list, timer, reads, credits);
      step_ = step_ == last_step() ? Bits<2>(0) : step_ + Bits<2>(1);
      if (bool(step_)) return;
    }
    take(packets, acks, expired, control);
    if (bool(busy_)) table_.request(row_of(job_.qpn));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A later step of a job is done without a stream being touched.
  Cycles quiet() const {
    return bool(step_) ? 0 : kForever;
  }
  void skip(Cycles) {}

  // For end-of-run checks: PSNs in flight over all QPs.
  uint64_t held() const {
    uint64_t psns = 0;
    for (uint64_t row = 0; row < kMaxQps; row++) psns += table_.peek(row).in_flight.u64();
    return psns;
  }
#endif

 private:
  typedef Bits<clog2(kListEntries) + 1> Count;  // PSNs in flight
  typedef Bits<2> Kind;
  enum : uint8_t { kPacket, kAck, kExpired, kControl };
  enum : uint8_t { kTimerKeep, kTimerStart, kTimerStop };

  // In flight are the PSNs from `oldest` to before `next`; `in_flight` is their number, kept, as is whether
  // there are `some`, to have it early in the cycle.
  struct Row {
    Psn next, oldest;
    Count in_flight;
    Bits<3> retries, retry_count;
    Bits<5> timeout;
    Bits<1> live, some;
  };
  // `covered`: an acknowledgement covers everything before this PSN; a NAK names it, an ACK the one before.
  struct Job {
    Kind kind;
    Qpn qpn;
    Psn covered;
    Bits<8> syndrome;
    FlowControlControl control;
    Tag tag;
  };
  // A difference of PSNs, and whether there is none, to have it early. Distances are below 2^23.
  struct Distance {
    Bits<24> value;
    Bits<1> none;
    void start(const Psn& a, const Psn& b) {
      value = a.v - b.v;
      none = Bits<1>(a == b);
    }
    bool is_zero() const { return bool(none); }
    bool is_negative() const { return bool(value.get<23, 1>()); }
  };
  // What a job does.
  struct Work {
    Row row;
    bool to_list = false, to_reads = false, to_credits = false;
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
    if (!bool(row.live)) return command(work, kListFlush, Count(0));
    command(work, kListSend, Count(0));
    work.to_reads = wire::is(packet_.opcode, wire::kReadRequest);
    if (!bool(row.some)) work.timer = Bits<2>(kTimerStart);
    row.next = Psn(row.next.v + packet_.psns.to<24>());
    row.in_flight = row.in_flight + packet_.psns.to<clog2(kListEntries) + 1>();
    row.some = Bits<1>(1);
    sent_packets.inc();
  }

  bool is_ack() const {
    return job_.syndrome.get<5, 2>() == Bits<2>(0);
  }
  bool is_rnr() const {
    return job_.syndrome.get<5, 2>() == Bits<2>(1);
  }
  Bits<2> last_step() const {
    if (job_.kind == Kind(kAck)) return Bits<2>(is_ack() ? 1 : 2);
    return Bits<2>(job_.kind == Kind(kControl) ? 1 : 0);
  }

  void acknowledge(Work& work) {
    if (step_ == Bits<2>(0)) {
      covered_.start(job_.covered, work.row.oldest);
      left_.start(work.row.next, job_.covered);
    } else if (step_ == Bits<2>(1)) {
      apply(work);
    } else if (bool(names_oldest_)) {
      refuse(work);
    }
  }

  // Releases what is covered. A NAK must name a packet in flight, and names the oldest afterwards.
  void apply(Work& work) {
    Row& row = work.row;
    const bool some_left = !left_.is_zero();
    const bool good = is_ack() || (some_left && (is_rnr() || is_nak(job_.syndrome)));
    const bool none = covered_.is_zero();
    const bool in_window = good && !covered_.is_negative() && !left_.is_negative();
    names_oldest_ = Bits<1>(in_window);
    progressed_ = Bits<1>(!none);
    if (!in_window) return ghost_acks.inc();
    row.oldest = job_.covered;  // as it was, like what follows, where nothing is covered
    row.in_flight = to_count(left_.value);
    row.some = Bits<1>(some_left);
    if (none) return;
    command(work, kListRelease, to_count(covered_.value));
    work.to_credits = true;
    work.timer = Bits<2>(some_left ? kTimerStart : kTimerStop);
    row.retries = row.retry_count;
  }

  // A NAK for the oldest PSN in flight.
  void refuse(Work& work) {
    if (is_rnr()) {
      rnr_nak_retry_err.inc();
      work.timer = Bits<2>(kTimerStart);
    } else if (job_.syndrome == Bits<8>(wire::aeth::kNakSequence)) {
      packet_seq_err.inc();
      retry(work, !bool(progressed_));
    } else {
      if (job_.syndrome == Bits<8>(wire::aeth::kNakInvalidRequest)) req_remote_invalid_request.inc();
      if (job_.syndrome == Bits<8>(wire::aeth::kNakRemoteAccess)) req_remote_access_errors.inc();
      fail(work, Bits<4>(kRemoteInvalid - 1) + job_.syndrome.get<0, 4>());
    }
  }

  void time_out(Work& work) {
    if (!bool(work.row.some)) return;
    local_ack_timeout_err.inc();
    retry(work, true);
  }

  // The retries are reloaded by progress, and a NAK that brought progress does not cost one.
  void retry(Work& work, bool costs) {
    Row& row = work.row;
    if (costs && row.retries == Bits<3>(0)) {
      req_transport_retries_exceeded.inc();
      return fail(work, Bits<4>(kRetriesExceeded));
    }
    if (costs) row.retries = row.retries - Bits<3>(1);
    command(work, kListReplay, row.in_flight);
    work.timer = Bits<2>(kTimerStart);
  }

  void fail(Work& work, const Bits<4>& status) {
    abort(work, status);
    work.to_credits = true;
  }

  void abort(Work& work, const Bits<4>& status) {
    Row& row = work.row;
    command(work, kListAbort, row.in_flight);
    work.status = status;
    work.timer = Bits<2>(kTimerStop);
    row.in_flight = Count(0);
    row.oldest = row.next;
    row.live = row.some = Bits<1>(0);
  }

  // What is left of the QP's last life is flushed in the first step.
  void set_row(Work& work) {
    Row& row = work.row;
    if (step_ == Bits<2>(0)) {
      if (bool(row.some)) abort(work, Bits<4>(kFlushed));
      return;
    }
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

  static Count to_count(const Bits<24>& x) {
    return x.to<clog2(kListEntries) + 1>();
  }
  static void command(Work& work, ListOp op, const Count& count) {
    work.to_list = true;
    work.op = Bits<3>(op);
    work.count = count;
  }

  void finish(const Work& work, hls::stream<ListCommand>& list, hls::stream<TimerCommand>& timer,
              hls::stream<ReadIssued>& reads, hls::stream<Credit>& credits) {
    const Row before = table_.data();
    if (work.to_list) list.write(list_command(work, before));
    if (work.to_reads) reads.write(read_issued(before.next));
    if (work.to_credits) credits.write(credit(work));
    if (work.timer != Bits<2>(kTimerKeep)) {
      TimerCommand t;
      t.qpn = job_.qpn;
      t.start = Bits<1>(work.timer == Bits<2>(kTimerStart));
      t.exponent = work.row.timeout;
      timer.write(t);
    }
    table_.write(row_of(job_.qpn), work.row);
  }

  ListCommand list_command(const Work& work, const Row& before) const {
    ListCommand c;
    c.op = work.op;
    c.packet = packet_;
    c.packet.qpn = job_.qpn;
    c.packet.psn = work.op == Bits<3>(kListSend) ? before.next : before.oldest;
    c.count = work.count.to<24>();
    c.status = work.status;
    c.tag = job_.tag;
    return c;
  }
  ReadIssued read_issued(const Psn& psn) const {
    ReadIssued r;
    r.qpn = packet_.qpn;
    r.psn = psn;
    r.local_address = packet_.local_address;
    r.bytes = packet_.dma_length;
    return r;
  }
  Credit credit(const Work& work) const {
    Credit c;
    c.qpn = job_.qpn;
    c.psns = work.count.to<24>();
    c.dead = Bits<1>(work.op == Bits<3>(kListAbort));
    c.tag = job_.tag;
    return c;
  }

  void take(hls::stream<TxPacket>& packets, hls::stream<RxAck>& acks, hls::stream<TimerExpired>& expired,
            hls::stream<FlowControlControl>& control) {
    const bool packet = !packets.empty(), other = !expired.empty() || !control.empty();
    const bool event = !acks.empty() || other;
    busy_ = Bits<1>(packet || event);
    if (packet && (bool(packet_turn_) || !event)) {
      packet_ = packets.read();
      job_.kind = Kind(kPacket);
      job_.qpn = packet_.qpn;
      job_.tag = packet_.tag;
      packet_turn_ = Bits<1>(0);
    } else if (event) {
      take_event(!acks.empty() && !(other && bool(other_turn_)), acks, expired, control);
      packet_turn_ = Bits<1>(1);
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
      job_.tag = a.tag;
    } else if (!expired.empty()) {
      job_.kind = Kind(kExpired);
      job_.qpn = expired.read().qpn;
      job_.tag = Tag();
    } else {
      job_.control = control.read();
      job_.kind = Kind(kControl);
      job_.qpn = job_.control.qpn;
      job_.tag = Tag();
    }
  }

  RamForward<Row, kMaxQps> table_;
  Bits<1> busy_;
  Bits<2> step_;
  Job job_;
  Distance covered_, left_;  // of an acknowledgement: PSNs that it releases, PSNs that stay in flight
  Bits<1> names_oldest_, progressed_;
  TxPacket packet_;  // the newest packet
  Bits<1> packet_turn_, other_turn_;
};

}  // namespace tx
}  // namespace hw
