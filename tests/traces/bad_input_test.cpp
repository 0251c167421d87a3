// Files that cannot be replayed give exactly one clear line each.

#include "frames.hpp"
#include "support.hpp"
#include "traces/flows.hpp"
#include "traces/pcap_writer.hpp"

namespace traces {
namespace {

using test::expect_error_line;
using test::ip;

std::string replay_error(const std::string& file, const char* ours = "10.1.16.61") {
  return test::input_error_of([&] { read_replay(file, ip(ours)); });
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
      {"lt_raw.pcap", "link type 101 (raw IP)"},
      {"lt_sll.pcap", "link type 113"},
      {"lt_unknown.pcap", "link type 147"},
      {"runt_udp.pcap", "1 RoCEv2 packets end before the BTH"},
      {"snap_34.pcap", "(short 20)"},
      {"v6_from_v4.pcap", "(rocev2 20)"},
      {"icrc_zero.pcap", "15 packets towards us with a wrong or missing ICRC"},
      {"icrc_zero.pcap", "; allowed: a capture of RoCEv2 RC"},
      {"udp_len_short.pcap", "15 packets towards us with a wrong or missing ICRC"},
      {"opcode_24.pcap", "20 RoCEv2 packets are not of the RC transport"},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.name);
    const std::string file = test::shared_folder() / "captures/derived" / bad.name;
    const std::string line = replay_error(file);
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
    expect_error_line(replay_error(file), file);
  }
}

TEST(BadInput, CutCapturesKeepWhatCameBefore) {
  SKIP_WITHOUT_SHARED();
  const auto derived = test::shared_folder() / "captures/derived";
  const ReplayCapture body = read_replay(derived / "cut_record_body.pcap", ip("10.1.16.61"));
  EXPECT_EQ(body.packets, 19u);
  EXPECT_EQ(body.flows.at(0).responses.size(), 4u);
  expect_error_line(body.input_error, derived / "cut_record_body.pcap");
  EXPECT_NE(body.input_error.find(": packet 20 (offset "), std::string::npos) << body.input_error;

  const ReplayCapture header = read_replay(derived / "cut_record_header.pcap", ip("10.1.16.61"));
  EXPECT_EQ(header.packets, 1u);
  expect_error_line(header.input_error, derived / "cut_record_header.pcap");
}

TEST(BadInput, CutBeforeAnyFlowIsTheErrorItself) {
  test::TemporaryFile file("cut.pcap");
  std::vector<uint8_t> bytes = test::read_bytes(test::sample_capture());
  bytes.resize(30);
  test::write_bytes(file.name(), bytes);
  const std::string line = replay_error(file.name());
  expect_error_line(line, file.name());
  EXPECT_NE(line.find("packet 1"), std::string::npos) << line;
}

TEST(BadInput, WrongEndpointNamesTheRightOnes) {
  const std::string file = test::sample_capture();
  const std::string line = replay_error(file, "10.77.0.2");
  EXPECT_EQ(line, file +
                      ": no RoCEv2 RC request towards 10.77.0.2 in 85 packets (rocev2 85), 80 requests from us are "
                      "left out: a replay answers and never asks, 5 packets towards us answer "
                      "queue pairs that received no request; allowed: one of 10.77.0.1");
}

TEST(BadInput, EmptyCaptureGivesOneLine) {
  test::TemporaryFile file("empty.pcap");
  { PcapWriter writer(file.name()); }
  EXPECT_EQ(replay_error(file.name()), file.name() +
                                           ": no RoCEv2 RC request towards 10.1.16.61 in 0 packets; allowed: a capture "
                                           "of RoCEv2 RC over IPv4 with right ICRCs");
}

TEST(BadInput, AddressesAreDottedIpv4) {
  for (const char* text : {"", "10.1.1", "10.1.1.256", "fd77::1", "10.1.1.1 ", "host"})
    EXPECT_FALSE(parse_ipv4(text)) << text;
  EXPECT_EQ(to_string(ip("10.77.0.1")), "10.77.0.1");
}

}  // namespace
}  // namespace traces
