// Direction of a stream at a stage, for the wiring in hw/nic.hpp: v.stage(bth, "rx.bth", in(a), out(b)).
#pragma once
#include "stream.hpp"

namespace hw {

template <class T>
struct In {
  hls::stream<T>& s;
};
template <class T>
struct Out {
  hls::stream<T>& s;
};
template <class T>
In<T> in(hls::stream<T>& s) {
  return In<T>{s};
}
template <class T>
Out<T> out(hls::stream<T>& s) {
  return Out<T>{s};
}

}  // namespace hw
