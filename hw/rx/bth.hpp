// Reads the base transport header of a packet and judges what does not depend on its queue pair.
#pragma once
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// Packets of another transport version, partition or service than RC end here without an answer (IBTA 9.6,
// docs/protocol.md D rows 34, 36, 37). Reserved bits are ignored: peers set them (docs/protocol.md A.2).
struct Bth {
  struct Params {
    uint32_t partition_key = 0xffff;  // bit 15: full member
  } params;

  Counter packets;           // whose IP and UDP headers were good
  Counter pkey_errors;       // of another partition, or limited members on both sides
  Counter transport_errors;  // another transport version or service
  Counter cnps;              // congestion notification packets: counted, no other effect yet
  HW_COUNTERS(packets, pkey_errors, transport_errors, cnps)

  void step(hls::stream<RxHeader>& in, hls::stream<RxPacket>& out) {
    if (in.empty() || out.full()) return;
    const RxHeader& h = in.read();
    RxPacket p;
    p.opcode = wire::load<wire::bth::Opcode>(h.bytes);
    p.qpn = wire::load<wire::bth::DestQp>(h.bytes);
    p.psn = Psn(wire::load<wire::bth::PacketSequence>(h.bytes));
    p.ack_request = wire::load<wire::bth::AckReq>(h.bytes).get<7, 1>();
    p.solicited = wire::load<wire::bth::Flags>(h.bytes).get<7, 1>();
    p.ext = h.bytes.get<wire::kExtOffset * 8, wire::kMaxExtBytes * 8>();
    p.payload = h.payload;
    p.body = h.body;
    p.drop = h.drop;
    p.tag = h.tag;
    if (h.drop == DropCode(kKeep)) {
      packets.inc();
      if (!accept(h)) p.drop = DropCode(kDropTransport);
    }
    out.write(p);
  }

 private:
  bool accept(const RxHeader& h) {
    const Bits<8> opcode = wire::load<wire::bth::Opcode>(h.bytes);
    if (bool(wire::load<wire::bth::Flags>(h.bytes).get<0, 4>())) {
      transport_errors.inc();
    } else if (!same_partition(wire::load<wire::bth::PKey>(h.bytes))) {
      pkey_errors.inc();
    } else if (opcode == Bits<8>(wire::kCongestionNotification)) {
      cnps.inc();
    } else if (opcode.get<5, 3>() != Bits<3>(0)) {
      transport_errors.inc();
    } else {
      return true;
    }
    return false;
  }

  bool same_partition(const Bits<16>& theirs) const {
    const Bits<16> ours(params.partition_key);
    return theirs.get<0, 15>() == ours.get<0, 15>() && bool((theirs | ours).get<15, 1>());
  }
};

}  // namespace rx
}  // namespace hw
