// Beats and tags: how packets travel on a bus (rule 6 of the stage contract).
#pragma once
#include "bits.hpp"
#include "token.hpp"

namespace hw {

// Identity of the packet that a token belongs to, by which the simulation stamps latency; nothing in hardware.
#if defined(HW_LOWER) || defined(__SYNTHESIS__)
struct Tag {};
#else
struct Tag {
  uint32_t id = 0;
};
#endif

// W bits of one packet: byte 0 in bits 7:0, `bytes` of them valid from 0 and the rest zero, partial only when last.
// `bad` counts only with `last`: the packet failed a check and ends in the packet store.
template <unsigned W>
struct Beat {
  enum { kBytes = W / 8 };
  typedef Bits<clog2(W / 8 + 1)> Count;

  Bits<W> data;
  Count bytes;
  Bits<1> last, bad;
  Tag tag;
  HW_TOKEN(data, bytes, last, bad)
};

}  // namespace hw
