// Sorts frames by their headers: RoCE v2 over IPv4 goes down the receive pipeline, everything else to the host.
//
// RoCE v2 here is an untagged frame with an IPv4 header without options, not a fragment, UDP destination port 4791
// (IBTA annex A17; the source port is free, docs/protocol.md A.2). Fields are only classified: whether they are right
// is judged by the stages behind. The first beat of a frame waits for room in both outputs, because where it goes is
// not known before it is read; later beats wait for their own output only.
#pragma once
#include "../bus/beat_line.hpp"
#include "../bus/counter.hpp"
#include "../bus/head.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// On a bus narrower than the headers a frame waits in a line until the beat that decides is at hand, or its end.
template <unsigned W>
struct Ethernet {
  Counter frames, roce_frames, host_frames;
  HW_COUNTERS(frames, roce_frames, host_frames)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& roce, hls::stream<Beat<W>>& host) {
    const bool next = !in.empty(), first = !bool(inside_), runt = line_.has_last();
    const bool decided = !first || runt || (line_.full() && next);
    const bool wait_roce = roce.full() && (first || !bool(to_host_));
    const bool wait_host = host.full() && (first || bool(to_host_));
    const bool leaves = line_.has_oldest(next) && decided && !wait_roce && !wait_host;
    const bool enters = next && (leaves || !line_.full());
    if (!leaves && !enters) return;

    const Beat<W>& x = enters ? in.read() : nothing_;
    if (leaves) {
      if (first) classify(runt || !is_roce(line_.data(x.data), x.bytes));
      send(line_.oldest(x), roce, host);
    }
    line_.move(leaves, enters, x);
  }

 private:
  enum { kLine = beats_of<W>(wire::kBthOffset) - 1 };

  template <int N>
  static bool is_roce(const Bits<N>& frame, const typename Beat<W>::Count& bytes_of_last) {
    typedef typename Beat<W>::Count Count;
    return wire::load<wire::eth::Type>(frame) == Bits<16>(wire::eth::kIpv4) &&
           wire::load<wire::ip::VersionIhl>(frame) == Bits<8>(wire::ip::kVersion4Ihl5) &&
           wire::load<wire::ip::Protocol>(frame) == Bits<8>(wire::ip::kUdp) &&
           !is_fragment(wire::load<wire::ip::FlagsFragment>(frame)) &&
           wire::load<wire::udp::DestinationPort>(frame) == Bits<16>(wire::udp::kRocePort) &&
           !bytes_of_last.ult(Count(wire::kBthOffset - kLine * int(W) / 8));
  }
  // MF set, or an offset: the UDP header of a later fragment is not one.
  static bool is_fragment(const Bits<16>& flags) { return bool(flags.template get<0, 14>()); }

  void classify(bool to_host) {
    to_host_ = Bits<1>(to_host);
    frames.inc();
    if (to_host) {
      host_frames.inc();
    } else {
      roce_frames.inc();
    }
  }

  void send(const Beat<W>& x, hls::stream<Beat<W>>& roce, hls::stream<Beat<W>>& host) {
    if (bool(to_host_)) {
      host.write(x);
    } else {
      roce.write(x);
    }
    inside_ = ~x.last;
  }

  BeatLine<W, kLine> line_;  // the beats before the one on the bus
  Bits<1> inside_;           // the oldest beat is not the first one of its frame
  Bits<1> to_host_;          // its frame goes to the host
  Beat<W> nothing_;
};

}  // namespace rx
}  // namespace hw
