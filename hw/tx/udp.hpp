// Writes the UDP header (RFC 768, IBTA A17.3.2).
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// The length counts from the UDP header to the end of the ICRC, pad included. No checksum: the ICRC does that work.
struct Udp {
  void step(hls::stream<TxHeader>& in, hls::stream<TxHeader>& out) {
    if (in.empty() || out.full()) return;
    TxHeader h = in.read();
    const Bits<16> headers = h.header.to<16>() - Bits<16>(wire::kUdpOffset);
    const Bits<16> padded = (h.routed.packet.payload.to<16>() + Bits<16>(3)) & Bits<16>(0xfffc);
    wire::store<wire::udp::SourcePort>(h.bytes, h.routed.route.udp_source_port);
    wire::store<wire::udp::DestinationPort>(h.bytes, Bits<16>(wire::udp::kRocePort));
    wire::store<wire::udp::Length>(h.bytes, headers + padded + Bits<16>(wire::kIcrcBytes));
    out.write(h);
  }
};

}  // namespace tx
}  // namespace hw
