#include "hw/tx/bth.hpp"
#include "through.hpp"

namespace {

using test::one_through;

hw::TxHeader header_of(const hw::TxPacket& packet) {
  hw::TxHeader h;
  h.routed.packet = packet;
  h.bytes = ~h.bytes;  // around the BTH, to see that it stays
  h.bytes.set<42 * 8>(hw::Bits<12 * 8>());
  return h;
}
hw::TxPacket packet() {
  hw::TxPacket p;
  p.opcode = hw::Bits<8>(0x05);
  p.qpn = hw::Qpn(0xa1a2a3);
  p.psn = hw::Psn(0xb1b2b3);
  return p;
}
std::vector<uint8_t> bytes_of(hw::tx::Bth& stage, const hw::TxPacket& p) {
  const auto h = one_through<hw::TxHeader>(stage, header_of(p));
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(h.bytes.w);
  return std::vector<uint8_t>(bytes + 42, bytes + 54);
}

// IBTA 9.2, figure 68: opcode; SE, MigReq, PadCnt, TVer; P_Key; reserved; DestQP; AckReq; PSN.
TEST(TxBth, EveryBitStandsInItsPlace) {
  for (unsigned bits = 0; bits < 8; bits++) {
    hw::TxPacket p = packet();
    p.solicited = hw::Bits<1>(bits & 1);
    p.ack_request = hw::Bits<1>(bits >> 1 & 1);
    hw::tx::Bth stage;
    stage.params.partition_key = 0x8123;
    stage.params.migreq = bits >> 2;
    const auto flags = uint8_t((bits & 1) << 7 | (bits >> 2) << 6), ack_request = uint8_t((bits >> 1 & 1) << 7);
    EXPECT_EQ(bytes_of(stage, p),
              (std::vector<uint8_t>{0x05, flags, 0x81, 0x23, 0, 0xa1, 0xa2, 0xa3, ack_request, 0xb1, 0xb2, 0xb3}));
  }
}

TEST(TxBth, PadCompletesTheLastWord) {
  for (uint64_t payload = 0; payload <= 4096; payload++) {
    hw::TxPacket p = packet();
    p.payload = hw::PacketBytes(payload);
    hw::tx::Bth stage;
    ASSERT_EQ(bytes_of(stage, p)[1], (4 - payload % 4) % 4 << 4) << payload;
  }
}

TEST(TxBth, AllElseStaysAsItWas) {
  hw::tx::Bth stage;
  const auto h = one_through<hw::TxHeader>(stage, header_of(packet()));
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(h.bytes.w);
  for (size_t i = 0; i < 42; i++) EXPECT_EQ(bytes[i], 0xff) << i;
  for (size_t i = 54; i < hw::wire::kMaxHeaderBytes; i++) EXPECT_EQ(bytes[i], 0xff) << i;
}

}  // namespace
