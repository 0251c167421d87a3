#include "traces/pcap_reader.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "support.hpp"

namespace traces {
namespace {

using test::expect_error_line;
using test::input_error_of;
using test::read_all;
using test::TemporaryFile;

struct Encoding {
  bool big_endian;
  bool nanoseconds;
};

// A pcap file with one packet of three bytes at 1 s and 500 units.
std::vector<uint8_t> one_packet(const Encoding& encoding, uint32_t link_type = 1) {
  std::vector<uint8_t> bytes;
  test::append(bytes, encoding.big_endian, 4, {encoding.nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4});
  test::append(bytes, encoding.big_endian, 2, {2, 4});
  test::append(bytes, encoding.big_endian, 4, {0, 0, 65535, link_type, 1, 500, 3, 60});
  bytes.insert(bytes.end(), {7, 8, 9});
  return bytes;
}

// The sample under the modified magic, its record headers longer by `more` bytes.
std::vector<uint8_t> modified_sample(size_t more) {
  const std::vector<uint8_t> sample = test::read_bytes(test::sample_capture());
  std::vector<uint8_t> bytes(sample.begin(), sample.begin() + 24);
  bytes[0] = 0x34;
  bytes[1] = 0xcd;
  for (size_t offset = 24; offset < sample.size();) {
    const auto record = sample.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto length = record[8] | record[9] << 8;
    bytes.insert(bytes.end(), record, record + 16);
    bytes.resize(bytes.size() + more, 0x77);
    bytes.insert(bytes.end(), record + 16, record + 16 + length);
    offset += 16 + static_cast<size_t>(length);
  }
  return bytes;
}

TEST(PcapReader, DeliversEveryPacketOfTheSample) {
  PcapReader reader(test::sample_capture());
  Packet packet;
  uint64_t count = 0;
  size_t bytes = 0;
  while (reader.read(packet)) {
    EXPECT_EQ(packet.index, ++count);
    EXPECT_EQ(packet.link_type, 1);
    EXPECT_NO_THROW(reader.require_ethernet(packet));
    EXPECT_EQ(packet.original_length, packet.bytes.size());
    bytes += packet.bytes.size();
  }
  EXPECT_EQ(count, 85u);
  EXPECT_EQ(PcapReader(test::sample_capture()).next()->time_ns, 1795985759085349000);
  EXPECT_EQ(24 + 16 * count + bytes, std::filesystem::file_size(test::sample_capture()));
  EXPECT_FALSE(reader.next());
}

TEST(PcapReader, ReadsBothByteOrdersAndPrecisions) {
  for (const Encoding& encoding : {Encoding{false, false}, {false, true}, {true, false}, {true, true}}) {
    TemporaryFile file("one.pcap");
    test::write_bytes(file.name(), one_packet(encoding));
    const test::Contents contents = read_all(file.name());
    ASSERT_EQ(contents.error, "");
    ASSERT_EQ(contents.packets.size(), 1u);
    const Packet& packet = contents.packets.front();
    EXPECT_EQ(packet.time_ns, encoding.nanoseconds ? 1'000'000'500 : 1'000'500'000);
    EXPECT_EQ(packet.original_length, 60u);
    EXPECT_EQ(packet.bytes, (std::vector<uint8_t>{7, 8, 9}));
  }
}

TEST(PcapReader, ReadsPcapngLikePcap) {
  SKIP_WITHOUT_SHARED();
  const auto captures = test::shared_folder() / "captures";
  const test::Contents pcap = read_all(captures / "third_party/linlinw5__rdma_write_bw.pcap");
  for (const char* name : {"fmt_ng_le.pcapng", "fmt_ng_be.pcapng", "fmt_be_us.pcap", "fmt_le_ns.pcap"}) {
    SCOPED_TRACE(name);
    const test::Contents other = read_all(captures / "derived" / name);
    ASSERT_EQ(other.error, "");
    ASSERT_EQ(other.packets.size(), pcap.packets.size());
    for (size_t i = 0; i < pcap.packets.size(); ++i) {
      EXPECT_EQ(other.packets[i].time_ns, pcap.packets[i].time_ns);
      EXPECT_EQ(other.packets[i].bytes, pcap.packets[i].bytes);
    }
  }
}

TEST(PcapReader, DeliversWholePacketsBeforeEveryCut) {
  const std::vector<uint8_t> whole = test::read_bytes(test::sample_capture());
  const size_t second_record = 24 + 16 + (whole[32] | whole[33] << 8);
  for (size_t size = 24; size <= second_record + 20; ++size) {
    TemporaryFile file("cut.pcap");
    test::write_bytes(file.name(), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    const test::Contents contents = read_all(file.name());
    EXPECT_EQ(contents.packets.size(), size < second_record ? 0u : 1u);
    if (size == 24 || size == second_record) {
      EXPECT_EQ(contents.error, "");
      continue;
    }
    expect_error_line(contents.error, file.name());
    const std::string place = size < second_record ? ": packet 1 (offset 24): "
                                                   : ": packet 2 (offset " + std::to_string(second_record) + "): ";
    EXPECT_NE(contents.error.find(place), std::string::npos) << contents.error;
  }
}

TEST(PcapReader, EndsAfterItsError) {
  TemporaryFile file("cut.pcap");
  // The second record claims 2^31 - 1 bytes, and what follows it would pass for a record.
  std::vector<uint8_t> bytes = one_packet({false, false});
  const std::vector<uint8_t> record(bytes.begin() + 24, bytes.end());
  bytes.insert(bytes.end(), {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f});
  bytes.insert(bytes.end(), record.begin(), record.end());
  test::write_bytes(file.name(), bytes);
  PcapReader reader(file.name());
  Packet packet;
  EXPECT_TRUE(reader.read(packet));
  EXPECT_THROW(reader.read(packet), InputError);
  EXPECT_FALSE(reader.read(packet));
}

TEST(PcapReader, NamesWhatIsWrongWithAFile) {
  struct Case {
    std::vector<uint8_t> bytes;
    const char* problem;
  };
  const Case cases[] = {
      {{}, "the file is empty"},
      {{0xd4, 0xc3}, "the file header is cut at byte 2"},
      {{0xd4, 0xc3, 0xb2, 0xa1, 2, 0}, "file header (offset 0)"},
      {{'G', 'I', 'F', '8', '9', 'a'}, "unknown magic 47494638"},
      {{0x34, 0xcd, 0xb2, 0xa1, 2, 0, 4, 0}, "file header (offset 0): cut at byte 8"},
  };
  for (const Case& bad : cases) {
    TemporaryFile file("bad.pcap");
    test::write_bytes(file.name(), bad.bytes);
    const std::string line = input_error_of([&] { PcapReader reader(file.name()); });
    expect_error_line(line, file.name());
    EXPECT_NE(line.find(bad.problem), std::string::npos) << line;
  }
}

TEST(PcapReader, NamesMissingFileAndFolder) {
  TemporaryFile file("missing.pcap");
  const std::string missing = input_error_of([&] { PcapReader reader(file.name()); });
  expect_error_line(missing, file.name());
  EXPECT_NE(missing.find("No such file"), std::string::npos) << missing;

  const std::string folder = std::filesystem::path(file.name()).parent_path();
  const std::string directory = input_error_of([&] { PcapReader reader(folder); });
  expect_error_line(directory, folder);
  EXPECT_NE(directory.find("is a directory"), std::string::npos) << directory;
}

// Gives the output of a command to read() as standard input.
template <typename Read>
void with_standard_input(const std::string& command, Read read) {
  std::FILE* pipe = popen(command.c_str(), "r");
  const int saved = dup(STDIN_FILENO);
  dup2(fileno(pipe), STDIN_FILENO);
  read();
  dup2(saved, STDIN_FILENO);
  close(saved);
  pclose(pipe);
}

// A pipe, from which a read returns little at a time.
TEST(PcapReader, ReadsStandardInput) {
  const std::vector<uint8_t> bytes = test::read_bytes(test::sample_capture());
  for (size_t size : {bytes.size(), bytes.size() - 1}) {
    const std::string command = "head -c " + std::to_string(size) + " " + test::sample_capture().string();
    test::Contents contents;
    with_standard_input(command, [&] { contents = read_all("-"); });
    EXPECT_EQ(contents.packets.size(), size == bytes.size() ? 85u : 84u);
    const std::string error = "standard input: packet 85 (offset ";
    EXPECT_EQ(contents.error.substr(0, error.size()), size == bytes.size() ? "" : error);
  }
}

TEST(PcapReader, MemoryDoesNotGrowWithTheFile) {
  const auto peak_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const std::string sample = test::sample_capture();
  std::string command = "cat " + sample + "; tail -q -c +25";
  for (int i = 1; i < 300; ++i) command += " " + sample;
  uint64_t packets = 0;
  long before = 0;
  with_standard_input(command, [&] {
    PcapReader reader("-");
    for (Packet packet; reader.read(packet); ++packets) {
      if (packets == 85) before = peak_kilobytes();
    }
  });
  EXPECT_EQ(packets, 300u * 85);
  EXPECT_LT(peak_kilobytes() - before, 4096);  // of a file of 100 MB
}

TEST(PcapReader, RequiresEthernetWhenAsked) {
  TemporaryFile file("raw.pcap");
  test::write_bytes(file.name(), one_packet({false, false}, 101));
  PcapReader reader(file.name());
  const Packet packet = reader.next().value();
  const std::string line = input_error_of([&] { reader.require_ethernet(packet); });
  EXPECT_EQ(line, file.name() + ": packet 1: link type 101 (raw IP); allowed: 1 (Ethernet)");
}

// Records of the modified format have 24 bytes, but files exist whose records are ordinary.
TEST(PcapReader, ReadsTheModifiedFormatWithRecordsOfEitherSize) {
  const test::Contents original = read_all(test::sample_capture());
  for (size_t more : {0, 8}) {
    TemporaryFile file("modified.pcap");
    std::vector<uint8_t> bytes = modified_sample(more);
    test::write_bytes(file.name(), bytes);
    const test::Contents contents = read_all(file.name());
    EXPECT_EQ(contents.error, "");
    ASSERT_EQ(contents.packets.size(), original.packets.size());
    for (size_t i = 0; i < original.packets.size(); ++i) {
      EXPECT_EQ(contents.packets[i].time_ns, original.packets[i].time_ns);
      EXPECT_EQ(contents.packets[i].bytes, original.packets[i].bytes);
    }
    const size_t first_record = 16 + more + original.packets[0].bytes.size();
    bytes.resize(24 + first_record);
    test::write_bytes(file.name(), bytes);
    EXPECT_EQ(read_all(file.name()).packets.size(), 1u);
    bytes.push_back(0);
    test::write_bytes(file.name(), bytes);
    const std::string line = input_error_of([&] { PcapReader reader(file.name()); });
    expect_error_line(line, file.name());
    EXPECT_NE(line.find("packet 1 (offset 24): the modified pcap format"), std::string::npos) << line;
  }
}

TEST(PcapReader, RefusesRecordsAboveTheLargestPacket) {
  for (uint32_t size : {262144u, 262145u}) {
    TemporaryFile file("large.pcap");
    std::vector<uint8_t> bytes = one_packet({false, false});
    bytes.resize(24);
    test::append(bytes, false, 4, {1, 0, size, size});
    bytes.resize(bytes.size() + size);
    test::write_bytes(file.name(), bytes);
    const test::Contents contents = read_all(file.name());
    EXPECT_EQ(contents.packets.size(), size == 262144 ? 1u : 0u);
    EXPECT_EQ(contents.error, size == 262144 ? ""
                                             : file.name() +
                                                   ": packet 1 (offset 24): the record claims 262145 bytes; "
                                                   "allowed: 0 to 262144");
  }
}

}  // namespace
}  // namespace traces
