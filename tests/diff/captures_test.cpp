#include "sim/diff/captures.hpp"

#include <gtest/gtest.h>

#include "run_maker.hpp"

namespace sim {
namespace {

using test::diff_of;
using test::MadeRun;

const SenderDiff& of(const RunDiff& diff, const std::string& sender) {
  for (const SenderDiff& s : diff.senders)
    if (s.sender == sender) return s;
  throw std::out_of_range(sender);
}

TEST(Captures, TheSame) {
  const RunDiff diff = diff_of({}, {});
  ASSERT_EQ(diff.senders.size(), 2u);
  for (const SenderDiff& s : diff.senders) {
    EXPECT_EQ(s.capture, "nic0.pcap");
    EXPECT_EQ(s.packets_a, 4u);
    EXPECT_EQ(s.packets_b, 4u);
    EXPECT_FALSE(s.first || s.first_bytes || s.other_times != 0);
  }
  EXPECT_EQ(earliest(diff.senders), nullptr);
  EXPECT_FALSE(diff.differ());
}

TEST(Captures, OneTime) {
  MadeRun b;
  b.frames[5].time_ps += 4000;  // the third acknowledgement
  const RunDiff diff = diff_of({}, b);
  EXPECT_TRUE(diff.differ());
  EXPECT_FALSE(of(diff, "nic0").first);
  const SenderDiff& acks = of(diff, "nic1");
  EXPECT_EQ(earliest(diff.senders), &acks);
  ASSERT_TRUE(acks.first);
  EXPECT_EQ(acks.first->packet, 3u);
  EXPECT_EQ(acks.first->a->frame, 6u);
  EXPECT_EQ(acks.first->a->time_ps, 1500000u);
  EXPECT_EQ(acks.first->a->cycle, 375u);
  EXPECT_EQ(acks.first->b->time_ps, 1504000u);
  EXPECT_EQ(acks.first->b->cycle, 376u);
  EXPECT_FALSE(acks.first->byte);
  EXPECT_FALSE(acks.first_bytes);
  EXPECT_EQ(acks.other_times, 1u);
}

TEST(Captures, TheCycleIsTheLastEdgeBefore) {
  MadeRun b;
  b.frames[0].time_ps = 1003000;
  EXPECT_EQ(of(diff_of({}, b), "nic0").first->b->cycle, 250u);
  b.config = "[nic]\nclock_hz = 100000000\n";
  EXPECT_EQ(of(diff_of({}, b), "nic0").first->b->cycle, 100u);
}

TEST(Captures, OnePacket) {
  MadeRun b;
  b.frames[4].bytes = test::frame_of(0, traces::test::write_only(109, 64));
  const RunDiff diff = diff_of({}, b);
  const SenderDiff& writes = of(diff, "nic0");
  EXPECT_FALSE(of(diff, "nic1").first);
  ASSERT_TRUE(writes.first_bytes);
  EXPECT_EQ(writes.first->packet, 3u);
  EXPECT_EQ(writes.first->byte, 53u) << "the last byte of the PSN: 14 + 20 + 8 + 11";
  EXPECT_NE(writes.first->a->line.find("psn=102 RC_WRITE_Only len=64"), std::string::npos) << writes.first->a->line;
  EXPECT_NE(writes.first->b->line.find("psn=109 RC_WRITE_Only len=64"), std::string::npos) << writes.first->b->line;
}

TEST(Captures, TimesMayDifferBeforeBytesDo) {
  MadeRun b;
  b.frames[2].time_ps += 1000;
  b.frames[6].time_ps += 1000;
  b.frames[6].bytes.back() ^= 1;
  const SenderDiff writes = of(diff_of({}, b), "nic0");
  EXPECT_EQ(writes.first->packet, 2u);
  EXPECT_EQ(writes.first_bytes->packet, 4u);
  EXPECT_EQ(writes.other_times, 2u);
}

TEST(Captures, SendersThatOvertakeEachOtherStaySame) {
  MadeRun b;
  std::swap(b.frames[1].bytes, b.frames[2].bytes);
  const RunDiff diff = diff_of({}, b);
  for (const SenderDiff& s : diff.senders) {
    ASSERT_TRUE(s.first);
    EXPECT_FALSE(s.first_bytes);
  }
  EXPECT_EQ(earliest(diff.senders)->first->time_ps(), 1100000u);
}

TEST(Captures, OneRunEndsBefore) {
  MadeRun b;
  b.frames.resize(7);
  const SenderDiff acks = of(diff_of({}, b), "nic1");
  EXPECT_EQ(acks.packets_a, 4u);
  EXPECT_EQ(acks.packets_b, 3u);
  EXPECT_EQ(acks.first_bytes->packet, 4u);
  EXPECT_EQ(acks.first_bytes->a->frame, 8u);
  EXPECT_FALSE(acks.first_bytes->b);
  b.frames.clear();
  EXPECT_EQ(of(diff_of(b, {}), "nic1").first->packet, 1u);
}

TEST(Captures, FramesThatAreNoRoce) {
  MadeRun a, b;
  a.frames.push_back({3000000, {1, 2, 3}});
  b.frames.push_back({3000000, {1, 2, 4}});
  const SenderDiff other = of(diff_of(a, b), "00:00:00:00:00:00");
  EXPECT_EQ(other.first->byte, 2u);
  EXPECT_EQ(other.first->a->line, "short len=3");
}

TEST(Captures, ACutOneIsRefused) {
  const test::TemporaryFolder root;
  const std::string a = MadeRun{}.write(root / "a"), b = MadeRun{}.write(root / "b");
  std::filesystem::resize_file(b + "/nic0.pcap", std::filesystem::file_size(b + "/nic0.pcap") - 5);
  try {
    compare_runs(a, b);
    FAIL();
  } catch (const traces::InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind(b + "/nic0.pcap: packet 8 (offset ", 0), 0u) << error.what();
  }
}

}  // namespace
}  // namespace sim
