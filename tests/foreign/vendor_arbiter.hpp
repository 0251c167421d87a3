// A stage as a vendor's tool wants it, for the tests and as an example: state in static locals, told apart by a number
// that is a template parameter, streams that block, a pragma. It merges two streams of packets in turn.
#pragma once
#include "hw/tokens.hpp"
#include "sim/foreign/foreign.hpp"

namespace vendor {
namespace hls {
using foreign::stream;
}

struct Meta {
  unsigned opcode, qpn, psn;
  hw::TxPacket rest;  // what this stage has no business with
};

template <int INSTID>
void meta_merger(hls::stream<Meta>& responses, hls::stream<Meta>& requests, hls::stream<Meta>& out) {
#pragma HLS PIPELINE II = 1
  static bool was_response = false;
  static enum { CHOOSE, SEND } state = CHOOSE;
  static Meta meta;

  if (state == CHOOSE) {
    const bool response = !responses.empty() && (requests.empty() || !was_response);
    if (!response && requests.empty()) return;
    meta = response ? responses.read() : requests.read();
    was_response = response;
    state = SEND;
  }
  out.write(meta);  // waits for room
  state = CHOOSE;
}

}  // namespace vendor

namespace foreign {
template <>
struct Convert<vendor::Meta, hw::TxPacket> {
  static vendor::Meta convert(const hw::TxPacket& p) {
    return {unsigned(p.opcode.u64()), unsigned(p.qpn.u64()), unsigned(p.psn.v.u64()), p};
  }
};
template <>
struct Convert<hw::TxPacket, vendor::Meta> {
  static hw::TxPacket convert(const vendor::Meta& m) {
    hw::TxPacket p = m.rest;
    p.opcode = hw::Bits<8>(m.opcode);
    p.qpn = hw::Qpn(m.qpn);
    p.psn = hw::Psn(m.psn);
    return p;
  }
};
}  // namespace foreign

// In place of hw::tx::Arbiter; one instance number a NIC.
template <int INSTID>
using ForeignArbiter =
    foreign::Foreign<&vendor::meta_merger<INSTID>, foreign::From<hw::TxPacket, vendor::Meta>,
                     foreign::From<hw::TxPacket, vendor::Meta>, foreign::To<hw::TxPacket, vendor::Meta>>;
