// Files without a connection give exactly one clear line each.

#include "frames.hpp"
#include "support.hpp"
#include "traces/connections.hpp"
#include "traces/pcap_writer.hpp"

namespace traces {
namespace {

using test::expect_error_line;
using test::ip;

// Reads a capture for its connections, as every tool does; throws for one without.
Census connections_of(const std::string& file, std::string* input_error = nullptr) {
  ConnectionTracker tracker;
  Census census;
  PcapReader reader(file);
  try {
    for (Packet packet; reader.read(packet);) {
      const RocePacket roce = decode(packet);
      census.add(packet, roce);
      tracker.add(packet, roce);
    }
  } catch (const InputError& error) {
    if (census.packets == 0 || input_error == nullptr) throw;
    *input_error = error.what();
  }
  tracker.finish();
  if (tracker.lanes().empty()) throw no_connection({file}, census, tracker.counts());
  return census;
}

std::string error_of(const std::string& file) {
  return test::input_error_of([&] { connections_of(file); });
}

TEST(BadInput, EveryBadDerivedCaptureGivesOneLine) {
  SKIP_WITHOUT_SHARED();
  struct Case {
    const char* name;
    const char* problem;
  };
  const Case cases[] = {
      {"bad_magic.pcap", "unknown magic 47494638"},
      {"short_header.pcap", "file header (offset 0)"},
      {"zero_bytes.pcap", "the file is empty"},
      {"lt_unknown.pcap", "(link type 20)"},
      {"runt_udp.pcap", "cut before the BTH 1"},
      {"snap_34.pcap", "(short 20, cut by the snap length 20)"},
      {"icrc_zero.pcap", "wrong or missing ICRC 20"},
      {"icrc_zero.pcap", "; allowed: a capture with some"},
      {"udp_len_short.pcap", "wrong or missing ICRC 20"},
      {"opcode_24.pcap", "another transport or a reserved opcode 20"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.name);
    const std::string file = test::shared_folder() / "captures/derived" / bad.name;
    const std::string line = error_of(file);
    expect_error_line(line, file);
    EXPECT_NE(line.find(bad.problem), std::string::npos) << line;
  }
}

TEST(BadInput, EveryCaptureOfSomethingElseGivesOneLine) {
  SKIP_WITHOUT_SHARED();
  const auto files = test::captures_in("not_roce");
  EXPECT_FALSE(files.empty());
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    expect_error_line(error_of(file), file);
  }
}

TEST(BadInput, CutCapturesKeepWhatCameBefore) {
  SKIP_WITHOUT_SHARED();
  const auto derived = test::shared_folder() / "captures/derived";
  std::string error;
  EXPECT_EQ(connections_of(derived / "cut_record_body.pcap", &error).packets, 19u);
  expect_error_line(error, derived / "cut_record_body.pcap");
  EXPECT_NE(error.find(": packet 20 (offset "), std::string::npos) << error;

  EXPECT_EQ(connections_of(derived / "cut_record_header.pcap", &error).packets, 1u);
  expect_error_line(error, derived / "cut_record_header.pcap");
}

TEST(BadInput, CutBeforeAnyFlowIsTheErrorItself) {
  test::TemporaryFile file("cut.pcap");
  std::vector<uint8_t> bytes = test::read_bytes(test::sample_capture());
  bytes.resize(30);
  test::write_bytes(file.name(), bytes);
  const std::string line = error_of(file.name());
  expect_error_line(line, file.name());
  EXPECT_NE(line.find("packet 1"), std::string::npos) << line;
}

TEST(BadInput, EmptyCaptureGivesOneLine) {
  test::TemporaryFile file("empty.pcap");
  { PcapWriter writer(file.name()); }
  EXPECT_EQ(error_of(file.name()), file.name() +
                                       ": no RoCEv2 packet of a reliable connection in 0 packets (the file is "
                                       "empty); allowed: a capture with some");
}

TEST(BadInput, AddressesAreDottedIpv4) {
  for (const char* text : {"", "10.1.1", "10.1.1.256", "fd77::1", "10.1.1.1 ", "host"})
    EXPECT_FALSE(parse_ipv4(text)) << text;
  EXPECT_EQ(to_string(ip("10.77.0.1")), "10.77.0.1");
}

}  // namespace
}  // namespace traces
