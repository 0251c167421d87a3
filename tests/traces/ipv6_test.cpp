#include <set>

#include "frames.hpp"
#include "support.hpp"

namespace traces {
namespace {

constexpr size_t kIp = 14;
constexpr size_t kUdp = kIp + 40;
constexpr size_t kBth = kUdp + 8;
constexpr uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kDestinationOptions = 60;

std::vector<uint8_t> frame_over_ipv6() {
  test::FrameSpec spec = test::write_only(0xabcdef, 5);
  spec.source = "fd77::2";
  spec.destination = "fd77::1";
  return test::build_frame(spec);
}

// Puts an extension header of `size` bytes in front of what follows the IP header.
void extend(std::vector<uint8_t>& frame, uint8_t type, size_t size) {
  std::vector<uint8_t> header(size, 0);
  header[0] = frame[kIp + 6];
  header[1] = static_cast<uint8_t>(size / 8 - 1);
  frame[kIp + 6] = type;
  frame.insert(frame.begin() + kUdp, header.begin(), header.end());
  const size_t length = (size_t{frame[kIp + 4]} << 8 | frame[kIp + 5]) + size;
  frame[kIp + 4] = static_cast<uint8_t>(length >> 8);
  frame[kIp + 5] = static_cast<uint8_t>(length);
}

TEST(Ipv6, DecodesEveryField) {
  std::vector<uint8_t> frame = frame_over_ipv6();
  frame[kIp] = 0x6a;
  frame[kIp + 1] = 0x5f;
  const RocePacket packet = decode_frame(frame);
  EXPECT_EQ(packet.kind, FrameKind::kRoceV2);
  EXPECT_EQ(to_string(packet.source), "fd77::2");
  EXPECT_EQ(to_string(packet.destination), "fd77::1");
  EXPECT_EQ(packet.traffic_class, 0xa5);
  EXPECT_EQ(packet.time_to_live, 64);
  EXPECT_EQ(packet.ip_end, frame.size());
  EXPECT_EQ(packet.bth.psn, 0xabcdefu);
  EXPECT_EQ(packet.payload_length, 5);
  EXPECT_FALSE(packet.length_mismatch);
  EXPECT_TRUE(packet.icrc_ok());
}

// The value itself is the oracle's business; here, that every bit counts except those that routers may change.
TEST(Ipv6, IcrcSeesEveryBitThatIsNotMasked) {
  const std::vector<uint8_t> frame = frame_over_ipv6();
  std::set<size_t> masked = {kUdp + 6, kUdp + 7, kBth + 4, kIp + 7};
  for (size_t byte = kIp + 1; byte <= kIp + 3; ++byte) masked.insert(byte);
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    std::vector<uint8_t> flipped = frame;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const bool unseen = bit / 8 < 12 || masked.count(bit / 8) > 0 || (bit / 8 == kIp && bit % 8 < 4);
    EXPECT_EQ(decode_frame(flipped).icrc_ok(), unseen) << "byte " << bit / 8 << " bit " << bit % 8;
  }
}

TEST(Ipv6, WalksExtensionHeaders) {
  std::vector<uint8_t> frame = frame_over_ipv6();
  for (const auto& [type, size] : {std::pair{kDestinationOptions, 8}, {kRouting, 24}, {kHopByHop, 264}}) {
    extend(frame, type, static_cast<size_t>(size));
    test::fix_icrc(frame);
    const RocePacket packet = decode_frame(frame);
    EXPECT_EQ(packet.kind, FrameKind::kRoceV2);
    EXPECT_EQ(packet.bth.psn, 0xabcdefu);
    EXPECT_FALSE(packet.length_mismatch);
    EXPECT_TRUE(packet.icrc_ok());
    for (size_t at : {kUdp - 1, kUdp + 3, kUdp + static_cast<size_t>(size) - 1,
                      frame.size() - 1}) {  // the extension headers are under the ICRC
      std::vector<uint8_t> flipped = frame;
      flipped[at] ^= 0x10;
      EXPECT_FALSE(decode_frame(flipped).icrc_ok());
    }
  }
}

TEST(Ipv6, GivesUpOnEndlessExtensionHeaders) {
  std::vector<uint8_t> frame = frame_over_ipv6();
  for (int headers = 1; headers <= 9; ++headers) {
    extend(frame, kDestinationOptions, 8);
    EXPECT_EQ(decode_frame(frame).kind, headers <= 8 ? FrameKind::kRoceV2 : FrameKind::kOther);
  }
}

TEST(Ipv6, TellsOtherPackets) {
  struct Case {
    uint8_t next;
    FrameKind kind;
  };
  for (const Case& c : {Case{6, FrameKind::kTcp}, {58, FrameKind::kIcmp}, {89, FrameKind::kIpv6}}) {
    std::vector<uint8_t> frame = frame_over_ipv6();
    frame[kIp + 6] = c.next;
    EXPECT_EQ(decode_frame(frame).kind, c.kind);
  }
  std::vector<uint8_t> frame = frame_over_ipv6();
  extend(frame, kFragment, 8);
  EXPECT_EQ(decode_frame(frame).kind, FrameKind::kFragment);
  frame[kIp] = 0x50;
  EXPECT_EQ(decode_frame(frame).kind, FrameKind::kOther);
}

TEST(Ipv6, AddressesHaveOneForm) {
  EXPECT_EQ(parse_ip("10.0.0.1")->version, 4);
  EXPECT_EQ(parse_ip("fd77::1")->version, 6);
  EXPECT_EQ(parse_ip("fd77:0:0:0:0:0:0:1"), parse_ip("fd77::1"));
  EXPECT_NE(parse_ip("0.0.0.0"), parse_ip("::"));
  for (const char* text : {"", "fd77:::1", "10.0.0", "fd77::1/64", "host"}) EXPECT_FALSE(parse_ip(text)) << text;
}

}  // namespace
}  // namespace traces
