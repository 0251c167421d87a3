#include "traces/mirror.hpp"

#include <gtest/gtest.h>

#include "tap.hpp"

namespace traces::test {
namespace {

/// What the detector says of frames at given times.
class Detector {
 public:
  Copy see(const std::vector<uint8_t>& frame, int64_t time_ns) { return see(frame, time_ns, 0); }
  Copy see(const std::vector<uint8_t>& frame, int64_t time_ns, uint32_t file) {
    Packet packet = as_packet(frame, 1);
    packet.time_ns = time_ns;
    packet.file_index = file;
    return detector_.add(packet, decode(packet));
  }

 private:
  MirrorDetector detector_;
};

std::vector<uint8_t> hop_further(std::vector<uint8_t> frame) {
  --frame[22];  // TTL
  return frame;
}

std::vector<uint8_t> with_mac(std::vector<uint8_t> frame) {
  frame[5] ^= 1;
  return frame;
}

std::vector<uint8_t> frame_of(uint32_t psn) {
  return build_frame(Ends().write(psn));
}

TEST(Mirror, OtherPlaces) {
  FrameSpec tagged = Ends().write(3);
  tagged.vlan_tags = {{0x8100, 100}};
  const std::vector<std::pair<const char*, std::vector<uint8_t>>> copies = {
      {"TTL", hop_further(frame_of(3))}, {"MAC", with_mac(frame_of(3))}, {"VLAN", build_frame(tagged)}};
  for (const auto& [name, copy] : copies) {
    Detector detector;
    EXPECT_EQ(detector.see(frame_of(3), 0), Copy::kNone) << name;
    EXPECT_EQ(detector.see(copy, 50'000), Copy::kOtherPath) << name;
    EXPECT_EQ(detector.see(frame_of(4), 60'000), Copy::kNone) << name;
  }
}

TEST(Mirror, TheSameInTwoFilesIsSeenAtTwoPlaces) {
  Detector detector;
  EXPECT_EQ(detector.see(frame_of(3), 0, 0), Copy::kNone);
  EXPECT_EQ(detector.see(frame_of(3), 30'000, 1), Copy::kOtherPath);
  EXPECT_EQ(detector.see(frame_of(3), 60'000, 0), Copy::kNone);
}

TEST(Mirror, AnotherPlaceIsACopyOnlyWithinItsWindow) {
  const MirrorWindows windows;
  for (const int64_t late : {windows.other_path_ns, windows.other_path_ns + 1}) {
    Detector detector;
    detector.see(frame_of(3), 0);
    EXPECT_EQ(detector.see(hop_further(frame_of(3)), late),
              late <= windows.other_path_ns ? Copy::kOtherPath : Copy::kNone);
  }
}

TEST(Mirror, AnIdenticalFrameIsACopyOnlyWithinMicroseconds) {
  const MirrorWindows windows;
  for (const int64_t late : {int64_t{0}, windows.same_path_ns, windows.same_path_ns + 1, int64_t{10'000}}) {
    Detector detector;
    detector.see(frame_of(3), 0);
    EXPECT_EQ(detector.see(frame_of(3), late), late <= windows.same_path_ns ? Copy::kSamePath : Copy::kNone) << late;
  }
}

TEST(Mirror, ARetransmissionAndItsCopyAtTwoPlaces) {
  Detector detector;
  EXPECT_EQ(detector.see(frame_of(3), 0), Copy::kNone);
  EXPECT_EQ(detector.see(hop_further(frame_of(3)), 2'000), Copy::kOtherPath);
  EXPECT_EQ(detector.see(frame_of(3), 20'000), Copy::kNone) << "sent again: seen at the first place before";
  EXPECT_EQ(detector.see(hop_further(frame_of(3)), 22'000), Copy::kOtherPath);
  EXPECT_EQ(detector.see(hop_further(frame_of(3)), 40'000), Copy::kNone) << "and again, at the second place first";
  EXPECT_EQ(detector.see(frame_of(3), 41'000), Copy::kOtherPath);
}

TEST(Mirror, OtherPayloadUnderTheSameHeadersIsNoCopy) {
  Detector detector;
  std::vector<uint8_t> other = frame_of(3);
  other[100] ^= 1;
  fix_icrc(other);
  detector.see(frame_of(3), 0);
  EXPECT_EQ(detector.see(other, 1'000), Copy::kNone);
}

TEST(Mirror, TheTrackerCountsNoCopyAsSentAgain) {
  const Ends ends;
  Tap tap;
  for (uint32_t psn = 0; psn < 50; ++psn) {
    for (const FrameSpec& spec : {ends.write(psn), ends.answer(psn, psn + 1)}) {
      tap.see(build_frame(spec));
      const Observation copy = tap.see(hop_further(build_frame(spec)), 1'000);
      EXPECT_EQ(copy.packet_class, PacketClass::kMirror);
      EXPECT_EQ(copy.retry, RetryCause::kNone);
    }
  }
  tap.tracker.finish();
  EXPECT_EQ(tap.tracker.counts().mirrored_other_path, 100u);
  EXPECT_EQ(tap.lane_to(0x12).requests.losses().ranges, 0u);
  EXPECT_EQ(tap.lane_to(0x12).messages.total(), 50u);
}

}  // namespace
}  // namespace traces::test
