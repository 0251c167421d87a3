// The transmit path from the routed packet to the frame without its ICRC, as plain objects.
#pragma once
#include "hw/tx/bth.hpp"
#include "hw/tx/ethernet.hpp"
#include "hw/tx/ext_headers.hpp"
#include "hw/tx/frame.hpp"
#include "hw/tx/ip.hpp"
#include "hw/tx/udp.hpp"
#include "packet.hpp"

namespace test {

template <unsigned W>
struct TxChain {
  Bench bench;
  hls::stream<hw::TxRouted> routed;
  hls::stream<hw::TxHeader> to_bth, to_udp, to_ip, to_ethernet;
  hls::stream<hw::TxFrame> to_frame;
  hls::stream<hw::Beat<W>> payload, out;

  hw::tx::ExtHeaders ext_headers;
  hw::tx::Bth bth;
  hw::tx::Udp udp;
  hw::tx::Ip ip;
  hw::tx::Ethernet ethernet;
  hw::tx::Frame<W> frame;

  std::vector<hw::Cycles> cycles;  // of the beats that came out

  explicit TxChain(uint64_t seed = 1) : bench(seed) {
    configure(routed, "routed", 2);
    configure(to_bth, "to_bth", 2);
    configure(to_udp, "to_udp", 2);
    configure(to_ip, "to_ip", 2);
    configure(to_ethernet, "to_ethernet", 2);
    configure(to_frame, "to_frame", 2);
    configure(payload, "payload", 2);
    configure(out, "out", 2);
  }

  // Sends packets; ports and stages act in each cycle with probability `percent`.
  std::vector<Bytes> run(const std::vector<Packet>& packets, unsigned percent) {
    std::vector<hw::TxRouted> tokens;
    std::vector<hw::Beat<W>> beats;
    for (const Packet& p : packets) {
      tokens.push_back(p.routed(uint32_t(tokens.size())));
      for (const hw::Beat<W>& b : to_beats<W>(p.payload)) beats.push_back(b);
    }
    Source<hw::TxRouted> tokens_in(bench, routed, tokens, percent);
    Source<hw::Beat<W>> payload_in(bench, payload, beats, percent);
    Sink<hw::Beat<W>> sink(bench, out, percent);
    size_t done = 0;
    for (size_t quiet = 0; quiet < 1000; quiet++) {
      bench.tick([this, percent] { step(percent); });
      if (sink.tokens.size() != done) quiet = 0;
      done = sink.tokens.size();
    }
    EXPECT_TRUE(tokens_in.done() && payload_in.done() && payload.fill() == 0);
    cycles = sink.cycles;
    return to_packets<W>(sink.tokens);
  }

 private:
  void step(unsigned percent) {
    if (bench.chance(percent)) ext_headers.step(routed, to_bth);
    if (bench.chance(percent)) bth.step(to_bth, to_udp);
    if (bench.chance(percent)) udp.step(to_udp, to_ip);
    if (bench.chance(percent)) ip.step(to_ip, to_ethernet);
    if (bench.chance(percent)) ethernet.step(to_ethernet, to_frame);
    if (bench.chance(percent)) frame.step(to_frame, payload, out);
  }
};

}  // namespace test
