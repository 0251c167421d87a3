#include "traces/pcap_writer.hpp"

#include <random>

#include "support.hpp"

namespace traces {
namespace {

using test::read_all;
using test::read_bytes;
using test::TemporaryFile;

std::vector<uint8_t> random_frame(std::mt19937& random, size_t size) {
  std::vector<uint8_t> frame(size);
  for (uint8_t& byte : frame) byte = static_cast<uint8_t>(random());
  return frame;
}

TEST(PcapWriter, WritesTheDocumentedBytes) {
  TemporaryFile file("out.pcap");
  PcapWriter writer(file.name());
  writer.write(3'000'000'005'999, std::vector<uint8_t>{0xaa, 0xbb});
  const std::vector<uint8_t> expected = {
      0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,   4, 0, 1, 0, 0, 0,  // file header
      3,    0,    0,    0,    5, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb                    // 3 s and 5 ns
  };
  EXPECT_EQ(read_bytes(file.name()), expected);
}

TEST(PcapWriter, IsReadBackByLibpcap) {
  TemporaryFile file("out.pcap");
  std::mt19937 random(1);
  std::vector<std::vector<uint8_t>> frames;
  std::vector<uint64_t> times_ps;
  PcapWriter writer(file.name());
  for (uint64_t time_ps = 0; frames.size() < 300; time_ps += random() * uint64_t{1000} + random()) {
    frames.push_back(random_frame(random, random() % 9000));
    times_ps.push_back(time_ps);
    writer.write(time_ps, frames.back());
  }
  const test::Contents contents = read_all(file.name());
  ASSERT_EQ(contents.error, "");
  ASSERT_EQ(contents.packets.size(), frames.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(contents.packets[i].bytes, frames[i]);
    EXPECT_EQ(static_cast<uint64_t>(contents.packets[i].time_ns), times_ps[i] / 1000);
    EXPECT_EQ(contents.packets[i].link_type, 1);
  }
}

TEST(PcapWriter, IsReadableAfterEveryWrite) {
  TemporaryFile file("out.pcap");
  PcapWriter writer(file.name());
  for (size_t written = 0; written < 5; ++written) {
    const test::Contents contents = read_all(file.name());
    EXPECT_EQ(contents.error, "");
    EXPECT_EQ(contents.packets.size(), written);
    writer.write(written, std::vector<uint8_t>(60));
  }
}

TEST(PcapWriter, CutsWhatIsBeyondTheSnapLength) {
  TemporaryFile file("out.pcap");
  PcapWriter writer(file.name());
  writer.write(0, std::vector<uint8_t>(PcapWriter::kSnapLength + 1));
  const test::Contents contents = read_all(file.name());
  ASSERT_EQ(contents.packets.size(), 1u);
  EXPECT_EQ(contents.packets[0].bytes.size(), PcapWriter::kSnapLength);
  EXPECT_EQ(contents.packets[0].original_length, PcapWriter::kSnapLength + 1);
}

TEST(PcapWriter, IsReadBackByTshark) {
  if (test::lines_of("command -v tshark").empty()) GTEST_SKIP() << "no tshark";
  TemporaryFile file("out.pcap");
  PcapWriter writer(file.name());
  const test::Contents sample = read_all(test::sample_capture());
  for (const Packet& packet : sample.packets) writer.write(packet.index * 1'234'567'891'000, packet.bytes);
  const std::vector<std::string> lines = test::lines_of(
      "tshark -r " + file.name() + " -T fields -e frame.time_epoch -e frame.len -e infiniband.bth.psn 2>&1");
  ASSERT_GE(lines.size(), 85u);
  const std::vector<std::string> rows(lines.end() - 85, lines.end());  // tshark may warn first that it runs as root
  EXPECT_EQ(rows.front(), "1.234567891\t4170\t8831559");
  EXPECT_EQ(rows.back(), "104.938270735\t62\t8831638");
}

TEST(PcapWriter, NamesWhatTheSystemRefuses) {
  try {
    PcapWriter writer("/nonexistent/out.pcap");
    FAIL() << "no OutputError";
  } catch (const OutputError& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/out.pcap: cannot create: No such file or directory");
  }
  EXPECT_THROW(PcapWriter("/dev/full"), OutputError);
}

}  // namespace
}  // namespace traces
