#include "hw/rx/udp.hpp"
#include "packet.hpp"
#include "through.hpp"

namespace {

using hw::RxHeader;
using test::Bytes;
using test::Packet;
using test::RoceFrame;

uint64_t drop_of(hw::rx::Udp& stage, const Bytes& frame) {
  return test::one_through<RxHeader>(stage, test::rx_header(frame)).drop.u64();
}

TEST(RxUdp, PortAndLengthMustBeRight) {
  hw::rx::Udp stage;
  Bytes frame = Packet().frame();
  EXPECT_EQ(drop_of(stage, frame), hw::kKeep);
  for (size_t bit = 36 * 8; bit < 40 * 8; bit++) {
    Bytes bad = frame;
    bad[bit / 8] ^= uint8_t(1 << bit % 8);
    EXPECT_EQ(drop_of(stage, bad), hw::kDropUdp) << "bit " << bit;
  }
  EXPECT_EQ(stage.udp_errors.v.u64(), 32u);
}

TEST(RxUdp, SourcePortAndChecksumAreIgnored) {
  hw::rx::Udp stage;
  Bytes frame = Packet().frame();
  RoceFrame::put(frame, 34, 2, 69);  // docs/protocol.md A.2: classify by the destination port only
  RoceFrame::put(frame, 40, 2, 0x1234);
  EXPECT_EQ(drop_of(stage, frame), hw::kKeep);
}

TEST(RxUdp, AnEarlierVerdictStaysAndIsNotCountedAgain) {
  hw::rx::Udp stage;
  Bytes frame = Packet().frame();
  frame[36] ^= 1;
  RxHeader h = test::rx_header(frame);
  h.drop = hw::DropCode(hw::kDropIp);
  EXPECT_EQ(test::one_through<RxHeader>(stage, h).drop.u64(), hw::kDropIp);
  EXPECT_EQ(stage.udp_errors.v.u64(), 0u);
}

TEST(RxUdp, OneHeaderACycleAndNoneLostInStalls) {
  std::mt19937_64 random(9);
  std::vector<RxHeader> headers;
  for (int i = 0; i < 300; i++) {
    const Packet p = test::any_packet(random);
    headers.push_back(test::rx_header(p.frame(), p.payload.size()));
    headers.back().tag.id = uint32_t(i);
  }
  for (unsigned percent : {100u, 60u, 20u}) {
    hw::rx::Udp stage;
    const auto out = test::through<RxHeader>(stage, headers, percent);
    for (size_t i = 0; i < headers.size(); i++) {
      EXPECT_EQ(out[i].bytes, headers[i].bytes);
      EXPECT_EQ(out[i].payload, headers[i].payload);
      EXPECT_EQ(out[i].body, headers[i].body);
      EXPECT_EQ(out[i].tag.id, i);
    }
  }
}

}  // namespace
