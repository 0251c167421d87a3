// Frames that are built, against the decoder.
#include "traces/roce_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"
#include "traces/bytes.hpp"

namespace traces {
namespace {

using test::ip;

FrameFields fields_of(uint8_t opcode, ByteSpan payload) {
  FrameFields f;
  f.destination_mac = {2, 0, 0, 0, 0, 1};
  f.source_mac = {2, 0, 0, 0, 0, 2};
  f.destination = 0x0a000001;
  f.source = 0x0a000002;
  f.source_port = 0xc123;
  f.bth.opcode = opcode;
  f.bth.partition_key = 0x8001;
  f.bth.dest_qp = 0x123456;
  f.bth.psn = 0xabcdef;
  f.payload = payload;
  return f;
}

std::vector<uint8_t> some_bytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 31 + 7);
  return bytes;
}

uint32_t ones_complement_sum(ByteSpan bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size; i += 2) sum += load16(bytes, i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TEST(RoceFrame, DecodesToItsFields) {
  const std::vector<uint8_t> payload = some_bytes(64);
  FrameFields f = fields_of(0x0b, payload);
  f.bth.solicited = f.bth.migration = f.bth.ack_request = true;
  f.reth = Reth{0x1122334455667788, 0x99aabbcc, 64};
  f.immediate = 0xdeadbeef;
  const std::vector<uint8_t> frame = roce_frame(f);
  const RocePacket p = decode_frame(frame);
  EXPECT_EQ(p.kind, FrameKind::kRoceV2);
  EXPECT_EQ(p.destination_mac, f.destination_mac);
  EXPECT_EQ(p.source_mac, f.source_mac);
  EXPECT_EQ(p.destination, ip("10.0.0.1"));
  EXPECT_EQ(p.source, ip("10.0.0.2"));
  EXPECT_EQ(p.source_port, 0xc123);
  EXPECT_EQ(p.bth.opcode, 0x0b);
  EXPECT_TRUE(p.bth.solicited && p.bth.migration && p.bth.ack_request);
  EXPECT_EQ(p.bth.partition_key, 0x8001);
  EXPECT_EQ(p.bth.dest_qp, 0x123456u);
  EXPECT_EQ(p.bth.psn, 0xabcdefu);
  ASSERT_TRUE(p.reth);
  EXPECT_EQ(p.reth->virtual_address, 0x1122334455667788u);
  EXPECT_EQ(p.reth->remote_key, 0x99aabbccu);
  EXPECT_EQ(p.reth->dma_length, 64u);
  EXPECT_EQ(p.immediate, 0xdeadbeefu);
  EXPECT_EQ(p.payload_length, 64);
  const ByteSpan carried = p.payload(frame);
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), carried.data, carried.data + carried.size));
  EXPECT_TRUE(p.icrc_ok());
}

TEST(RoceFrame, FlagsThatAreNotSetAreClear) {
  const RocePacket p = decode_frame(roce_frame(fields_of(0x04, {})));
  EXPECT_FALSE(p.bth.solicited || p.bth.migration || p.bth.ack_request);
  EXPECT_EQ(p.bth.transport_version, 0);
  EXPECT_FALSE(p.reth || p.aeth || p.immediate);
}

TEST(RoceFrame, AcknowledgementCarriesSyndromeAndMsn) {
  FrameFields f = fields_of(kOpcodeRcAck, {});
  f.aeth = Aeth{0x62, 0x123456};
  const RocePacket p = decode_frame(roce_frame(f));
  ASSERT_TRUE(p.aeth);
  EXPECT_EQ(p.aeth->syndrome, 0x62);
  EXPECT_EQ(p.aeth->msn, 0x123456u);
  EXPECT_TRUE(p.icrc_ok());
}

// Lengths, pad, checksum and ICRC for every payload up to some words, and for the largest of each path MTU.
TEST(RoceFrame, EveryLengthIsConsistent) {
  std::vector<size_t> lengths = {255, 256, 1023, 1024, 4095, 4096};
  for (size_t length = 0; length <= 16; ++length) lengths.push_back(length);
  for (const size_t length : lengths) {
    const std::vector<uint8_t> payload = some_bytes(length);
    const std::vector<uint8_t> frame = roce_frame(fields_of(0x04, payload));
    const RocePacket p = decode_frame(frame);
    EXPECT_TRUE(p.icrc_ok()) << length;
    EXPECT_FALSE(p.length_mismatch) << length;
    EXPECT_EQ(p.payload_length, static_cast<int>(length));
    EXPECT_EQ(p.bth.pad_count, (4 - length % 4) % 4);
    EXPECT_EQ(p.ip_end, frame.size());
    EXPECT_EQ(ones_complement_sum(ByteSpan(frame).slice(14, 20)), 0xffffu) << length;  // RFC 1071
    const ByteSpan carried = p.payload(frame);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), carried.data, carried.data + carried.size)) << length;
  }
}

// The ICRC covers addresses, UDP ports, BTH and payload: a change of any of their bytes shows.
TEST(RoceFrame, IcrcGuardsEveryByteThatStaysOnTheWay) {
  const std::vector<uint8_t> payload = some_bytes(20);
  const std::vector<uint8_t> frame = roce_frame(fields_of(0x04, payload));
  const size_t addresses = 14 + 12, bth = 14 + 20 + 8;
  for (size_t at = addresses; at < frame.size(); ++at) {
    const bool is_length_or_checksum = at >= 14 + 20 + 2 && at < bth;  // UDP port, length and checksum: other errors
    const bool is_masked = at == bth + 4;                              // FECN, BECN, reserved
    if (is_length_or_checksum || is_masked) continue;
    std::vector<uint8_t> broken = frame;
    broken[at] ^= 0x40;
    EXPECT_FALSE(decode_frame(broken).icrc_ok()) << "byte " << at;
  }
}

TEST(RoceFrame, NumbersWiderThanTheirFieldsAreCut) {
  FrameFields f = fields_of(kOpcodeRcAck, {});
  f.bth.dest_qp = 0x41000002;
  f.bth.psn = 0x1000003;
  f.aeth = Aeth{0x12, 0x1000004};
  const RocePacket p = decode_frame(roce_frame(f));
  EXPECT_EQ(p.bth.dest_qp, 2u);
  EXPECT_EQ(p.bth.psn, 3u);
  EXPECT_EQ(p.bth.reserved6, 0);
  EXPECT_FALSE(p.bth.ack_request || p.bth.fecn || p.bth.becn);
  EXPECT_EQ(p.bth.reserved7, 0);
  EXPECT_EQ(p.aeth->syndrome, 0x12);
  EXPECT_EQ(p.aeth->msn, 4u);
}

}  // namespace
}  // namespace traces
