// Writes the IPv4 header (RFC 791).
#pragma once
#include "../bus/ip_checksum.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

// Never fragmented, so that the identification may stay zero (RFC 6864).
struct Ip {
  struct Params {
    uint32_t tos = 0x02;  // DSCP 0, ECT(0): adapters send it on every RoCE packet (docs/protocol.md A.2)
    uint32_t ttl = 64;    // hops
  } params;

  void step(hls::stream<TxHeader>& in, hls::stream<TxHeader>& out) {
    if (in.empty() || out.full()) return;
    TxHeader h = in.read();
    const Bits<16> datagram = wire::load<wire::udp::Length>(h.bytes);
    wire::store<wire::ip::VersionIhl>(h.bytes, Bits<8>(wire::ip::kVersion4Ihl5));
    wire::store<wire::ip::Tos>(h.bytes, Bits<8>(params.tos));
    wire::store<wire::ip::TotalLength>(h.bytes, datagram + Bits<16>(wire::kIpBytes));
    wire::store<wire::ip::FlagsFragment>(h.bytes, Bits<16>(kDontFragment));
    wire::store<wire::ip::Ttl>(h.bytes, Bits<8>(params.ttl));
    wire::store<wire::ip::Protocol>(h.bytes, Bits<8>(wire::ip::kUdp));
    wire::store<wire::ip::Source>(h.bytes, h.routed.route.source_ip);
    wire::store<wire::ip::Destination>(h.bytes, h.routed.route.destination_ip);
    wire::IpHeaderSum sum;
    sum.start(h.bytes);
    wire::store<wire::ip::Checksum>(h.bytes, ~sum.folded());
    out.write(h);
  }

 private:
  enum : uint64_t { kDontFragment = 0x4000 };
};

}  // namespace tx
}  // namespace hw
