// Fields of a decoded packet.
#include <gtest/gtest.h>

#include "sim/replay/replay_nic.hpp"

namespace sim {
namespace {

TEST(TransportPacket, TakesEveryFieldThatThePacketHas) {
  traces::RocePacket roce;
  roce.bth.opcode = 0x0b;
  roce.bth.psn = 0xfffffe;
  roce.bth.ack_request = true;
  roce.bth.solicited = true;
  roce.reth = traces::Reth{0x1122334455667788, 0x99, 100};
  roce.immediate = 0xdeadbeef;
  roce.payload_length = 100;
  const TransportPacket t = transport_of(roce);
  EXPECT_EQ(t.opcode, 0x0b);
  EXPECT_EQ(t.psn, 0xfffffeu);
  EXPECT_TRUE(t.ack_request);
  EXPECT_TRUE(t.solicited);
  EXPECT_EQ(t.virtual_address, 0x1122334455667788u);
  EXPECT_EQ(t.remote_key, 0x99u);
  EXPECT_EQ(t.dma_length, 100u);
  EXPECT_EQ(t.immediate, 0xdeadbeefu);
  EXPECT_EQ(t.payload_bytes, 100u);
  EXPECT_EQ(t.syndrome, 0);
  EXPECT_EQ(t.msn, 0u);
}

TEST(TransportPacket, AnAnswerHasSyndromeAndMsnAndNothingOfARequest) {
  traces::RocePacket roce;
  roce.bth.opcode = 0x11;
  roce.aeth = traces::Aeth{0x62, 0x123456};
  const TransportPacket t = transport_of(roce);
  EXPECT_EQ(t.syndrome, 0x62);
  EXPECT_EQ(t.msn, 0x123456u);
  EXPECT_FALSE(t.ack_request || t.solicited);
  EXPECT_EQ(t.virtual_address, 0u);
  EXPECT_EQ(t.remote_key, 0u);
  EXPECT_EQ(t.dma_length, 0u);
  EXPECT_EQ(t.immediate, 0u);
}

// The UDP length of a broken packet may be shorter than its headers.
TEST(TransportPacket, ALengthBelowTheHeadersIsNoPayload) {
  traces::RocePacket roce;
  roce.payload_length = -12;
  EXPECT_EQ(transport_of(roce).payload_bytes, 0u);
}

}  // namespace
}  // namespace sim
