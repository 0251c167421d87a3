// Joins the payload of a packet with the verdict on it: to the host, or nowhere.
#pragma once
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// Payload and placements pair by order, and `body` says whether a packet has beats (rule 6). The DMA command leaves
// together with the first beat of its data.
template <unsigned W>
struct Payload {
  Counter placed_packets, dropped_packets;  // each with and without payload
  HW_COUNTERS(placed_packets, dropped_packets)

  void step(hls::stream<Beat<W>>& payload, hls::stream<Placement>& placements, hls::stream<DmaCommand>& command,
            hls::stream<Beat<W>>& data) {
    if (!bool(busy_)) {
      if (placements.empty()) return;
      begin(placements.read());
      if (!bool(busy_)) return;
    }
    const bool keep = bool(placement_.keep);
    const bool start = keep && bool(first_);
    if (payload.empty() || (keep && data.full()) || (start && command.full())) return;
    const Beat<W>& x = payload.read();
    if (start) command.write(command_of(placement_));
    if (keep) data.write(x);
    first_ = Bits<1>(0);
    busy_ = ~x.last;
  }

 private:
  void begin(const Placement& p) {
    placement_ = p;
    busy_ = p.body;
    first_ = Bits<1>(1);
    if (bool(p.keep)) {
      placed_packets.inc();
    } else {
      dropped_packets.inc();
    }
  }

  static DmaCommand command_of(const Placement& p) {
    DmaCommand c;
    c.address = p.address;
    c.bytes = p.bytes;
    c.tag = p.tag;
    return c;
  }

  Bits<1> busy_;         // beats of the current packet are to come
  Bits<1> first_;        // its first one is
  Placement placement_;  // of the current packet
};

}  // namespace rx
}  // namespace hw
