#include <gtest/gtest.h>

#include <fstream>

#include "support.hpp"
#include "traces/mr_table.hpp"
#include "traces/qp_table.hpp"

namespace traces::test {
namespace {

/// A file with a text, for as long as it lives.
class TextFile {
 public:
  explicit TextFile(const std::string& text) : file_("table") { std::ofstream(file_.name()) << text; }
  std::string name() const { return file_.name(); }

 private:
  TemporaryFile file_;
};

TEST(MrTable, PermitsWhatLiesInsideAndHasTheRight) {
  const TextFile file(
      "address,rkey,va,length,rights\n# of the server\n10.0.0.1,0x77,0x1000,4096,RW\nfd77::1,9,0,0x10,A\r\n");
  const MrTable table = MrTable::read(file.name());
  const IpAddress host = ip("10.0.0.1");
  EXPECT_TRUE(table.permits(host, {0, 0x77, 0x1000, 4096, kRemoteWrite}));
  EXPECT_TRUE(table.permits(host, {0, 0x77, 0x1fff, 1, kRemoteRead}));
  EXPECT_FALSE(table.permits(host, {0, 0x77, 0x1000, 4097, kRemoteWrite}));
  EXPECT_FALSE(table.permits(host, {0, 0x77, 0xfff, 2, kRemoteWrite}));
  EXPECT_FALSE(table.permits(host, {0, 0x77, 0xfffffffffffffff0, 0x20, kRemoteWrite}));
  EXPECT_FALSE(table.permits(host, {0, 0x77, 0x1000, 8, kRemoteAtomic}));
  EXPECT_FALSE(table.permits(host, {0, 0x78, 0x1000, 8, kRemoteWrite}));
  EXPECT_TRUE(table.permits(parse_ip("fd77::1").value(), {0, 9, 0, 8, kRemoteAtomic}));
  EXPECT_FALSE(table.has_host(ip("10.0.0.2")));
  ASSERT_EQ(table.regions_of(host).size(), 1u);
  EXPECT_EQ(table.regions_of(host)[0].end_address, 0x2000u);
}

TEST(MrTable, EveryFaultHasItsLine) {
  const std::string header = "address,rkey,va,length,rights\n";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "empty"},
      {"addr,key\n", "line 1"},
      {header + "10.0.0.1,1,2,3\n", "line 2: 4 columns"},
      {header + "10.0.0.1,1,0,8,R\n10.0.0,1,0,8,R\n", "line 3: address \"10.0.0\""},
      {header + "10.0.0.1,0x100000000,0,8,R\n", "rkey"},
      {header + "10.0.0.1,-1,0,8,R\n", "rkey \"-1\""},
      {header + "10.0.0.1,1,x,8,R\n", "va \"x\""},
      {header + "10.0.0.1,1,0xffffffffffffffff,8,R\n", "length"},
      {header + "10.0.0.1,1,0,0,R\n", "length \"0\""},
      {header + "10.0.0.1,1,0,8,X\n", "rights \"X\""},
  };
  for (const auto& [text, part] : faults) {
    const TextFile file(text);
    const std::string line = input_error_of([&] { MrTable::read(file.name()); });
    expect_error_line(line, file.name());
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }
  expect_error_line(input_error_of([] { MrTable::read("/none"); }), "/none");
}

TEST(QpTable, EveryFaultHasItsLine) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"{}", "JSON array"},
      {"[1]", "entry 1"},
      {R"([{"type":"RC","rqpn":5}])", "lqpn is missing"},
      {R"([{"type":"RC","lqpn":16777216,"rqpn":5}])", "lqpn is 16777216"},
      {R"([{"type":"RC","lqpn":4,"rqpn":"5"}])", "rqpn"},
      {R"([{"type":"RC","lqpn":4,"rqpn":5},{"type":"RC","lqpn":4,"rqpn":6}])", "entry 2: lqpn 4"},
  };
  for (const auto& [text, part] : faults) {
    const TextFile file(text);
    QpTable table;
    const std::string line = input_error_of([&] { table.read(ip("10.0.0.1"), file.name()); });
    EXPECT_EQ(line.rfind(file.name() + ": ", 0), 0u) << line;
    EXPECT_NE(line.find("; allowed: "), std::string::npos) << line;
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace traces::test
