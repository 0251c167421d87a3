#include "traces/merged_reader.hpp"

#include <algorithm>

#include "frames.hpp"
#include "support.hpp"
#include "traces/clock_offset.hpp"
#include "traces/pcap_writer.hpp"

namespace traces {
namespace {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kMillisecond = 1'000'000;

struct Sent {
  int64_t time_ns;
  uint32_t psn;
};

std::vector<Sent> every_10_us(uint32_t first, uint32_t count) {
  std::vector<Sent> list;
  for (uint32_t i = 0; i < count; ++i)
    list.push_back({kMillisecond + int64_t{first + i} * 10 * kMicrosecond, first + i});
  return list;
}

// A capture of packets, by a clock that is ahead.
struct Tap {
  explicit Tap(const std::vector<Sent>& packets, int64_t ahead_ns = 0) {
    PcapWriter writer(file.name());
    for (const Sent& packet : packets)
      writer.write(static_cast<uint64_t>(packet.time_ns + ahead_ns) * 1000,
                   test::build_frame(test::write_only(packet.psn, 8)));
  }
  std::string name() const { return file.name(); }

  test::TemporaryFile file{"tap.pcap"};
};

std::vector<Packet> read_merged(MergedReader& reader) {
  std::vector<Packet> packets;
  Packet packet;
  while (reader.read(packet)) packets.push_back(packet);
  return packets;
}

TEST(ClockOffset, IsTheMedianOverSharedPackets) {
  std::vector<Sent> packets = every_10_us(0, 50);
  const Tap a(packets);
  for (Sent& packet : packets) packet.time_ns += packet.psn * 3 % 5 * kMicrosecond;  // 0 to 4 us from tap to tap
  const Tap b(packets, 7 * kMillisecond);
  const std::optional<ClockOffset> offset = clock_offset(a.name(), b.name());
  ASSERT_TRUE(offset);
  EXPECT_EQ(offset->median_ns, 7 * kMillisecond + 2 * kMicrosecond);
  EXPECT_EQ(offset->least_ns, 7 * kMillisecond);
  EXPECT_EQ(offset->most_ns, 7 * kMillisecond + 4 * kMicrosecond);
  EXPECT_EQ(offset->matches, 50u);
  const std::optional<ClockOffset> back = clock_offset(b.name(), a.name());
  EXPECT_EQ(back->median_ns, -offset->median_ns);
}

// One tap was switched on late: the packets that both saw are far behind the start of the other file.
TEST(ClockOffset, FindsSharedPacketsFarBehindTheStart) {
  const Tap all(every_10_us(0, 70'000));
  const Tap late(every_10_us(69'000, 1000), 5 * kMillisecond);
  EXPECT_EQ(clock_offset(all.name(), late.name())->median_ns, 5 * kMillisecond);
  EXPECT_EQ(clock_offset(late.name(), all.name())->median_ns, -5 * kMillisecond);
  EXPECT_EQ(clock_offset(late.name(), all.name())->matches, 101u);
}

TEST(ClockOffset, IgnoresRepeatedPackets) {
  std::vector<Sent> packets = every_10_us(0, 3);
  packets.push_back({90 * kMillisecond, 1});  // a retransmission
  const Tap a(packets);
  packets.erase(packets.begin() + 1);  // whose first copy the other tap did not see
  const Tap b(packets);
  EXPECT_EQ(clock_offset(a.name(), b.name())->matches, 2u);
  EXPECT_EQ(clock_offset(a.name(), b.name())->most_ns, 0);
}

TEST(ClockOffset, IsUnknownWithoutSharedPackets) {
  EXPECT_FALSE(clock_offset(Tap(every_10_us(0, 10)).name(), Tap(every_10_us(10, 10)).name()));
}

TEST(MergedReader, BringsClocksTogetherAndPacketsInOrder) {
  const Tap a(every_10_us(0, 60));
  const Tap b(every_10_us(30, 60), -300 * kMicrosecond);
  const Tap c(every_10_us(80, 20), 2 * kMillisecond);  // shares packets with b alone
  MergedReader reader({a.name(), b.name(), c.name()});
  ASSERT_EQ(reader.notes().size(), 2u);
  EXPECT_EQ(reader.notes()[0],
            b.name() + ": its clock is -300.000 us ahead of " + a.name() +
                " (median of 30 packets in both, -300.000 to -300.000 us), and is corrected by that");
  EXPECT_NE(reader.notes()[1].find("+2300.000 us ahead of " + b.name()), std::string::npos) << reader.notes()[1];
  const std::vector<Packet> packets = read_merged(reader);
  ASSERT_EQ(packets.size(), 140u);
  // All times are those of the clock that is ahead of the others.
  for (const Packet& packet : packets)
    EXPECT_EQ(packet.time_ns, 3 * kMillisecond + decode(packet).bth.psn * 10 * kMicrosecond);
  EXPECT_TRUE(std::is_sorted(packets.begin(), packets.end(),
                             [](const Packet& x, const Packet& y) { return x.time_ns < y.time_ns; }));
  uint64_t indices[3] = {};
  for (const Packet& packet : packets) EXPECT_EQ(packet.index, ++indices[packet.file_index]);
}

TEST(MergedReader, SaysWhenClocksCannotBeCompared) {
  const Tap a(every_10_us(0, 5)), b(every_10_us(10, 5));
  MergedReader reader({a.name(), b.name()});
  EXPECT_EQ(reader.notes(), std::vector<std::string>{b.name() +
                                                     ": no packet of it could be found in a file before it, "
                                                     "so its clock is taken for that of " +
                                                     a.name()});
  EXPECT_EQ(read_merged(reader).size(), 10u);
}

TEST(MergedReader, LeavesClocksOfOtherCenturiesAlone) {
  const Tap a(every_10_us(0, 1)), b(every_10_us(0, 1));
  std::vector<uint8_t> bytes = test::read_bytes(b.name());
  bytes[24 + 3] = 0xf0;  // seconds of the first record
  test::write_bytes(b.name(), bytes);
  MergedReader reader({a.name(), b.name()});
  EXPECT_NE(reader.notes().at(0).find("more than 73 years"), std::string::npos) << reader.notes()[0];
  EXPECT_EQ(read_merged(reader).size(), 2u);
}

TEST(MergedReader, OneFileIsReadAsItIs) {
  MergedReader reader({test::sample_capture()});
  const std::vector<Packet> packets = read_merged(reader);
  const test::Contents contents = test::read_all(test::sample_capture());
  EXPECT_TRUE(reader.notes().empty());
  ASSERT_EQ(packets.size(), contents.packets.size());
  EXPECT_EQ(packets.back().time_ns, contents.packets.back().time_ns);
}

// What one file lost does not keep back the packets of another.
TEST(MergedReader, TellsEveryDamageBehindAllPackets) {
  const Tap a(every_10_us(0, 10)), b(every_10_us(5, 10)), c(every_10_us(2, 10));
  for (const Tap* damaged : {&a, &c}) {
    std::vector<uint8_t> bytes = test::read_bytes(damaged->name());
    bytes.pop_back();
    test::write_bytes(damaged->name(), bytes);
  }
  MergedReader reader({a.name(), b.name(), c.name()});
  Packet packet;
  for (int i = 0; i < 28; ++i) ASSERT_TRUE(reader.read(packet));
  for (const Tap* damaged : {&a, &c}) {
    const std::string line = test::input_error_of([&] { reader.read(packet); });
    test::expect_error_line(line, damaged->name());
    EXPECT_NE(line.find("packet 10 (offset "), std::string::npos) << line;
  }
  EXPECT_FALSE(reader.read(packet));
}

// Both ends of one connection were captured: all is there twice.
TEST(MergedReader, OfBothEndsOfARealConnection) {
  SKIP_WITHOUT_SHARED();
  const std::string rxe = test::shared_folder() / "captures/rxe";
  MergedReader reader({rxe + "/rc_mixed.s.pcap", rxe + "/rc_mixed.c.pcap"});
  EXPECT_NE(reader.notes().at(0).find("median of 101 packets in both"), std::string::npos) << reader.notes()[0];
  const std::vector<Packet> packets = read_merged(reader);
  EXPECT_EQ(packets.size(), 214u);
  EXPECT_TRUE(std::is_sorted(packets.begin(), packets.end(),
                             [](const Packet& x, const Packet& y) { return x.time_ns < y.time_ns; }));
}

}  // namespace
}  // namespace traces
