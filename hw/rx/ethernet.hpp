// Sorts frames by their headers: RoCE v2 over IPv4 goes down the receive pipeline, everything else to the host.
//
// RoCE v2 here is an untagged frame with an IPv4 header without options, not a fragment, UDP destination port 4791
// (IBTA annex A17; the source port is free, docs/protocol.md A.2). Fields are only classified: whether they are right
// is judged by the stages behind. The first beat of a frame waits for room in both outputs, because where it goes is
// not known before it is read; later beats wait for their own output only.
#pragma once
#include "../bus/beat_line.hpp"
#include "../bus/counter.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct Ethernet {
  Counter frames, roce_frames, host_frames;
  HW_COUNTERS(frames, roce_frames, host_frames)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& roce, hls::stream<Beat<W>>& host) {
    const bool next = !in.empty(), first = line_.first();
    const bool wait_roce = roce.full() && (first || !bool(to_host_));
    const bool wait_host = host.full() && (first || bool(to_host_));
    const bool leaves = line_.ready(next) && !wait_roce && !wait_host;
    const bool enters = next && line_.room(leaves);
    if (!leaves && !enters) return;

    const Beat<W>& x = enters ? in.read() : nothing_;
    if (leaves) {
      if (first) classify(!(line_.whole(x) && is_roce(line_.data(x))));
      send(line_.oldest(x), roce, host);
    }
    line_.move(leaves, enters, x);
  }

 private:
  template <int N>
  static bool is_roce(const Bits<N>& frame) {
    return wire::load<wire::eth::Type>(frame) == Bits<16>(wire::eth::kIpv4) && wire::is_plain_ip(frame) &&
           wire::load<wire::ip::Protocol>(frame) == Bits<8>(wire::ip::kUdp) &&
           wire::load<wire::udp::DestinationPort>(frame) == Bits<16>(wire::udp::kRocePort);
  }

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
  }

  HeadLine<W, wire::kBthOffset> line_;
  Bits<1> to_host_;  // the frame whose beat is the oldest goes to the host
  Beat<W> nothing_;
};

}  // namespace rx
}  // namespace hw
