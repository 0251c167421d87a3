// Judges the UDP header of a packet.
#pragma once
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// Port and length must be those of a RoCE v2 packet. The checksum is not looked at: the ICRC, which masks it, covers
// the packet already (docs/protocol.md D row 43).
struct Udp {
  Counter udp_errors;
  HW_COUNTERS(udp_errors)

  void step(hls::stream<RxHeader>& in, hls::stream<RxHeader>& out) {
    if (in.empty() || out.full()) return;
    RxHeader h = in.read();
    if (h.drop == DropCode(kKeep) && !valid(h)) {
      udp_errors.inc();
      h.drop = DropCode(kDropUdp);
    }
    out.write(h);
  }

 private:
  static bool valid(const RxHeader& h) {
    const Bits<16> datagram = wire::load<wire::ip::TotalLength>(h.bytes) - Bits<16>(wire::kIpBytes);
    return wire::load<wire::udp::DestinationPort>(h.bytes) == Bits<16>(wire::udp::kRocePort) &&
           wire::load<wire::udp::Length>(h.bytes) == datagram;
  }
};

}  // namespace rx
}  // namespace hw
