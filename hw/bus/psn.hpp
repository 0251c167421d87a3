// Packet sequence numbers: 24 bits, ordered modulo 2^24 with a window of 2^23 to each side (IBTA 9.7.2).
#pragma once
#include "bits.hpp"

namespace hw {

struct Psn {
  Bits<24> v;

  Psn() = default;  // constant wherever Bits is
  explicit Psn(uint64_t x) : v(x) {}
  explicit Psn(const Bits<24>& x) : v(x) {}

  Psn next() const { return Psn(v + Bits<24>(1)); }
  Psn previous() const { return Psn(v - Bits<24>(1)); }
  // How far this PSN lies ahead of `o`, modulo 2^24.
  Bits<24> distance(const Psn& o) const { return v - o.v; }
  // True when this PSN lies behind `o`: the distance is negative in 24-bit two's complement.
  bool before(const Psn& o) const { return bool(distance(o).template get<23, 1>()); }

  friend bool operator==(const Psn& a, const Psn& b) { return a.v == b.v; }
  friend bool operator!=(const Psn& a, const Psn& b) { return a.v != b.v; }
};

}  // namespace hw
