// Joins the payload of a packet with the verdict on it: to the host, or nowhere.
#pragma once
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// Payload and placements pair by order, and `body` says whether a packet has beats (rule 6). The DMA command leaves
// together with the first beat of its data; what completes and acknowledges leaves together with the last one, so that
// nobody hears of data that the host has not been handed. A packet without payload tells at once.
template <unsigned W>
struct Payload {
  Counter placed_packets;   // with and without payload
  Counter dropped_packets;  // payload thrown away, or refused; not an acknowledgement, which has none
  HW_COUNTERS(placed_packets, dropped_packets)

  void step(hls::stream<Beat<W>>& payload, hls::stream<Placement>& placements, hls::stream<DmaCommand>& command,
            hls::stream<Beat<W>>& data, hls::stream<ReceiveCompletion>& completions, hls::stream<RxAck>& acks) {
    if (!bool(busy_)) {
      if (placements.empty()) return;
      begin(placements.read());
    }
    if (bool(placement_.completes) && completions.full()) return;
    if (bool(placement_.acknowledges) && acks.full()) return;
    if (bool(placement_.body)) {
      const bool keep = bool(placement_.keep);
      const bool start = keep && bool(first_);
      if (payload.empty() || (keep && data.full()) || (start && command.full())) return;
      const Beat<W>& x = payload.read();
      if (start) command.write(command_of(placement_));
      if (keep) data.write(x);
      first_ = Bits<1>(0);
      if (!bool(x.last)) return;
    }
    busy_ = Bits<1>(0);
    if (bool(placement_.completes)) completions.write(placement_.completion);
    if (bool(placement_.acknowledges)) acks.write(placement_.ack);
  }

 private:
  void begin(const Placement& p) {
    placement_ = p;
    busy_ = Bits<1>(1);
    first_ = Bits<1>(1);
    if (bool(p.keep)) {
      placed_packets.inc();
    } else if (bool(p.body) || !bool(p.acknowledges)) {
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

  Bits<1> busy_;         // with the current packet
  Bits<1> first_;        // its first beat is to come
  Placement placement_;  // of the current packet
};

}  // namespace rx
}  // namespace hw
