#include "traces/cm.hpp"

#include <gtest/gtest.h>

#include "support.hpp"
#include "tap.hpp"

namespace traces::test {
namespace {

constexpr size_t kMad = 14 + 20 + 8 + 12 + 8;  // behind the DETH
constexpr size_t kData = kMad + 24;

/// A frame with a communication management MAD, to be filled in.
class CmFrame {
 public:
  CmFrame(const std::string& source, const std::string& destination, CmKind kind) {
    FrameSpec spec;
    spec.source = source;
    spec.destination = destination;
    spec.opcode = 0x64;
    spec.dest_qp = 1;
    spec.payload = 8 + 256;  // DETH and MAD
    frame_ = build_frame(spec);
    put(kMad, 0x01070203, 4);
    put(kMad + 16, static_cast<uint64_t>(kind), 2);
  }
  CmFrame& data(size_t offset, uint64_t value, size_t bytes) {
    put(kData + offset, value, bytes);
    return *this;
  }
  std::vector<uint8_t> bytes() {
    fix_icrc(frame_);
    return frame_;
  }

 private:
  void put(size_t offset, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) frame_[offset + i] = static_cast<uint8_t>(value >> 8 * (bytes - 1 - i));
  }
  std::vector<uint8_t> frame_;
};

std::vector<uint8_t> request(uint32_t id, uint32_t qpn, uint32_t psn) {
  CmFrame frame("10.0.0.2", "10.0.0.1", CmKind::kReq);
  frame.data(0, id, 4).data(32, qpn, 3).data(44, psn, 3).data(47, 0xa7, 1).data(50, 0x35, 1).data(95, 14 << 3, 1);
  return frame.bytes();
}

std::vector<uint8_t> reply(uint32_t id, uint32_t qpn, uint32_t psn) {
  CmFrame frame("10.0.0.1", "10.0.0.2", CmKind::kRep);
  frame.data(0, 0x900, 4).data(4, id, 4).data(12, qpn, 3).data(20, psn, 3).data(27, 3 << 5, 1);
  return frame.bytes();
}

TEST(Cm, RequestAndReplyTellBothEnds) {
  const Ends ends;
  Tap tap;
  tap.see(request(0x100, ends.requester_qpn, 7000));
  tap.see(reply(0x100, ends.responder_qpn, 300));
  // The tap has missed the first request, and its answer.
  for (uint32_t psn = 301; psn < 304; ++psn) tap.see(ends.write(psn));
  tap.see(ends.answer(303, 4));
  tap.tracker.finish();
  const Lane& lane = tap.lane_to(ends.responder_qpn);
  EXPECT_EQ(lane.paired_by, PairedBy::kCm);
  EXPECT_EQ(lane.peer, tap.id_to(ends.requester_qpn));
  EXPECT_EQ(lane.requests.first(), 300u) << "the REP tells where the active side begins";
  EXPECT_EQ(tap.lane_to(ends.requester_qpn).requests.first(), 7000u);
  EXPECT_EQ(lane.path_mtu, 1024u);
  EXPECT_EQ(lane.retry_count, 7);
  EXPECT_EQ(lane.rnr_retry_count, 3);
  EXPECT_EQ(lane.ack_timeout, 14);
  EXPECT_EQ(lane.starting_msn, 0u);
  EXPECT_EQ(lane.requests.losses().tap, 1u);
}

TEST(Cm, ReuseOfAQpnIsAnotherLife) {
  const Ends ends;
  Tap tap;
  for (uint32_t life = 0; life < 3; ++life) {
    tap.see(request(0x100 + life, ends.requester_qpn, 0));
    tap.see(reply(0x100 + life, ends.responder_qpn, 0));
    tap.see(reply(0x100 + life, ends.responder_qpn, 0));  // sent again: nothing new
    for (uint32_t psn = 0; psn < 5; ++psn) {              // the same PSNs in each life
      EXPECT_EQ(tap.see(ends.write(psn)).packet_class, PacketClass::kNew);
      tap.see(ends.answer(psn, psn + 1));
    }
  }
  tap.tracker.finish();
  EXPECT_EQ(tap.tracker.lanes().size(), 6u);
  EXPECT_EQ(tap.lane_to(ends.responder_qpn).life, 2u);
  for (const Lane& lane : tap.tracker.lanes()) EXPECT_EQ(tap.tracker.lanes()[lane.peer].life, lane.life);
}

TEST(Cm, OnlyAWholeManagementPacketIsOne) {
  const std::vector<uint8_t> frame = request(1, 2, 3);
  EXPECT_TRUE(decode_cm(decode_frame(frame), frame));
  for (size_t size = 0; size < kData + 96; ++size) {
    const ByteSpan cut(frame.data(), size);
    const RocePacket roce = decode_frame(cut);
    EXPECT_FALSE(roce.has_bth && decode_cm(roce, cut)) << size;
  }
  std::vector<uint8_t> other_class = frame;
  other_class[kMad + 1] = 3;
  EXPECT_FALSE(decode_cm(decode_frame(other_class), other_class));
}

// tshark's dissection of the capture: QPN 0x22 at both ends, starting PSNs 0xed2303 and 0x9d1504.
TEST(Cm, OfTheKernel) {
  SKIP_WITHOUT_SHARED();
  PcapReader reader((shared_folder() / "captures/rxe/cm_rping.s.pcap").string());
  ConnectionTracker tracker;
  Packet packet;
  while (reader.read(packet)) tracker.add(packet, decode(packet));
  tracker.finish();
  ASSERT_EQ(tracker.lanes().size(), 2u);
  const Lane& to_passive = tracker.lanes()[0];
  EXPECT_EQ(to_passive.paired_by, PairedBy::kCm);
  EXPECT_EQ(to_passive.qpn, 0x22u);
  EXPECT_EQ(to_passive.requests.first(), 0x9d1504u);
  EXPECT_EQ(tracker.lanes()[1].requests.first(), 0xed2303u);
  EXPECT_EQ(to_passive.retry_count, 7);
  EXPECT_EQ(to_passive.rnr_retry_count, 7);
  EXPECT_EQ(to_passive.ack_timeout, 0x13);
  EXPECT_TRUE(to_passive.closed);
  EXPECT_EQ(tracker.counts().cm, 5u);
}

}  // namespace
}  // namespace traces::test
