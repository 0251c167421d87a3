// Holds the lengths of a RoCE v2 packet against each other and cuts the frame to what the IP header claims.
//
// Everything behind finds the ICRC, the pad and the payload by these lengths, so they are checked first, before the
// ICRC (docs/protocol.md rows 35 and 44): IP total length, UDP length, the headers that the opcode asks for, PadCnt.
// Ethernet padding and trailers after the IP packet are cut off: the beat with the packet's last byte becomes the last
// one and the rest of the frame is swallowed. A packet that lies about its lengths leaves as its first beat alone, one
// that is shorter than it claims as it is; both `bad` on the last beat.
#pragma once
#include "../bus/bytes.hpp"
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct L3Length {
  static_assert(W >= 512, "the headers that are checked lie in the first beat");
  Counter length_errors;
  HW_COUNTERS(length_errors)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    if (in.empty() || (!bool(swallow_) && out.full())) return;
    const Beat<W>& x = in.read();
    if (bool(swallow_)) {
      swallow_ = ~x.last;
      return;
    }
    const bool first = !bool(inside_);
    const bool lies = first && !consistent(x.data);
    // Of the IP packet; a first beat too short for the Ethernet header holds no consistent length either.
    const Length left = first ? wire::load<wire::ip::TotalLength>(x.data).template to<kLengthBits>() : left_;
    const Length before(first ? uint64_t(wire::kEthernetBytes) : 0);
    const Length bytes = x.bytes.template to<kLengthBits>() - before;
    const bool complete = !bytes.ult(left);
    const bool ends = lies || complete || bool(x.last);
    const bool wrong = ends && (lies || !complete);

    Beat<W> y = x;
    y.last = Bits<1>(ends);
    y.bad = Bits<1>(wrong) | (x.bad & x.last);
    if (complete && !lies) {
      y.bytes = (before + left).template to<kCountBits>();
      y.data = keep_bytes(x.data, y.bytes);
    }
    out.write(y);
    if (wrong) length_errors.inc();
    left_ = left - bytes;
    inside_ = Bits<1>(!ends);
    swallow_ = Bits<1>(ends) & ~x.last;
  }

 private:
  enum { kLengthBits = 13, kCountBits = clog2(W / 8 + 1) };
  typedef Bits<kLengthBits> Length;
  // A datagram with the largest PMTU and a RETH. Larger ones would not fit into `Length`, nor into rx/packet_store.
  static constexpr uint64_t kMaxDatagramBytes = wire::kMinDatagramBytes + wire::kRethBytes + 4096;

  Bits<1> inside_, swallow_;
  Length left_;  // bytes of the packet that have not come yet

  // Payload and pad fill whole words (IBTA 9.2.3), as all headers do, so a datagram does too: where there is payload,
  // there is room for the pad.
  static bool consistent(const Bits<W>& header) {
    const Bits<16> total = wire::load<wire::ip::TotalLength>(header);
    const Bits<8> opcode = wire::load<wire::bth::Opcode>(header);
    const bool reth = wire::has_reth(opcode), ack = wire::has_aeth(opcode);
    const bool room = reth ? holds<wire::kRethBytes>(total) : ack ? holds<wire::kAethBytes>(total) : holds<0>(total);
    const bool bare = reth ? fits<wire::kRethBytes>(total) : ack ? fits<wire::kAethBytes>(total) : fits<0>(total);
    const bool pad = bool(wire::load<wire::bth::Flags>(header).template get<4, 2>());
    return wire::load<wire::udp::Length>(header) == total - Bits<16>(wire::kIpBytes) && room &&
           !Bits<16>(kMaxDatagramBytes).ult(total) && !bool(total.template get<0, 2>()) && !(bare && pad) &&
           !(ack && !bare);
  }

  // A datagram with EXTENDED bytes of extended header: long enough for its headers, or just as long.
  template <int EXTENDED>
  static bool holds(const Bits<16>& total) {
    return !total.ult(Bits<16>(wire::kMinDatagramBytes + EXTENDED));
  }
  template <int EXTENDED>
  static bool fits(const Bits<16>& total) {
    return total == Bits<16>(wire::kMinDatagramBytes + EXTENDED);
  }
};

}  // namespace rx
}  // namespace hw
