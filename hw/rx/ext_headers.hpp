// Reads the extended transport header and sends a packet to the responder or to the requester.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace rx {

// An acknowledgement goes to the requester. Everything else goes to the responder's path, dropped packets too, because
// their payload waits there to be thrown away; so does an acknowledgement that brings payload, which none should.
struct ExtHeaders {
  void step(hls::stream<RxPacket>& in, hls::stream<RxRequest>& request, hls::stream<RxAck>& ack) {
    if (in.empty() || request.full() || ack.full()) return;
    const RxPacket& p = in.read();
    const bool is_ack = p.drop == DropCode(kKeep) && wire::has_aeth(p.opcode);
    if (is_ack) ack.write(acknowledgement(p));
    if (!is_ack || bool(p.body)) request.write(request_of(p, is_ack ? DropCode(kDropTransport) : p.drop));
  }

 private:
  // A field of the extended header, taken from the bytes behind the BTH.
  template <class F>
  static Bits<F::kBits> load(const RxPacket& p) {
    return byte_swap(p.ext.template get<F::kLow - wire::kExtOffset * 8, F::kBits>());
  }

  static RxAck acknowledgement(const RxPacket& p) {
    RxAck a;
    a.qpn = p.qpn;
    a.psn = p.psn;
    a.syndrome = load<wire::aeth::Syndrome>(p);
    a.msn = load<wire::aeth::MessageSequence>(p);
    a.tag = p.tag;
    return a;
  }

  static RxRequest request_of(const RxPacket& p, const DropCode& drop) {
    RxRequest r;
    r.opcode = p.opcode;
    r.qpn = p.qpn;
    r.psn = p.psn;
    r.ack_request = p.ack_request;
    if (wire::has_reth(p.opcode)) {
      r.va = load<wire::reth::VirtualAddress>(p);
      r.rkey = load<wire::reth::RKey>(p);
      r.dma_length = load<wire::reth::DmaLength>(p);
    }
    r.payload = p.payload;
    r.body = p.body;
    r.drop = drop;
    r.tag = p.tag;
    return r;
  }
};

}  // namespace rx
}  // namespace hw
