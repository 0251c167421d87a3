// Time-outs of the queue pairs: 4.096 us * 2^exponent after their start, never early (IBTA 9.7.6.1.3; docs/protocol.md
// D row 19). A time-out fires once and is stopped by that.
//
// Deadlines are absolute cycles. A scan over the rows runs only when some bound on the deadlines is reached: it fires
// what has expired and finds the next bound. So a deadline is met within one scan, and QPs without a running timer cost
// nothing. Times are compared modulo 2^44 cycles, half of it to each side. A comparison takes a cycle of its own: a
// scan starts in the cycle after its bound is reached, and spends two cycles on a row, 2 `qps` and a few in all.
//
// A command is read in c, its time running from there, and written in c + 1. It goes before the scan, which needs the
// Ram's write port to fire; then the next command waits: one cycle at most, and never for room in `fired`. The row that
// is looked at when a command writes it is done with: its deadline is among those started since the scan began.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tables {

struct Timer {
  struct Params {
    uint32_t unit_cycles = 1024;                   // 4.096 us at 250 MHz
    uint32_t qps = kMaxQps < 512 ? kMaxQps : 512;  // rows that can have a time-out: 0 .. qps - 1
  } params;

  Counter expired;
  HW_COUNTERS(expired)

  void step(hls::stream<TimerCommand>& in, hls::stream<TimerExpired>& fired) {
    const bool scanning = bool(scanning_), compared = scanning && bool(compared_), starts_scan = bool(due_);
    const bool rewritten = bool(pending_) && row_of(command_.qpn) == row_;
    const bool may_fire = compared && bool(reached_) && !rewritten && !fired.full();
    const bool fires = may_fire && !bool(pending_);
    const bool takes = !in.empty() && !(may_fire && bool(pending_));
    due_ = Bits<1>(!scanning && !starts_scan && due(now_));
    if (fires) fire(fired);
    if (bool(pending_)) write_command();
    if (scanning && (rewritten || fires)) {
      next_row();
    } else if (compared && !bool(reached_)) {
      pass(rows_.data());
    } else if (scanning && !compared) {
      compare(rows_.data());
    } else if (starts_scan) {
      start_scan();
    }
    if (bool(scanning_)) rows_.request(row_);
    pending_ = Bits<1>(takes);
    if (takes) command(in.read());
    now_ = now_ + Time(1);
  }

 private:
  typedef Bits<44> Time;
  struct Row {
    Bits<1> armed;
    Time deadline;
    Qpn qpn;
  };
  struct Bound {  // no deadline of those that it stands for lies before it
    Bits<1> any;
    Time deadline;
  };

  RamForward<Row, kMaxQps> rows_;
  Time now_;
  Bits<1> scanning_, pending_;
  Bits<1> due_;                 // a scan is to start
  Row command_;                 // to be written when pending
  QpRow row_;                   // the scan looks at it
  Bits<1> compared_, reached_;  // it has been compared with the time: its deadline is reached
  Bound scanned_, started_;     // of the rows that the scan has passed, of those started since it began

  static bool not_before(const Time& a, const Time& b) { return !bool((a - b).get<43, 1>()); }
  static bool reached(const Row& row, const Time& now) { return bool(row.armed) && not_before(now, row.deadline); }
  bool due(const Time& now) const {
    return (bool(scanned_.any) && not_before(now, scanned_.deadline)) ||
           (bool(started_.any) && not_before(now, started_.deadline));
  }

  static void lower(Bound& bound, const Time& deadline) {
    if (!bool(bound.any) || not_before(bound.deadline, deadline)) bound.deadline = deadline;
    bound.any = Bits<1>(1);
  }

  void command(const TimerCommand& c) {
    command_.armed = Bits<1>(bool(c.start) && bool(c.exponent));
    command_.deadline = now_ + Time(params.unit_cycles).shl(c.exponent);
    command_.qpn = c.qpn;
  }

  void write_command() {
    rows_.write(row_of(command_.qpn), command_);
    if (bool(command_.armed)) lower(started_, command_.deadline);
  }

  void fire(hls::stream<TimerExpired>& fired) {
    TimerExpired e;
    e.qpn = rows_.data().qpn;
    fired.write(e);
    rows_.write(row_, Row());
    expired.inc();
  }

  void start_scan() {
    scanning_ = Bits<1>(1);
    scanned_.any = started_.any = Bits<1>(0);
    row_ = QpRow(0);
  }

  void compare(const Row& row) {
    reached_ = Bits<1>(reached(row, now_));
    compared_ = Bits<1>(1);
  }

  void pass(const Row& row) {
    if (bool(row.armed)) lower(scanned_, row.deadline);
    next_row();
  }

  void next_row() {
    scanning_ = Bits<1>(row_ != QpRow(params.qps - 1));
    row_ = row_ + QpRow(1);
    compared_ = Bits<1>(0);
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
 public:
  // Until a scan starts, or while it passes rows that do not fire.
  Cycles quiet() const {
    if (!bool(scanning_)) return bool(due_) ? 0 : until_due();
    if (bool(compared_) && bool(reached_)) return 0;
    Cycles steps = compared_.u64();
    for (uint64_t row = row_.u64() + steps; row < params.qps; row++, steps += 2)
      if (reached(rows_.peek(row), now_ + Time(steps))) return steps + 1;
    return steps;
  }

  void skip(Cycles n) {
    while (n > 0) {
      Cycles steps = 1;
      if (bool(scanning_) && bool(compared_)) {
        pass(rows_.peek(row_.u64()));
      } else if (bool(scanning_)) {
        compare(rows_.peek(row_.u64()));
      } else if (bool(due_)) {
        due_ = Bits<1>(0);
        start_scan();
      } else if (due(now_)) {
        due_ = Bits<1>(1);
      } else {
        steps = n < until_due() ? n : until_due();
      }
      now_ = now_ + Time(steps);
      n -= steps;
    }
    if (bool(scanning_)) rows_.seek(row_);
  }

 private:
  Cycles until_due() const {
    const Cycles a = until(scanned_), b = until(started_);
    return a < b ? a : b;
  }
  Cycles until(const Bound& bound) const {
    if (!bool(bound.any)) return kForever;
    return not_before(now_, bound.deadline) ? 0 : (bound.deadline - now_).u64();
  }
#endif
};

}  // namespace tables
}  // namespace hw
