#include "hw/rx/bth.hpp"
#include "packet.hpp"
#include "through.hpp"

namespace {

using hw::RxHeader;
using hw::RxPacket;
using test::Packet;

uint64_t drop_of(hw::rx::Bth& stage, const Packet& p) {
  return test::one_through<RxPacket>(stage, test::rx_header(p.frame())).drop.u64();
}

TEST(RxBth, ReadsEveryField) {
  std::mt19937_64 random(4);
  std::vector<Packet> packets;
  std::vector<RxHeader> headers;
  for (int i = 0; i < 300; i++) {
    packets.push_back(test::any_packet(random));
    headers.push_back(test::rx_header(packets[i].frame(), packets[i].payload.size()));
    headers[i].tag.id = uint32_t(i);
  }
  for (unsigned percent : {100u, 40u}) {
    hw::rx::Bth stage;
    const auto out = test::through<RxPacket>(stage, headers, percent);
    for (size_t i = 0; i < packets.size(); i++) {
      const Packet& p = packets[i];
      EXPECT_EQ(out[i].opcode.u64(), p.opcode);
      EXPECT_EQ(out[i].qpn.u64(), p.qpn);
      EXPECT_EQ(out[i].psn.v.u64(), p.psn);
      EXPECT_EQ(bool(out[i].ack_request), p.ack_request);
      EXPECT_EQ(out[i].payload.u64(), p.payload.size());
      EXPECT_EQ(bool(out[i].body), !p.payload.empty());
      EXPECT_EQ(out[i].drop.u64(), hw::kKeep);
      EXPECT_EQ(out[i].tag.id, i);
      EXPECT_EQ(memcmp(out[i].ext.w, reinterpret_cast<const uint8_t*>(headers[i].bytes.w) + 54, 20), 0);
    }
    EXPECT_EQ(stage.packets.v.u64(), packets.size());
    EXPECT_EQ(stage.transport_errors.v.u64() + stage.pkey_errors.v.u64() + stage.cnps.v.u64(), 0u);
  }
}

TEST(RxBth, OnlyTheReliableConnectedServiceGoesOn) {
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    hw::rx::Bth stage;
    Packet p;
    p.opcode = uint8_t(opcode);
    EXPECT_EQ(drop_of(stage, p), opcode < 0x20 ? hw::kKeep : hw::kDropTransport) << opcode;
    EXPECT_EQ(stage.cnps.v.u64(), opcode == 0x81 ? 1u : 0u);
    EXPECT_EQ(stage.transport_errors.v.u64(), opcode < 0x20 || opcode == 0x81 ? 0u : 1u) << opcode;
  }
}

TEST(RxBth, TheTransportVersionIsZero) {
  hw::rx::Bth stage;
  Packet p;
  for (uint8_t version = 1; version < 16; version++) {
    p.transport_version = version;
    EXPECT_EQ(drop_of(stage, p), hw::kDropTransport) << int(version);
  }
  EXPECT_EQ(stage.transport_errors.v.u64(), 15u);
}

TEST(RxBth, PartitionKeysMatchInFifteenBitsAndOneSideIsAFullMember) {
  struct {
    uint32_t ours;
    uint16_t theirs;
    bool good;
  } const table[] = {{0xffff, 0xffff, true},  {0xffff, 0x7fff, true},  {0x7fff, 0xffff, true}, {0x7fff, 0x7fff, false},
                     {0xffff, 0xfffe, false}, {0xffff, 0xbfff, false}, {0x8001, 0x0001, true}, {0x8001, 0x8001, true},
                     {0x0001, 0x0001, false}, {0x8001, 0x8002, false}};
  for (const auto& row : table) {
    hw::rx::Bth stage;
    stage.params.partition_key = row.ours;
    Packet p;
    p.partition_key = row.theirs;
    EXPECT_EQ(drop_of(stage, p), row.good ? hw::kKeep : hw::kDropTransport) << row.ours << " " << row.theirs;
    EXPECT_EQ(stage.pkey_errors.v.u64(), row.good ? 0u : 1u);
    EXPECT_EQ(stage.transport_errors.v.u64(), 0u);
  }
}

TEST(RxBth, ReservedBitsAreIgnored) {
  hw::rx::Bth stage;
  test::Bytes frame = Packet().frame();
  frame[46] = 0xff;   // FECN, BECN and six reserved bits
  frame[50] |= 0x7f;  // seven reserved bits beside AckReq
  const RxPacket out = test::one_through<RxPacket>(stage, test::rx_header(frame));
  EXPECT_EQ(out.drop.u64(), hw::kKeep);
  EXPECT_FALSE(bool(out.ack_request));
}

TEST(RxBth, TheSolicitedEventBitStandsInFrontOfMigReqAndPad) {
  hw::rx::Bth stage;
  test::Bytes frame = Packet().frame();
  frame[43] = 0x70;
  EXPECT_FALSE(bool(test::one_through<RxPacket>(stage, test::rx_header(frame)).solicited));
  frame[43] = 0x80;
  EXPECT_TRUE(bool(test::one_through<RxPacket>(stage, test::rx_header(frame)).solicited));
}

TEST(RxBth, AnEarlierVerdictStaysAndIsNotCounted) {
  hw::rx::Bth stage;
  Packet p;
  p.opcode = 0x81;
  RxHeader h = test::rx_header(p.frame());
  h.drop = hw::DropCode(hw::kDropUdp);
  EXPECT_EQ(test::one_through<RxPacket>(stage, h).drop.u64(), hw::kDropUdp);
  EXPECT_EQ(stage.packets.v.u64() + stage.cnps.v.u64(), 0u);
}

}  // namespace
