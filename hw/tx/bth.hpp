// Writes the base transport header (IBTA 9.2).
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

struct Bth {
  struct Params {
    uint32_t partition_key = 0xffff;
    uint32_t migreq = 0;  // the MigReq bit: 1 when the path has migrated (IBTA 17.2.8)
  } params;

  void step(hls::stream<TxHeader>& in, hls::stream<TxHeader>& out) {
    if (in.empty() || out.full()) return;
    TxHeader h = in.read();
    const TxPacket& p = h.routed.packet;
    const Bits<2> pad = (PacketBytes(0) - p.payload).get<0, 2>();
    Bits<8> flags;
    flags.set<4>(pad);
    flags.set<6>(Bits<1>(params.migreq));
    flags.set<7>(p.solicited);
    Bits<8> ack_request;
    ack_request.set<7>(p.ack_request);
    wire::store<wire::bth::Opcode>(h.bytes, p.opcode);
    wire::store<wire::bth::Flags>(h.bytes, flags);
    wire::store<wire::bth::PKey>(h.bytes, Bits<16>(params.partition_key));
    wire::store<wire::bth::DestQp>(h.bytes, p.qpn);
    wire::store<wire::bth::AckReq>(h.bytes, ack_request);
    wire::store<wire::bth::PacketSequence>(h.bytes, p.psn.v);
    out.write(h);
  }
};

}  // namespace tx
}  // namespace hw
