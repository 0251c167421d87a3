#include "hw/rx/ip.hpp"
#include "packet.hpp"
#include "through.hpp"

namespace {

using hw::RxHeader;
using test::Bytes;
using test::Packet;

constexpr unsigned kHeld = 1;  // cycles: between the two halves of the checksum

uint64_t drop_of(hw::rx::Ip& stage, const Bytes& frame) {
  return test::one_through<RxHeader>(stage, test::rx_header(frame), kHeld).drop.u64();
}

TEST(RxIp, KeepsAGoodHeaderAndPassesEverythingElseOn) {
  hw::rx::Ip stage;
  const Bytes frame = Packet().frame();
  RxHeader h = test::rx_header(frame, 77);
  h.tag.id = 5;
  const RxHeader out = test::one_through<RxHeader>(stage, h, kHeld);
  EXPECT_EQ(out.drop.u64(), hw::kKeep);
  EXPECT_EQ(out.bytes, h.bytes);
  EXPECT_EQ(out.payload.u64(), 77u);
  EXPECT_TRUE(bool(out.body));
  EXPECT_EQ(out.tag.id, 5u);
  EXPECT_EQ(stage.ip_errors.v.u64(), 0u);
}

TEST(RxIp, EveryFlippedBitOfTheHeaderIsSeen) {
  hw::rx::Ip stage;
  for (size_t bit = 14 * 8; bit < 34 * 8; bit++) {
    Bytes frame = Packet().frame();
    frame[bit / 8] ^= uint8_t(1 << bit % 8);
    EXPECT_EQ(drop_of(stage, frame), hw::kDropIp) << "bit " << bit;
  }
  EXPECT_EQ(stage.ip_errors.v.u64(), 160u);
}

TEST(RxIp, TheChecksumIsRightForAnyHeader) {
  hw::rx::Ip stage;
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; i++) {
    Bytes frame = Packet().frame();
    for (size_t at = 15; at < 34; at++) frame[at] = i < 2 ? uint8_t(-i) : uint8_t(random());
    frame[20] = 0x40, frame[21] = 0;
    Packet::put_checksum(frame);
    EXPECT_EQ(drop_of(stage, frame), hw::kKeep);
    frame[25] ^= 0x10;
    EXPECT_EQ(drop_of(stage, frame), hw::kDropIp);
  }
}

TEST(RxIp, FragmentsAndOptionsAreDroppedThoughTheirChecksumIsRight) {
  struct {
    size_t at;
    uint8_t value;
    uint64_t drop;
  } const table[] = {{20, 0x00, hw::kKeep},   {20, 0x40, hw::kKeep},   {20, 0x20, hw::kDropIp}, {20, 0x10, hw::kDropIp},
                     {21, 0x01, hw::kDropIp}, {14, 0x46, hw::kDropIp}, {14, 0x65, hw::kDropIp}};
  for (const auto& row : table) {
    hw::rx::Ip stage;
    Bytes frame = Packet().frame();
    frame[row.at] = row.value;
    Packet::put_checksum(frame);
    EXPECT_EQ(drop_of(stage, frame), row.drop) << row.at << " " << int(row.value);
    EXPECT_EQ(stage.ip_errors.v.u64(), row.drop == hw::kKeep ? 0u : 1u);
  }
}

TEST(RxIp, TakesOnlyPacketsToItsAddress) {
  hw::rx::Ip stage;
  Packet p;
  p.destination_ip = 0xc0a8c809;
  stage.params.address = 0xc0a8c809;
  EXPECT_EQ(drop_of(stage, p.frame()), hw::kKeep);
  p.destination_ip = 0xc0a8c80a;
  EXPECT_EQ(drop_of(stage, p.frame()), hw::kDropIp);
  EXPECT_EQ(stage.address_misses.v.u64(), 1u);
  stage.params.address = 0;
  EXPECT_EQ(drop_of(stage, p.frame()), hw::kKeep);
  EXPECT_EQ(stage.ip_errors.v.u64(), 0u);
}

TEST(RxIp, AnEarlierVerdictStaysAndIsNotCountedAgain) {
  hw::rx::Ip stage;
  Bytes frame = Packet().frame();
  frame[24] ^= 1;
  RxHeader h = test::rx_header(frame);
  h.drop = hw::DropCode(hw::kDropAccess);
  EXPECT_EQ(test::one_through<RxHeader>(stage, h, kHeld).drop.u64(), hw::kDropAccess);
  EXPECT_EQ(stage.ip_errors.v.u64(), 0u);
}

TEST(RxIp, OneHeaderACycleAndNoneLostInStalls) {
  std::mt19937_64 random(9);
  std::vector<RxHeader> headers;
  for (int i = 0; i < 300; i++) headers.push_back(test::rx_header(test::any_packet(random).frame()));
  for (unsigned percent : {100u, 60u, 20u}) {
    hw::rx::Ip stage;
    const auto out = test::through<RxHeader>(stage, headers, percent, kHeld);
    for (size_t i = 0; i < headers.size(); i++) EXPECT_EQ(out[i].bytes, headers[i].bytes);
  }
}

}  // namespace
