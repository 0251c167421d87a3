// Probe stages: one per kind of IR instruction that the lowering spells (see verilog_operators()), and one per way of
// using memory. All have the same ports.
#pragma once
#include <stdint.h>

#include "hw/bus/counter.hpp"
#include "hw/bus/ram.hpp"
#include "hw/bus/stream.hpp"
#include "hw/bus/token.hpp"

namespace probe {

using hw::Bits;

struct In {
  Bits<64> a, b;
  Bits<8> s;
  HW_TOKEN(a, b, s)
};
struct Out {
  Bits<64> r;
  HW_TOKEN(r)
};

// A stage without state: each token's answer is F::of(a, b, s).
template <class F>
struct Pure {
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& x = in.read();
    Out o;
    o.r = Bits<64>(F::of(x.a.u64(), x.b.u64(), unsigned(x.s.u64())));
    out.write(o);
  }
};

#define PROBE_EXPRESSION(NAME, ...)                          \
  struct NAME##_expression {                                 \
    static uint64_t of(uint64_t a, uint64_t b, unsigned s) { \
      (void)a, (void)b, (void)s;                             \
      return uint64_t(__VA_ARGS__);                          \
    }                                                        \
  };                                                         \
  typedef Pure<NAME##_expression> NAME

PROBE_EXPRESSION(Add, a + b);
PROBE_EXPRESSION(Sub, a - b);
PROBE_EXPRESSION(Mul, a* b);
PROBE_EXPRESSION(And, a& b);
PROBE_EXPRESSION(Or, a | b);
PROBE_EXPRESSION(Xor, a ^ b);
PROBE_EXPRESSION(Shl, a << (s & 63));
PROBE_EXPRESSION(Lshr, a >> (s & 63));
PROBE_EXPRESSION(Ashr, int64_t(a) >> (s & 63));
PROBE_EXPRESSION(Eq, a == b);
PROBE_EXPRESSION(Ne, a != b);
PROBE_EXPRESSION(Ugt, a > b);
PROBE_EXPRESSION(Uge, a >= b);
PROBE_EXPRESSION(Ult, a < b);
PROBE_EXPRESSION(Ule, a <= b);
PROBE_EXPRESSION(Sgt, int64_t(a) > int64_t(b));
PROBE_EXPRESSION(Sge, int64_t(a) >= int64_t(b));
PROBE_EXPRESSION(Slt, int64_t(a) < int64_t(b));
PROBE_EXPRESSION(Sle, int64_t(a) <= int64_t(b));
PROBE_EXPRESSION(Negative, int64_t(a) < 0 ? b : s);
PROBE_EXPRESSION(NotNegative, int64_t(a) >= 0);
PROBE_EXPRESSION(Select, s & 1 ? a : b);
PROBE_EXPRESSION(Zext, uint64_t(a < b) + s);
PROBE_EXPRESSION(Sext, a < b ? ~uint64_t(0) : 0);
PROBE_EXPRESSION(Trunc, uint16_t(a) * uint16_t(b) & 0xffff);
PROBE_EXPRESSION(Umin, a < b ? a : b);
PROBE_EXPRESSION(Umax, a > b ? a : b);
PROBE_EXPRESSION(Smin, int64_t(a) < int64_t(b) ? a : b);
PROBE_EXPRESSION(Smax, int64_t(a) > int64_t(b) ? a : b);
PROBE_EXPRESSION(UaddSat, a + b < a ? ~uint64_t(0) : a + b);
PROBE_EXPRESSION(UsubSat, a > b ? a - b : 0);
PROBE_EXPRESSION(Abs, int64_t(a) < 0 ? 0 - a : a);
PROBE_EXPRESSION(Bswap, __builtin_bswap64(a));
PROBE_EXPRESSION(Ctpop, __builtin_popcountll(a));
PROBE_EXPRESSION(Cttz, a == 0 ? 64 : __builtin_ctzll(a));
PROBE_EXPRESSION(Ctlz, a == 0 ? 64 : __builtin_clzll(a));
PROBE_EXPRESSION(Fshl, (a << (s & 63)) | (a >> ((64 - (s & 63)) & 63)));
PROBE_EXPRESSION(Fshr, (a >> (s & 63)) | (a << ((64 - (s & 63)) & 63)));

struct Bitreverse_expression {
  static uint64_t of(uint64_t a, uint64_t, unsigned) {
    uint8_t x = uint8_t(a);
    x = uint8_t((x & 0x55) << 1 | (x >> 1 & 0x55));
    x = uint8_t((x & 0x33) << 2 | (x >> 2 & 0x33));
    return uint8_t(x << 4 | x >> 4);
  }
};
typedef Pure<Bitreverse_expression> Bitreverse;

// Registers written on some paths only: values merge where the paths meet.
struct Merge {
  Bits<64> x, y{7};
  hw::Counter odd;
  HW_COUNTERS(odd)
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty()) return;
    if (bool(x.get<0, 1>())) odd.inc();
    if (out.full()) {
      y = y + Bits<64>(1);
      return;
    }
    const In& t = in.read();
    if (bool(t.s.get<0, 1>())) {
      x = x ^ t.a;
      if (bool(t.s.get<1, 1>())) {
        y = t.b + x;
        if (bool(t.s.get<2, 1>())) return;
      }
    }
    Out o;
    o.r = x - y;
    out.write(o);
  }
};

// A switch whose cases fall through and leave early.
struct Switch {
  Bits<64> x, y, z;
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    switch (t.s.get<0, 3>().u64()) {
      case 0:
        x = t.a;
        break;
      case 1:
        y = t.a;
        // fall through
      case 2:
        z = z + t.b;
        break;
      case 4:
        return;
      case 6:
        x = y;
        y = z;
        break;
      default:
        z = x;
        break;
    }
    Out o;
    o.r = (x ^ y.shl<1>()) + z;
    out.write(o);
  }
};

// A table: one store and one load a step, by different variables, and a load by a constant.
struct Table {
  Bits<20> rows[11];
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    const unsigned at = unsigned(t.s.u64() % 8), from = unsigned(t.b.u64() % 8);
    Out o;
    o.r = cat(rows[from], rows[5]).to<64>();
    if (bool(t.a.get<63, 1>())) rows[at + 3] = t.a.get<0, 20>();
    out.write(o);
  }
};

// Store, then load, of one table in one step: the load gives the new value.
struct Forward {
  Bits<8> rows[4];
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    rows[t.s.get<0, 2>().u64()] = t.a.get<0, 8>();
    const Bits<8> once = rows[t.s.get<2, 2>().u64()];
    if (bool(t.s.get<4, 1>())) rows[t.s.get<5, 2>().u64()] = t.a.get<8, 8>();
    Out o;
    o.r = cat(once, rows[t.s.get<2, 2>().u64()]).to<64>();
    out.write(o);
  }
};

// An array of structs, two indices, one plus a constant.
struct StructTable {
  struct Row {
    Bits<5> x;
    Bits<33> y;
  };
  Row rows[3][4];
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    const unsigned i = unsigned(t.s.u64() & 1), j = unsigned(t.s.u64() >> 1 & 3);
    if (bool(t.s.get<3, 1>())) {
      rows[i + 1][j].x = t.a.get<0, 5>();
    } else {
      rows[i][j].y = t.a.get<0, 33>();
      rows[2][j].x = t.b.get<0, 5>();
    }
    const Row& row = rows[t.s.u64() >> 4 & 1][t.s.u64() >> 5 & 3];
    Out o;
    o.r = cat(row.x, row.y).to<64>();
    out.write(o);
  }
};

// A local array indexed by a variable, and a state array that is not: a shift register.
struct Element {
  Bits<16> history[5];
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    for (int i = 4; i > 0; i--) history[i] = history[i - 1];
    history[0] = t.a.get<0, 16>();
    Bits<16> sorted[4];
    for (unsigned i = 0; i < 4; i++) sorted[(t.s.u64() + 3 * i) % 4] = history[i + 1];
    Out o;
    o.r = cat(sorted[t.s.u64() >> 2 & 3], sorted[t.s.u64() >> 4 & 3]).to<64>();
    out.write(o);
  }
};

// Constant data.
struct Rom {
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    static const uint8_t kPrimes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    Out o;
    o.r = Bits<64>(uint64_t(kPrimes[t.s.u64() % 8]) * kPrimes[t.s.u64() / 8 % 8]);
    out.write(o);
  }
};

// Values that are no whole number of 64-bit words, handed on by value.
struct Wide {
  Bits<65> x;
  Bits<129> y;
  template <int N>
  static Bits<N> mixed(const Bits<N>& old, const Bits<64>& a, const Bits<8>& by) {
    return (old + cat(a, cat(a, a)).template to<N>()).shl(by) ^ old.template shr<3>();
  }
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    x = mixed(x, t.a, t.s);
    y = mixed(y, t.b, t.s);
    Out o;
    o.r = x.get<1, 64>() ^ y.get<65, 64>() ^ cat(cat(x.parity(), y.parity()), cat(x.at(t.s), y.at(t.s))).to<64>();
    out.write(o);
  }
};

// Stores and loads through a reference to one of two registers.
struct Which {
  Bits<64> x, y;
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    Bits<64>& one = bool(t.s.get<0, 1>()) ? x : y;
    one = one + t.a;
    Out o;
    o.r = x ^ y.shl<3>();
    out.write(o);
  }
};

// A Ram: request, write and data in both orders; data() is used once something was requested.
template <class Memory>
struct Rows {
  Memory memory;
  Bits<1> any;
  void step(hls::stream<In>& in, hls::stream<Out>& out) {
    if (in.empty() || out.full()) return;
    const In& t = in.read();
    Out o;
    if (bool(any) && bool(t.s.get<0, 1>())) o.r = memory.data();
    if (bool(t.s.get<1, 1>()) && bool(t.s.get<2, 1>())) memory.write(t.b.get<0, 2>(), t.a);
    if (bool(t.s.get<3, 1>())) memory.request(t.b.get<2, 2>());
    if (bool(t.s.get<1, 1>()) && !bool(t.s.get<2, 1>())) memory.write(t.b.get<0, 2>(), t.a);
    if (bool(any) && !bool(t.s.get<0, 1>())) o.r = memory.data();
    if (bool(t.s.get<3, 1>())) any = Bits<1>(1);
    out.write(o);
  }
};
typedef Rows<hw::Ram<Bits<64>, 4>> Ram;
typedef Rows<hw::RamForward<Bits<64>, 4>> RamForward;

}  // namespace probe
