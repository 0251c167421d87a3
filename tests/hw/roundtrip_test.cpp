// What the transmit path writes, the receive path reads: the same fields and the same payload, in the same order.
#include "hw/rx/bth.hpp"
#include "hw/rx/ext_headers.hpp"
#include "hw/rx/header_split.hpp"
#include "hw/rx/ip.hpp"
#include "hw/rx/udp.hpp"
#include "tx_chain.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using hw::RxTransport;
using test::Bytes;
using test::Packet;

// The receive path from the packet store to the extended headers.
template <unsigned W>
struct RxChain {
  test::Bench bench;
  hls::stream<Beat<W>> in, payload;
  hls::stream<hw::RxHeader> to_ip, to_udp, to_bth;
  hls::stream<hw::RxPacket> to_ext;
  hls::stream<RxTransport> out;

  hw::rx::HeaderSplit<W> split;
  hw::rx::Ip ip;
  hw::rx::Udp udp;
  hw::rx::Bth bth;
  hw::rx::ExtHeaders ext_headers;

  std::vector<Beat<W>> payloads;
  std::vector<RxTransport> transports;

  explicit RxChain(uint64_t seed) : bench(seed) {
    test::configure(in, "in", 2);
    test::configure(payload, "payload", 64);
    test::configure(to_ip, "to_ip", 2);
    test::configure(to_udp, "to_udp", 2);
    test::configure(to_bth, "to_bth", 2);
    test::configure(to_ext, "to_ext", 2);
    test::configure(out, "out", 2);
  }

  void run(const std::vector<Bytes>& frames, unsigned percent) {
    std::vector<Beat<W>> beats;
    for (size_t i = 0; i < frames.size(); i++) {
      for (const Beat<W>& b : test::to_beats<W>(frames[i], uint32_t(i))) beats.push_back(b);
    }
    test::Source<Beat<W>> source(bench, in, beats, percent);
    test::Sink<Beat<W>> payload_out(bench, payload, percent);
    test::Sink<RxTransport> sink(bench, out, percent);
    while (!source.done()) bench.tick([this, percent] { step(percent); });
    bench.run(1000, [this, percent] { step(percent); });
    payloads = payload_out.tokens;
    transports = sink.tokens;
  }

 private:
  void step(unsigned percent) {
    if (bench.chance(percent)) split.step(in, to_ip, payload);
    if (bench.chance(percent)) ip.step(to_ip, to_udp);
    if (bench.chance(percent)) udp.step(to_udp, to_bth);
    if (bench.chance(percent)) bth.step(to_bth, to_ext);
    if (bench.chance(percent)) ext_headers.step(to_ext, out);
  }
};

// What an opcode has no field for is zero on both sides.
void expect_equal(const RxTransport& t, const Packet& p) {
  EXPECT_EQ(t.opcode.u64(), p.opcode);
  EXPECT_EQ(t.qpn.u64(), p.qpn);
  EXPECT_EQ(t.psn.v.u64(), p.psn);
  EXPECT_EQ(bool(t.ack_request), p.ack_request);
  EXPECT_EQ(t.va.u64(), p.va);
  EXPECT_EQ(t.rkey.u64(), p.rkey);
  EXPECT_EQ(t.dma_length.u64(), p.dma_length);
  EXPECT_EQ(t.immediate.u64(), p.immediate);
  EXPECT_EQ(t.syndrome.u64(), p.syndrome);
  EXPECT_EQ(t.msn.u64(), p.msn);
  EXPECT_EQ(t.payload.u64(), p.payload.size());
  EXPECT_EQ(bool(t.body), !p.payload.empty());
  EXPECT_EQ(t.drop.u64(), hw::kKeep);
}

template <unsigned W>
void check(const std::vector<Packet>& packets, unsigned percent, uint64_t seed) {
  std::vector<Bytes> frames = test::TxChain<W>(seed).run(packets, percent);
  for (Bytes& f : frames) f.insert(f.end(), {0x11, 0x22, 0x33, 0x44});
  RxChain<W> rx(seed);
  rx.run(frames, percent);
  const std::vector<Bytes> payloads = test::to_packets<W>(rx.payloads);
  size_t next_payload = 0;
  ASSERT_EQ(rx.transports.size(), packets.size());
  for (size_t i = 0; i < packets.size(); i++) {
    SCOPED_TRACE("packet " + std::to_string(i));
    expect_equal(rx.transports[i], packets[i]);
    EXPECT_EQ(rx.transports[i].tag.id, i);
    if (packets[i].payload.empty()) continue;
    ASSERT_LT(next_payload, payloads.size());
    EXPECT_EQ(payloads[next_payload++], packets[i].payload);
  }
  EXPECT_EQ(next_payload, payloads.size());
}

template <class T>
class Roundtrip : public ::testing::Test {};
TYPED_TEST_SUITE(Roundtrip, test::Widths, test::WidthNames);

TYPED_TEST(Roundtrip, EverySize) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(5);
  std::vector<Packet> packets;
  for (size_t size = 0; size <= 4096; size++) {
    const uint8_t opcode = uint8_t(random() % (test::kAck + 1));
    packets.push_back(Packet::random(random, opcode, test::may_have_payload(opcode) ? size : 0));
  }
  check<W>(packets, 100, 1);
}

TYPED_TEST(Roundtrip, RandomPacketsWithRandomStallsOnEveryPort) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets(80);
    for (Packet& packet : packets) packet = test::any_packet(random);
    check<W>(packets, seed % 2 ? 70 : 35, seed);
  }
}

}  // namespace
