// Begins the header of a packet with what its opcode wants behind the BTH.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// RETH (IBTA 9.3.3), AETH (9.3.5.2), immediate data (9.3.6), or RETH and immediate data, as the tables of bus/wire.hpp
// say.
struct ExtHeaders {
  void step(hls::stream<TxRouted>& in, hls::stream<TxHeader>& out) {
    if (in.empty() || out.full()) return;
    TxHeader h;
    h.routed = in.read();
    const TxPacket& p = h.routed.packet;
    const bool reth = wire::has_reth(p.opcode), immediate = wire::has_immediate(p.opcode);
    if (reth) {
      wire::store<wire::reth::VirtualAddress>(h.bytes, p.remote_address);
      wire::store<wire::reth::RKey>(h.bytes, p.rkey);
      wire::store<wire::reth::DmaLength>(h.bytes, p.dma_length);
      if (immediate) wire::store<wire::immdt::BehindReth>(h.bytes, p.immediate);
    } else if (immediate) {
      wire::store<wire::immdt::Plain>(h.bytes, p.immediate);
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
