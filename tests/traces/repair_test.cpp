#include "traces/repair.hpp"

#include "frames.hpp"
#include "support.hpp"

namespace traces {
namespace {

Packet cut_to(const std::vector<uint8_t>& frame, size_t size) {
  Packet packet = test::as_packet(frame, 1);
  packet.bytes.resize(std::min(size, frame.size()));
  return packet;
}

test::FrameSpec over(const char* source, const char* destination) {
  test::FrameSpec spec = test::write_only(7, 300);
  spec.source = source;
  spec.destination = destination;
  return spec;
}

TEST(Repair, MakesEveryCutBehindTheHeadersWhole) {
  for (const auto& spec : {over("10.0.0.2", "10.0.0.1"), over("fd77::2", "fd77::1")}) {
    const std::vector<uint8_t> whole = test::build_frame(spec);
    const RocePacket original = decode_frame(whole);
    for (size_t size = 0; size <= whole.size(); ++size) {
      SCOPED_TRACE(size);
      Packet packet = cut_to(whole, size);
      RocePacket roce = decode(packet);
      const Repair result = repair(packet, roce);
      if (size == whole.size() || size < original.payload_offset) {
        EXPECT_EQ(result, size == whole.size() ? Repair::kNotNeeded : Repair::kImpossible);
        EXPECT_FALSE(packet.repaired);
        EXPECT_EQ(packet.bytes.size(), size);
        continue;
      }
      ASSERT_EQ(result, Repair::kRepaired);
      EXPECT_TRUE(packet.repaired);
      EXPECT_EQ(packet.real_bytes, std::min(size, original.icrc_offset));
      ASSERT_EQ(packet.bytes.size(), whole.size());
      EXPECT_TRUE(roce.icrc_ok());
      EXPECT_EQ(roce.bth.psn, 7u);
      EXPECT_EQ(roce.payload_length, 300);
      const auto real_end = packet.bytes.begin() + packet.real_bytes;
      EXPECT_TRUE(std::equal(packet.bytes.begin(), real_end, whole.begin()));
      EXPECT_TRUE(std::all_of(real_end, packet.bytes.end() - 4, [](uint8_t byte) { return byte == 0; }));
      // Where nothing but the ICRC is missing, it comes out as it was.
      EXPECT_TRUE(size < original.icrc_offset || packet.bytes == whole);
    }
  }
}

TEST(Repair, RefusesLengthsThatTheWireDidNotHold) {
  const std::vector<uint8_t> whole = test::build_frame(over("10.0.0.2", "10.0.0.1"));
  Packet shorter = cut_to(whole, 120);
  --shorter.original_length;
  RocePacket roce = decode(shorter);
  EXPECT_EQ(repair(shorter, roce), Repair::kImpossible);

  Packet disagrees = cut_to(whole, 120);
  ++disagrees.bytes[14 + 3];
  roce = decode(disagrees);
  EXPECT_EQ(repair(disagrees, roce), Repair::kImpossible);
}

TEST(Repair, LeavesOtherPacketsAlone) {
  std::vector<uint8_t> frame = test::build_frame(over("10.0.0.2", "10.0.0.1"));
  frame[14 + 9] = 6;
  Packet packet = cut_to(frame, 120);
  RocePacket roce = decode(packet);
  EXPECT_EQ(repair(packet, roce), Repair::kImpossible);
  EXPECT_EQ(packet.bytes.size(), 120u);
}

// A buffer that is read into again is a new packet.
TEST(Repair, IsForgottenWithTheNextPacket) {
  Packet packet;
  packet.repaired = true;
  packet.real_bytes = 5;
  PcapReader reader(test::sample_capture());
  ASSERT_TRUE(reader.read(packet));
  EXPECT_FALSE(packet.repaired);
  EXPECT_EQ(packet.real_bytes, 0u);
}

// The same traffic was captured whole and at 96 bytes: the repaired packets carry the headers of the whole ones.
TEST(Repair, OfASnappedCapture) {
  SKIP_WITHOUT_SHARED();
  const auto file = test::shared_folder() / "captures/rxe/snap96_mixed.s.pcap";
  size_t repaired = 0;
  for (Packet& packet : test::read_all(file).packets) {
    RocePacket roce = decode(packet);
    EXPECT_NE(repair(packet, roce), Repair::kImpossible);
    EXPECT_TRUE(roce.icrc_ok());
    EXPECT_EQ(packet.bytes.size(), packet.original_length);
    repaired += packet.repaired;
  }
  EXPECT_EQ(repaired, 59u);  // INDEX.tsv: icrc_cut
}

}  // namespace
}  // namespace traces
