#include "hw/rx/ext_headers.hpp"
#include "packet.hpp"

namespace {

using hw::RxAck;
using hw::RxPacket;
using hw::RxRequest;
using test::Packet;

struct Harness {
  test::Bench bench;
  hls::stream<RxPacket> in;
  hls::stream<RxRequest> request;
  hls::stream<RxAck> ack;
  hw::rx::ExtHeaders stage;

  explicit Harness(unsigned capacity = 2) {
    test::configure(in, "in", 2);
    test::configure(request, "request", capacity);
    test::configure(ack, "ack", capacity);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, request, ack); });
  }
};

RxPacket packet(uint8_t opcode, uint64_t drop = hw::kKeep, bool body = false) {
  RxPacket p;
  p.opcode = hw::Bits<8>(opcode);
  p.drop = hw::DropCode(drop);
  p.body = hw::Bits<1>(body);
  return p;
}

RxPacket packet_of(const Packet& from, uint32_t tag) {
  RxPacket p = packet(from.opcode, hw::kKeep, !from.payload.empty());
  const test::Bytes frame = from.frame();
  memcpy(p.ext.w, frame.data() + 54, std::min<size_t>(16, frame.size() - 54));
  p.qpn = hw::Qpn(from.qpn);
  p.psn = hw::Psn(from.psn);
  p.ack_request = hw::Bits<1>(from.ack_request);
  p.payload = hw::PacketBytes(from.payload.size());
  p.tag.id = tag;
  return p;
}

TEST(RxExtHeaders, EveryPacketGoesWhereItsKindBelongsWithItsFields) {
  std::mt19937_64 random(2);
  std::vector<Packet> packets;
  std::vector<RxPacket> tokens;
  for (uint32_t i = 0; i < 500; i++) {
    packets.push_back(test::any_packet(random));
    tokens.push_back(packet_of(packets[i], i));
  }
  for (unsigned percent : {100u, 40u}) {
    Harness h;
    test::Source<RxPacket> source(h.bench, h.in, tokens, percent);
    test::Sink<RxRequest> requests(h.bench, h.request, percent);
    test::Sink<RxAck> acks(h.bench, h.ack, percent);
    h.run(percent == 100 ? tokens.size() + 2 : 10 * tokens.size());
    ASSERT_EQ(requests.tokens.size() + acks.tokens.size(), packets.size());
    size_t next_request = 0, next_ack = 0;
    for (uint32_t i = 0; i < packets.size(); i++) {
      const Packet& p = packets[i];
      if (p.opcode == test::kAck) {
        const RxAck& a = acks.tokens.at(next_ack++);
        EXPECT_EQ(a.tag.id, i);
        EXPECT_EQ(a.qpn.u64(), p.qpn);
        EXPECT_EQ(a.psn.v.u64(), p.psn);
        EXPECT_EQ(a.syndrome.u64(), p.syndrome);
        EXPECT_EQ(a.msn.u64(), p.msn);
        continue;
      }
      const RxRequest& r = requests.tokens.at(next_request++);
      EXPECT_EQ(r.tag.id, i);
      EXPECT_EQ(r.opcode.u64(), p.opcode);
      EXPECT_EQ(r.qpn.u64(), p.qpn);
      EXPECT_EQ(r.psn.v.u64(), p.psn);
      EXPECT_EQ(bool(r.ack_request), p.ack_request);
      EXPECT_EQ(r.va.u64(), p.va);
      EXPECT_EQ(r.rkey.u64(), p.rkey);
      EXPECT_EQ(r.dma_length.u64(), p.dma_length);
      EXPECT_EQ(r.payload.u64(), p.payload.size());
      EXPECT_EQ(bool(r.body), p.payload.size() > 0);
      EXPECT_EQ(r.drop.u64(), hw::kKeep);
    }
  }
}

TEST(RxExtHeaders, DroppedPacketsAndPayloadOfAcknowledgementsTakeTheRequestPath) {
  struct {
    RxPacket packet;
    size_t acks, requests;
    uint64_t drop;
  } const table[] = {
      {packet(test::kAck), 1, 0, 0},
      {packet(test::kAck, hw::kKeep, true), 1, 1, hw::kDropTransport},
      {packet(test::kAck, hw::kDropIp), 0, 1, hw::kDropIp},
      {packet(test::kAck, hw::kDropTransport, true), 0, 1, hw::kDropTransport},
      {packet(test::kOnly, hw::kDropUdp, true), 0, 1, hw::kDropUdp},
      {packet(0x00, hw::kKeep, true), 0, 1, hw::kKeep},
  };
  for (const auto& row : table) {
    Harness h;
    test::Source<RxPacket> source(h.bench, h.in, {row.packet});
    test::Sink<RxRequest> requests(h.bench, h.request);
    test::Sink<RxAck> acks(h.bench, h.ack);
    h.run(5);
    EXPECT_EQ(acks.tokens.size(), row.acks);
    ASSERT_EQ(requests.tokens.size(), row.requests);
    if (row.requests == 1) {
      EXPECT_EQ(requests.tokens[0].drop.u64(), row.drop);
      EXPECT_EQ(requests.tokens[0].body, row.packet.body);
    }
  }
}

TEST(RxExtHeaders, WaitsForRoomOnBothSides) {
  Harness h(1);
  test::Source<RxPacket> source(h.bench, h.in, {packet(test::kAck), packet(test::kOnly), packet(test::kOnly)});
  test::Sink<RxRequest> requests(h.bench, h.request);
  h.run(10);
  EXPECT_TRUE(requests.tokens.empty()) << "nobody takes the acknowledgement in front";
  test::Sink<RxAck> acks(h.bench, h.ack);
  h.run(10);
  EXPECT_EQ(requests.tokens.size(), 2u);
}

}  // namespace
