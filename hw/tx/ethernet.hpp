// Writes the Ethernet header and hands the finished header to tx/frame.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

struct Ethernet {
  void step(hls::stream<TxHeader>& in, hls::stream<TxFrame>& out) {
    if (in.empty() || out.full()) return;
    const TxHeader& h = in.read();
    const Route& route = h.routed.route;
    TxFrame f;
    f.bytes = h.bytes;
    wire::store<wire::eth::Destination>(f.bytes, route.destination_mac);
    wire::store<wire::eth::Source>(f.bytes, route.source_mac);
    wire::store<wire::eth::Type>(f.bytes, Bits<16>(wire::eth::kIpv4));
    f.header = h.header;
    f.payload = h.routed.packet.payload;
    f.body = Bits<1>(f.payload != PacketBytes(0));  // the condition under which tx/payload has asked for data
    f.tag = h.routed.packet.tag;
    out.write(f);
  }
};

}  // namespace tx
}  // namespace hw
