// Time-outs of the queue pairs: 4.096 us * 2^exponent after their start, never early (IBTA 9.7.6.1.3; facts/protocol.md
// D row 19). A time-out fires once and is stopped by that.
//
// Deadlines are absolute cycles. A scan over the rows, one a cycle, runs only when some bound on the deadlines is
// reached: it fires what has expired and finds the next bound. So a deadline is met within one scan, `qps` cycles and
// a few, and QPs without a running timer cost nothing. Times are compared modulo 2^48 cycles, half of it to each side.
//
// A command is read in c, its time running from there, and written in c + 1. It goes before the scan, which needs the
// Ram's write port to fire; then the next command waits: one cycle at most, and never for room in `fired`.
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
    const bool expires = bool(scanning_) && reached(rows_.data(), now_);
    const bool may_fire = expires && !fired.full();
    const bool fires = may_fire && !bool(pending_);
    const bool takes = !in.empty() && !(may_fire && bool(pending_));
    const bool starts_scan = !bool(scanning_) && due(now_);
    if (fires) fire(fired);
    if (bool(pending_)) write_command();
    if (bool(scanning_)) {
      if (!expires || fires) pass(rows_.data(), expires);
    } else if (starts_scan) {
      start_scan();
    }
    if (bool(scanning_)) rows_.request(row_);
    pending_ = Bits<1>(takes);
    if (takes) command(in.read());
    now_ = now_ + Time(1);
  }

 private:
  typedef Bits<48> Time;
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
  Row command_;              // to be written when pending
  QpRow row_;                // the scan looks at it
  Bound scanned_, started_;  // of the rows that the scan has passed, of those started since it began

  static bool not_before(const Time& a, const Time& b) { return !bool((a - b).get<47, 1>()); }
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

  void pass(const Row& row, bool expires) {
    if (bool(row.armed) && !expires) lower(scanned_, row.deadline);
    scanning_ = Bits<1>(row_ != QpRow(params.qps - 1));
    row_ = row_ + QpRow(1);
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
 public:
  // Until a scan starts, or while it passes rows that do not fire.
  Cycles quiet() const {
    if (!bool(scanning_)) return until_due();
    const uint64_t first = row_.u64();
    uint64_t row = first;
    while (row < params.qps && !reached(rows_.peek(row), now_ + Time(row - first))) row++;
    return row - first;
  }

  void skip(Cycles n) {
    while (n > 0) {
      Cycles steps = 1;
      if (bool(scanning_)) {
        pass(rows_.peek(row_.u64()), false);
      } else if (due(now_)) {
        start_scan();
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
