// Begins the header of a packet with what its opcode wants behind the BTH.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// RETH on the first packet of a WRITE (IBTA 9.3.3), AETH on an acknowledgement (9.3.5.2).
struct ExtHeaders {
  void step(hls::stream<TxRouted>& in, hls::stream<TxHeader>& out) {
    if (in.empty() || out.full()) return;
    TxHeader h;
    h.routed = in.read();
    const TxPacket& p = h.routed.packet;
    if (wire::has_reth(p.opcode)) {
      wire::store<wire::reth::VirtualAddress>(h.bytes, p.remote_address);
      wire::store<wire::reth::RKey>(h.bytes, p.rkey);
      wire::store<wire::reth::DmaLength>(h.bytes, p.dma_length);
    } else if (wire::has_aeth(p.opcode)) {
      wire::store<wire::aeth::Syndrome>(h.bytes, p.syndrome);
      wire::store<wire::aeth::MessageSequence>(h.bytes, p.msn);
    }
    h.header = Bits<7>(wire::kExtOffset) + wire::extended_bytes(p.opcode).to<7>();
    out.write(h);
  }
};

}  // namespace tx
}  // namespace hw
