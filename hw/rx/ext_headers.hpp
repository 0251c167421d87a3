// Reads the extended transport headers of a packet: those that its opcode has, the fields of all others stay zero.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace rx {

struct ExtHeaders {
  void step(hls::stream<RxPacket>& in, hls::stream<RxTransport>& out) {
    if (in.empty() || out.full()) return;
    const RxPacket& p = in.read();
    RxTransport t;
    t.opcode = p.opcode;
    t.qpn = p.qpn;
    t.psn = p.psn;
    t.ack_request = p.ack_request;
    t.solicited = p.solicited;
    t.payload = p.payload;
    t.body = p.body;
    t.drop = p.drop;
    t.tag = p.tag;
    read_extended(p, t);
    out.write(t);
  }

 private:
  // A field of the extended headers, taken from the bytes behind the BTH.
  template <class F>
  static Bits<F::kBits> load(const RxPacket& p) {
    return byte_swap(p.ext.template get<F::kLow - wire::kExtOffset * 8, F::kBits>());
  }

  static void read_extended(const RxPacket& p, RxTransport& t) {
    const bool reth = wire::has_reth(p.opcode);
    if (reth) {
      t.va = load<wire::reth::VirtualAddress>(p);
      t.rkey = load<wire::reth::RKey>(p);
      t.dma_length = load<wire::reth::DmaLength>(p);
    }
    if (wire::has_immediate(p.opcode))
      t.immediate = reth ? load<wire::immdt::BehindReth>(p) : load<wire::immdt::Plain>(p);
    if (wire::has_aeth(p.opcode)) {
      t.syndrome = load<wire::aeth::Syndrome>(p);
      t.msn = load<wire::aeth::MessageSequence>(p);
    }
  }
};

}  // namespace rx
}  // namespace hw
