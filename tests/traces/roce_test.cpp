#include "traces/roce.hpp"

#include <set>

#include "frames.hpp"
#include "support.hpp"
#include "traces/roce_line.hpp"

namespace traces {
namespace {

using test::build_frame;
using test::FrameSpec;

constexpr size_t kIp = 14;
constexpr size_t kUdp = kIp + 20;
constexpr size_t kBth = kUdp + 8;

FrameSpec write_with_immediate() {
  FrameSpec spec = test::write_only(0xabcdef, 5, 0x1122334455667788, 0xcafe);
  spec.opcode = 0x0b;
  spec.dest_qp = 0x123456;
  spec.immediate = 0xdeadbeef;
  return spec;
}

TEST(Roce, DecodesEveryField) {
  const std::vector<uint8_t> frame = build_frame(write_with_immediate());
  const RocePacket packet = decode_frame(frame);
  ASSERT_EQ(packet.kind, FrameKind::kRoceV2);
  EXPECT_EQ(packet.destination_mac, (std::array<uint8_t, 6>{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(packet.source_mac, (std::array<uint8_t, 6>{2, 0, 0, 0, 0, 2}));
  EXPECT_EQ(to_string(packet.source), "10.0.0.2");
  EXPECT_EQ(to_string(packet.destination), "10.0.0.1");
  EXPECT_EQ(packet.time_to_live, 64);
  EXPECT_EQ(packet.source_port, 0xc000);
  EXPECT_EQ(packet.destination_port, 4791);
  EXPECT_FALSE(packet.length_mismatch);
  EXPECT_EQ(packet.bth.opcode, 0x0b);
  EXPECT_EQ(packet.bth.pad_count, 3);
  EXPECT_EQ(packet.bth.partition_key, 0xffff);
  EXPECT_EQ(packet.bth.dest_qp, 0x123456u);
  EXPECT_EQ(packet.bth.psn, 0xabcdefu);
  EXPECT_TRUE(packet.bth.ack_request);
  ASSERT_TRUE(packet.reth);
  EXPECT_EQ(packet.reth->virtual_address, 0x1122334455667788u);
  EXPECT_EQ(packet.reth->remote_key, 0xcafeu);
  EXPECT_EQ(packet.reth->dma_length, 5u);
  EXPECT_EQ(packet.immediate, 0xdeadbeef);
  EXPECT_FALSE(packet.aeth);
  EXPECT_EQ(packet.payload_offset, kBth + 12 + 16 + 4);
  EXPECT_EQ(packet.payload_length, 5);
  EXPECT_EQ(packet.icrc_offset, frame.size() - 4);
  EXPECT_TRUE(packet.icrc_ok());
}

TEST(Roce, DecodesSingleBitsOfTheBth) {
  std::vector<uint8_t> frame = build_frame(test::write_only(1, 4));
  frame[kBth + 1] |= 0x80;
  EXPECT_TRUE(decode_frame(frame).bth.solicited);
  frame[kBth + 1] = 0x40;
  EXPECT_TRUE(decode_frame(frame).bth.migration);
  frame[kBth + 1] = 0x0a;
  EXPECT_EQ(decode_frame(frame).bth.transport_version, 10);
  frame[kBth + 4] = 0x80;
  EXPECT_TRUE(decode_frame(frame).bth.fecn);
  frame[kBth + 4] = 0x50;
  EXPECT_TRUE(decode_frame(frame).bth.becn);
  EXPECT_EQ(decode_frame(frame).bth.reserved6, 0x10);
  frame[kBth + 8] = 0x7f;
  EXPECT_FALSE(decode_frame(frame).bth.ack_request);
  EXPECT_EQ(decode_frame(frame).bth.reserved7, 0x7f);
}

TEST(Roce, SkipsVlanTagsOfAnyDepth) {
  FrameSpec spec = write_with_immediate();
  const RocePacket plain = decode_frame(build_frame(spec));
  for (size_t depth = 1; depth <= 4; ++depth) {
    spec.vlan_tags.push_back({static_cast<uint16_t>(depth == 1 ? 0x88a8 : 0x8100), static_cast<uint16_t>(depth)});
    const std::vector<uint8_t> frame = build_frame(spec);
    const RocePacket packet = decode_frame(frame);
    ASSERT_EQ(packet.vlan_tags.size(), depth);
    EXPECT_EQ(packet.vlan_tags.front().tag_protocol, 0x88a8);
    EXPECT_EQ(packet.vlan_tags.back().control, depth);
    EXPECT_EQ(packet.bth.psn, plain.bth.psn);
    EXPECT_TRUE(packet.icrc_ok());
    EXPECT_EQ(packet.icrc_on_wire, plain.icrc_on_wire);
    const size_t inside_last_tag = kIp + 4 * depth - 1;
    EXPECT_EQ(decode_frame(ByteSpan(frame).slice(0, inside_last_tag)).kind, FrameKind::kShort);
  }
}

TEST(Roce, FindsTheIcrcByUdpLength) {
  std::vector<uint8_t> frame = build_frame(write_with_immediate());
  const RocePacket plain = decode_frame(frame);
  for (size_t trailer = 1; trailer <= 12; ++trailer) {
    frame.push_back(0x5a);
    const RocePacket packet = decode_frame(frame);
    EXPECT_TRUE(packet.icrc_ok());
    EXPECT_EQ(packet.icrc_offset, plain.icrc_offset);
    EXPECT_EQ(packet.payload(frame).size, 5u);
  }
}

TEST(Roce, TellsLengthsThatDisagree) {
  std::vector<uint8_t> frame = build_frame(write_with_immediate());
  ++frame[kIp + 3];
  EXPECT_TRUE(decode_frame(frame).length_mismatch);
  EXPECT_EQ(decode_frame(frame).icrc, IcrcState::kBad);
  frame[kUdp + 5] = 16;
  const RocePacket packet = decode_frame(frame);
  EXPECT_EQ(packet.icrc, IcrcState::kCut);
  EXPECT_LT(packet.payload_length, 0);
  EXPECT_EQ(packet.payload(frame).size, 0u);
}

// A flip of any bit must be seen by the ICRC, except where the annex masks it and in the Ethernet header.
TEST(Roce, IcrcSeesEveryBitThatIsNotMasked) {
  const std::vector<uint8_t> frame = build_frame(write_with_immediate());
  const std::set<size_t> masked = {kIp + 1, kIp + 8, kIp + 10, kIp + 11, kUdp + 6, kUdp + 7, kBth + 4};
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::vector<uint8_t> flipped = frame;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const bool unseen = bit / 8 < 12 || masked.count(bit / 8) > 0;
    EXPECT_EQ(decode_frame(flipped).icrc_ok(), unseen) << "byte " << bit / 8 << " bit " << bit % 8;
  }
}

TEST(Roce, EveryIcrcOfTheSampleIsRight) {
  for (const Packet& packet : test::read_all(test::sample_capture()).packets) {
    std::vector<uint8_t> bytes = packet.bytes;
    EXPECT_TRUE(decode_frame(bytes).icrc_ok()) << packet.index;
    bytes.back() ^= 1;
    EXPECT_EQ(decode_frame(bytes).icrc, IcrcState::kBad) << packet.index;
  }
}

TEST(Roce, DecodesWhatACutFrameHolds) {
  const std::vector<uint8_t> whole = build_frame(write_with_immediate());
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const std::vector<uint8_t> frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const RocePacket packet = decode_frame(frame);
    EXPECT_EQ(packet.kind, size < kBth ? FrameKind::kShort : FrameKind::kRoceV2);
    EXPECT_EQ(packet.has_bth, size >= kBth + 12);
    EXPECT_EQ(packet.reth.has_value(), size >= kBth + 12 + 20);
    EXPECT_EQ(packet.extended_headers_cut, packet.has_bth && !packet.reth);
    EXPECT_EQ(packet.payload_length, packet.has_bth ? 5 : 0);
    EXPECT_EQ(packet.icrc, IcrcState::kCut);
    EXPECT_EQ(packet.payload(frame).size, std::min<size_t>(5, size < kBth + 32 ? 0 : size - kBth - 32));
  }
}

TEST(Roce, ClassifiesWhatIsNotRoce) {
  struct Case {
    size_t offset;
    uint8_t value;
    FrameKind kind;
  };
  // One changed byte of a RoCEv2 frame each; the ether types of ARP, IPv6 and RoCEv1 differ from IPv4's in more.
  const Case cases[] = {
      {kIp + 9, 1, FrameKind::kIcmp},        {kIp + 9, 6, FrameKind::kTcp},      {kIp + 9, 89, FrameKind::kIpv4},
      {kUdp + 3, 0xb6, FrameKind::kUdp},     {kIp, 0x65, FrameKind::kOther},     {kIp, 0x44, FrameKind::kOther},
      {kIp + 6, 0x20, FrameKind::kFragment}, {kIp + 7, 1, FrameKind::kFragment}, {13, 0x06, FrameKind::kArp},
      {12, 0x86, FrameKind::kOther},
  };
  for (const Case& change : cases) {
    std::vector<uint8_t> frame = build_frame(write_with_immediate());
    frame[change.offset] = change.value;
    const RocePacket packet = decode_frame(frame);
    EXPECT_EQ(packet.kind, change.kind) << change.offset << " " << name_of(packet.kind);
    EXPECT_FALSE(packet.has_bth);
  }
  std::vector<uint8_t> frame = build_frame(write_with_immediate());
  frame[12] = 0x89;
  frame[13] = 0x15;
  EXPECT_EQ(decode_frame(frame).kind, FrameKind::kRoceV1);
  EXPECT_EQ(decode(frame, 147).kind, FrameKind::kLinkType);
}

TEST(Roce, ClassifiesByDestinationPortOnly) {
  std::vector<uint8_t> frame = build_frame(write_with_immediate());
  frame[kUdp] = 0;
  frame[kUdp + 1] = 69;
  EXPECT_EQ(decode_frame(frame).kind, FrameKind::kRoceV2);
  std::swap(frame[kUdp], frame[kUdp + 2]);
  std::swap(frame[kUdp + 1], frame[kUdp + 3]);
  EXPECT_EQ(decode_frame(frame).kind, FrameKind::kUdp);
}

TEST(RoceLine, FormatsTheSampleAsTheFieldReadsIt) {
  LineFormatter formatter;
  std::vector<std::string> lines;
  for (const Packet& packet : test::read_all(test::sample_capture()).packets) {
    lines.push_back(formatter.line(packet, decode_frame(packet.bytes)).value());
  }
  EXPECT_EQ(lines.at(0),
            "1 0.000 10.77.0.2>10.77.0.1 ROCEV2 qpn=0x00001c psn=8831559 RC_WRITE_First len=4096 ackreq=0 "
            "va=0x5555c6864000 rkey=0xd71 dmalen=65536 pad=0 icrc=OK");
  EXPECT_EQ(lines.at(17),
            "18 11076.000 10.77.0.1>10.77.0.2 ROCEV2 qpn=0x00001c psn=8831574 RC_ACK len=0 ackreq=0 "
            "synd=0x1f:ACK(credit=31) msn=1 pad=0 icrc=OK");
}

TEST(RoceLine, NamesSyndromes) {
  EXPECT_EQ(syndrome_text(0x1f), "ACK(credit=31)");
  EXPECT_EQ(syndrome_text(0x34), "RNR_NAK(timer=20)");
  EXPECT_EQ(syndrome_text(0x60), "NAK(PSN_SEQ_ERR)");
  EXPECT_EQ(syndrome_text(0x64), "NAK(INV_RD_REQ)");
  EXPECT_EQ(syndrome_text(0x65), "NAK(code5)");
  EXPECT_EQ(syndrome_text(0x40), "RSVD(40)");
  EXPECT_EQ(syndrome_text(0x80), "RSVD(80)");
}

}  // namespace
}  // namespace traces
