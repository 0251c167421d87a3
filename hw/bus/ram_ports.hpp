// The open-synthesis body of the Rams: the wires of a hw_ram instance. The lowering knows these structs by name and
// field order; the length of `rows` tells it the number of rows.
#pragma once

namespace hw {

#define HW_RAM_PORTS(NAME)                            \
  template <class T, int N>                           \
  struct NAME {                                       \
    T rdata;                                          \
    Bits<1> req;                                      \
    Bits<clog2(N)> ra;                                \
    Bits<1> we;                                       \
    Bits<clog2(N)> wa;                                \
    T wd;                                             \
    uint8_t rows[N] = {};                             \
    void request(const Bits<clog2(N)>& a) {           \
      req = Bits<1>(1);                               \
      ra = a;                                         \
    }                                                 \
    const T& data() const { return rdata; }           \
    void write(const Bits<clog2(N)>& a, const T& x) { \
      we = Bits<1>(1);                                \
      wa = a;                                         \
      wd = x;                                         \
    }                                                 \
  }

HW_RAM_PORTS(Ram);
HW_RAM_PORTS(RamForward);
#undef HW_RAM_PORTS

}  // namespace hw
