// Judges the IPv4 header of a packet.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ip_checksum.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// The ICRC masks the header checksum, so a wrong one is seen only here: such a packet is dropped and counted
// (docs/protocol.md D.2 row 40). A fragment is no RoCE packet (row 43). Packets to another host are dropped as well.
// A header is taken in c, its checksum half added, and judged in c + 1, one a cycle.
struct Ip {
  struct Params {
    uint32_t address = 0;  // our IPv4 address; 0 takes packets to any
  } params;

  Counter ip_errors, address_misses;
  HW_COUNTERS(ip_errors, address_misses)

  void step(hls::stream<RxHeader>& in, hls::stream<RxHeader>& out) {
    if (bool(busy_)) {
      if (out.full()) return;
      RxHeader h = header_;
      judge(h);
      out.write(h);
    }
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    header_ = in.read();
    sum_.start(header_.bytes);
  }

 private:
  Bits<1> busy_;
  RxHeader header_;  // while busy, with the sum over it
  wire::IpHeaderSum sum_;

  void judge(RxHeader& h) {
    if (h.drop != DropCode(kKeep)) return;
    if (!valid(h)) {
      ip_errors.inc();
      h.drop = DropCode(kDropIp);
    } else if (!ours(h)) {
      address_misses.inc();
      h.drop = DropCode(kDropIp);
    }
  }

  bool valid(const RxHeader& h) const { return wire::is_plain_ip(h.bytes) && sum_.right(); }
  bool ours(const RxHeader& h) const {
    return params.address == 0 || wire::load<wire::ip::Destination>(h.bytes) == Bits<32>(params.address);
  }
};

}  // namespace rx
}  // namespace hw
