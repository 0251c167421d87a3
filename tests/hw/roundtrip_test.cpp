// What the transmit path writes, the receive path reads: the same fields and the same payload, in the same order.
#include "hw/rx/bth.hpp"
#include "hw/rx/ext_headers.hpp"
#include "hw/rx/header_split.hpp"
#include "hw/rx/ip.hpp"
#include "hw/rx/udp.hpp"
#include "tx_chain.hpp"

namespace {

using hw::Beat;
using hw::RxAck;
using hw::RxRequest;
using test::Bytes;
using test::Packet;

// The receive path from the packet store to the extended headers.
template <unsigned W>
struct RxChain {
  test::Bench bench;
  hls::stream<Beat<W>> in, payload;
  hls::stream<hw::RxHeader> to_ip, to_udp, to_bth;
  hls::stream<hw::RxPacket> to_ext;
  hls::stream<RxRequest> request;
  hls::stream<RxAck> ack;

  hw::rx::HeaderSplit<W> split;
  hw::rx::Ip ip;
  hw::rx::Udp udp;
  hw::rx::Bth bth;
  hw::rx::ExtHeaders ext_headers;

  std::vector<Beat<W>> payloads;
  std::vector<RxRequest> requests;
  std::vector<RxAck> acks;

  explicit RxChain(uint64_t seed) : bench(seed) {
    test::configure(in, "in", 2);
    test::configure(payload, "payload", 64);
    test::configure(to_ip, "to_ip", 2);
    test::configure(to_udp, "to_udp", 2);
    test::configure(to_bth, "to_bth", 2);
    test::configure(to_ext, "to_ext", 2);
    test::configure(request, "request", 2);
    test::configure(ack, "ack", 2);
  }

  void run(const std::vector<Bytes>& frames, unsigned percent) {
    std::vector<Beat<W>> beats;
    for (size_t i = 0; i < frames.size(); i++) {
      for (const Beat<W>& b : test::to_beats<W>(frames[i], uint32_t(i))) beats.push_back(b);
    }
    test::Source<Beat<W>> source(bench, in, beats, percent);
    test::Sink<Beat<W>> payload_out(bench, payload, percent);
    test::Sink<RxRequest> request_out(bench, request, percent);
    test::Sink<RxAck> ack_out(bench, ack, percent);
    while (!source.done()) bench.tick([this, percent] { step(percent); });
    bench.run(1000, [this, percent] { step(percent); });
    payloads = payload_out.tokens;
    requests = request_out.tokens;
    acks = ack_out.tokens;
  }

 private:
  void step(unsigned percent) {
    if (bench.chance(percent)) split.step(in, to_ip, payload);
    if (bench.chance(percent)) ip.step(to_ip, to_udp);
    if (bench.chance(percent)) udp.step(to_udp, to_bth);
    if (bench.chance(percent)) bth.step(to_bth, to_ext);
    if (bench.chance(percent)) ext_headers.step(to_ext, request, ack);
  }
};

void expect_request(const RxRequest& r, const Packet& p) {
  EXPECT_EQ(r.opcode.u64(), p.opcode);
  EXPECT_EQ(r.qpn.u64(), p.qpn);
  EXPECT_EQ(r.psn.v.u64(), p.psn);
  EXPECT_EQ(bool(r.ack_request), p.ack_request);
  EXPECT_EQ(r.va.u64(), p.va);
  EXPECT_EQ(r.rkey.u64(), p.rkey);
  EXPECT_EQ(r.dma_length.u64(), p.dma_length);
  EXPECT_EQ(r.payload.u64(), p.payload.size());
  EXPECT_EQ(bool(r.body), !p.payload.empty());
  EXPECT_EQ(r.drop.u64(), hw::kKeep);
}

void expect_ack(const RxAck& a, const Packet& p) {
  EXPECT_EQ(a.qpn.u64(), p.qpn);
  EXPECT_EQ(a.psn.v.u64(), p.psn);
  EXPECT_EQ(a.syndrome.u64(), p.syndrome);
  EXPECT_EQ(a.msn.u64(), p.msn);
}

template <unsigned W>
void check(const std::vector<Packet>& packets, unsigned percent, uint64_t seed) {
  std::vector<Bytes> frames = test::TxChain<W>(seed).run(packets, percent);
  for (Bytes& f : frames) f.insert(f.end(), {0x11, 0x22, 0x33, 0x44});
  RxChain<W> rx(seed);
  rx.run(frames, percent);
  const std::vector<Bytes> payloads = test::to_packets<W>(rx.payloads);
  size_t next_request = 0, next_ack = 0, next_payload = 0;
  for (size_t i = 0; i < packets.size(); i++) {
    SCOPED_TRACE("packet " + std::to_string(i));
    if (packets[i].has_aeth()) {
      ASSERT_LT(next_ack, rx.acks.size());
      expect_ack(rx.acks[next_ack], packets[i]);
      EXPECT_EQ(rx.acks[next_ack++].tag.id, i);
      continue;
    }
    ASSERT_LT(next_request, rx.requests.size());
    expect_request(rx.requests[next_request], packets[i]);
    EXPECT_EQ(rx.requests[next_request++].tag.id, i);
    if (packets[i].payload.empty()) continue;
    ASSERT_LT(next_payload, payloads.size());
    EXPECT_EQ(payloads[next_payload++], packets[i].payload);
  }
  EXPECT_EQ(next_request, rx.requests.size());
  EXPECT_EQ(next_ack, rx.acks.size());
  EXPECT_EQ(next_payload, payloads.size());
}

TEST(Roundtrip, EverySize) {
  std::mt19937_64 random(5);
  std::vector<Packet> packets;
  for (size_t size = 0; size <= 4096; size++) {
    const uint8_t opcodes[] = {test::kFirst, test::kMiddle, test::kLast, test::kOnly};
    packets.push_back(Packet::random(random, opcodes[random() % 4], size));
    if (size % 5 == 0) packets.push_back(Packet::random(random, test::kAck, 0));
  }
  check<512>(packets, 100, 1);
  check<1024>(packets, 100, 1);
}

TEST(Roundtrip, RandomPacketsWithRandomStallsOnEveryPort) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets(80);
    for (Packet& packet : packets) packet = test::any_packet(random);
    check<512>(packets, seed % 2 ? 70 : 35, seed);
    check<1024>(packets, seed % 2 ? 70 : 35, seed);
  }
}

}  // namespace
