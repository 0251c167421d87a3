// Sorts frames by their first beat: RoCE v2 over IPv4 goes down the receive pipeline, everything else to the host.
//
// RoCE v2 here is an untagged frame with an IPv4 header without options, not a fragment, UDP destination port 4791
// (IBTA annex A17; the source port is free, docs/protocol.md A.2). Fields are only classified: whether they are right
// is judged by the stages behind. The first beat of a frame waits for room in both outputs, because where it goes is
// not known before it is read; later beats wait for their own output only.
#pragma once
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct Ethernet {
  static_assert(W >= 512, "the headers that decide lie in the first beat");
  Counter frames, roce_frames, host_frames;
  HW_COUNTERS(frames, roce_frames, host_frames)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& roce, hls::stream<Beat<W>>& host) {
    const bool first = !bool(inside_);
    const bool wait_roce = roce.full() && (first || !bool(to_host_));
    const bool wait_host = host.full() && (first || bool(to_host_));
    if (in.empty() || wait_roce || wait_host) return;

    const Beat<W>& x = in.read();
    const bool to_host = first ? !is_roce(x) : bool(to_host_);
    if (first) count(to_host);
    if (to_host) {
      host.write(x);
    } else {
      roce.write(x);
    }
    to_host_ = Bits<1>(to_host);
    inside_ = ~x.last;
  }

 private:
  Bits<1> inside_, to_host_;

  static bool is_roce(const Beat<W>& x) {
    typedef typename Beat<W>::Count Count;
    return wire::load<wire::eth::Type>(x.data) == Bits<16>(wire::eth::kIpv4) &&
           wire::load<wire::ip::VersionIhl>(x.data) == Bits<8>(wire::ip::kVersion4Ihl5) &&
           wire::load<wire::ip::Protocol>(x.data) == Bits<8>(wire::ip::kUdp) &&
           !is_fragment(wire::load<wire::ip::FlagsFragment>(x.data)) &&
           wire::load<wire::udp::DestinationPort>(x.data) == Bits<16>(wire::udp::kRocePort) &&
           !x.bytes.ult(Count(wire::kBthOffset));
  }
  // MF set, or an offset: the UDP header of a later fragment is not one.
  static bool is_fragment(const Bits<16>& flags) { return bool(flags.template get<0, 14>()); }

  void count(bool to_host) {
    frames.inc();
    if (to_host) {
      host_frames.inc();
    } else {
      roce_frames.inc();
    }
  }
};

}  // namespace rx
}  // namespace hw
