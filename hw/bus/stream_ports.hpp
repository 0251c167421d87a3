// The open-synthesis body of a stream: the wires between a stage and the FIFO that the lowering puts beside it.
// The lowering knows this struct by name and field order.
#pragma once

namespace hls {

template <class T>
struct stream {
  T rdata;
  hw::Bits<1> rvalid, pop;
  T wdata;
  hw::Bits<1> wready, push;

  bool empty() const { return !bool(rvalid); }
  bool full() const { return !bool(wready); }
  const T& read() {
    pop = hw::Bits<1>(1);
    return rdata;
  }
  void write(const T& x) {
    wdata = x;
    push = hw::Bits<1>(1);
  }
};

}  // namespace hls
