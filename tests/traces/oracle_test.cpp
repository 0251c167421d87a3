// Decoding against the Python oracle, which shares no code with this project: its text, line for line.

#include <random>
#include <regex>
#include <utility>

#include "frames.hpp"
#include "support.hpp"
#include "traces/pcap_writer.hpp"
#include "traces/roce_line.hpp"

namespace traces {
namespace {

std::string oracles() {
  return (test::shared_folder() / "oracles").string();
}

// Without byte code, which would be written beside the oracle.
constexpr char kPython[] = "python3 -B ";

// The oracle writes IPv6 addresses as 32 digits.
std::string with_short_addresses(const std::string& line) {
  static const std::regex address("([0-9a-f]{32})");
  std::string result;
  auto rest = line.cbegin();
  for (std::sregex_iterator match(line.begin(), line.end(), address), end; match != end; ++match) {
    IpAddress ip;
    ip.version = 6;
    for (size_t i = 0; i < 16; ++i)
      ip.bytes[i] = static_cast<uint8_t>(std::stoul(match->str().substr(2 * i, 2), nullptr, 16));
    result.append(rest, line.cbegin() + match->position()) += to_string(ip);
    rest = line.cbegin() + match->position() + match->length();
  }
  return result.append(rest, line.cend());
}

// The oracle's lines, without the comment that a cut file ends with and without RoCEv1.
std::vector<std::string> oracle_lines(const std::string& file) {
  const std::regex not_ours("#.*|.* ROCEV1 .*");
  std::vector<std::string> lines;
  for (const std::string& line :
       test::lines_of(std::string(kPython) + oracles() + "/roce_lines.py " + file + " 2>/dev/null")) {
    if (!std::regex_match(line, not_ours)) lines.push_back(with_short_addresses(line));
  }
  return lines;
}

// Without what is inside of tunnels, which the oracle does not peel.
std::vector<std::string> our_lines(const std::string& file) {
  LineFormatter formatter;
  std::vector<std::string> lines;
  for (const Packet& packet : test::read_all(file).packets) {
    const RocePacket roce = decode(packet);
    if (roce.tunnels > 0) continue;
    if (const auto line = formatter.line(packet, roce)) lines.push_back(*line);
  }
  return lines;
}

class OracleText : public testing::TestWithParam<const char*> {};

TEST_P(OracleText, IsEqualForEveryCapture) {
  SKIP_WITHOUT_SHARED();
  size_t compared = 0;
  for (const auto& file : test::captures_in(GetParam())) {
    SCOPED_TRACE(file);
    if (file.filename() == "modified_magic.pcap") continue;  // which the oracle refuses
    const std::vector<std::string> expected = oracle_lines(file);
    EXPECT_EQ(our_lines(file), expected);
    compared += expected.size();
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Folders, OracleText, testing::Values("rxe", "third_party", "vectors", "derived"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Oracle, FindsNoRoceWhereThereIsNone) {
  SKIP_WITHOUT_SHARED();
  for (const auto& file : test::captures_in("not_roce")) {
    SCOPED_TRACE(file);
    EXPECT_TRUE(our_lines(file).empty());
    EXPECT_TRUE(oracle_lines(file).empty());
  }
}

TEST(Oracle, AgreesOnEveryOpcode) {
  SKIP_WITHOUT_SHARED();
  const std::vector<std::string> lines = test::lines_of("cd " + oracles() + " && " + kPython +
                                                        "-c 'from roce_wire import *\n"
                                                        "for op in range(256): print(opname(op), ext_len(op))'");
  ASSERT_EQ(lines.size(), 256u);
  for (size_t opcode = 0; opcode < 256; ++opcode) {
    const auto op = static_cast<uint8_t>(opcode);
    EXPECT_EQ(opcode_name(op) + " " + std::to_string(extended_headers_size(op)), lines[opcode]);
  }
}

// Puts hop-by-hop options of `size` bytes behind the IPv6 header of an untagged frame.
void add_hop_by_hop(std::vector<uint8_t>& frame, size_t size) {
  constexpr size_t kIp = 14;
  std::vector<uint8_t> options(size, 0);
  options[0] = std::exchange(frame[kIp + 6], uint8_t{0});
  options[1] = static_cast<uint8_t>(size / 8 - 1);
  frame.insert(frame.begin() + kIp + 40, options.begin(), options.end());
  frame[kIp + 5] = static_cast<uint8_t>(frame[kIp + 5] + size);
}

// Random headers behind the UDP header, for each opcode, in frames of many lengths and cuts, over both IP versions.
TEST(Oracle, AgreesOnRandomHeaders) {
  SKIP_WITHOUT_SHARED();
  std::mt19937 random(2);
  test::TemporaryFile file("random.pcap");
  {
    PcapWriter writer(file.name());
    for (uint64_t i = 0; i < 2048; ++i) {
      test::FrameSpec spec;
      spec.payload = random() % 80;
      if (i % 7 < 2) {
        spec.source = "fd77::2";
        spec.destination = "fd77::1";
      }
      std::vector<uint8_t> frame = test::build_frame(spec);
      if (i % 7 == 0) add_hop_by_hop(frame, 8 + random() % 8 * 8);
      const size_t bth = decode_frame(frame).bth_offset;
      for (size_t offset = bth + 1; offset < frame.size(); ++offset) frame[offset] = static_cast<uint8_t>(random());
      frame[bth] = static_cast<uint8_t>(i);
      if (i % 3 != 0) test::fix_icrc(frame);
      if (i % 5 == 0) frame.resize(bth + random() % (frame.size() - bth));
      writer.write(i * 1'234'567, frame);
    }
  }
  const std::vector<std::string> expected = oracle_lines(file.name());
  EXPECT_EQ(expected.size(), 2048u);
  EXPECT_EQ(our_lines(file.name()), expected);
}

}  // namespace
}  // namespace traces
