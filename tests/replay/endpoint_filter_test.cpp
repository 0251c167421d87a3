// Whose packets --as chooses.
#include "sim/replay/endpoint_filter.hpp"

#include <gtest/gtest.h>

#include "sim/config/error.hpp"
#include "traces/ip_address.hpp"

namespace sim {
namespace {

using Side = EndpointFilter::Side;

traces::RocePacket packet(const std::string& source, const std::string& destination, uint8_t source_mac = 2,
                          uint8_t destination_mac = 1) {
  traces::RocePacket p;
  p.source = traces::parse_ip(source).value();
  p.destination = traces::parse_ip(destination).value();
  p.source_mac = {2, 0, 0, 0, 0, source_mac};
  p.destination_mac = {2, 0, 0, 0, 0, destination_mac};
  return p;
}

Side side(const std::string& filter, const std::string& source, const std::string& destination) {
  return EndpointFilter(filter).side_of(packet(source, destination));
}

TEST(EndpointFilter, AnAddressIsMetExactly) {
  EXPECT_EQ(side("10.0.0.1", "10.0.0.2", "10.0.0.1"), Side::kTowards);
  EXPECT_EQ(side("10.0.0.1", "10.0.0.1", "10.0.0.2"), Side::kFrom);
  EXPECT_EQ(side("10.0.0.1", "10.0.0.1", "10.0.0.1"), Side::kBoth);
  EXPECT_EQ(side("10.0.0.1", "10.0.0.3", "10.0.0.2"), Side::kNeither);
  EXPECT_EQ(side("fd77::1", "fd77::2", "fd77::1"), Side::kTowards);
  EXPECT_EQ(side("fd77::1", "fd77::1", "fd77::2"), Side::kFrom);
  EXPECT_EQ(side("fd77::1", "fd77::3", "fd77::1:1"), Side::kNeither);
}

TEST(EndpointFilter, APrefixIsMetInItsBits) {
  EXPECT_EQ(side("10.0.0.0/24", "10.0.1.1", "10.0.0.255"), Side::kTowards);
  EXPECT_EQ(side("10.0.0.0/24", "10.0.0.1", "10.0.0.2"), Side::kBoth);
  EXPECT_EQ(side("10.0.0.77/24", "10.0.1.1", "10.0.0.1"), Side::kTowards);  // bits behind the prefix are not looked at
  EXPECT_EQ(side("10.0.0.0/30", "10.0.0.4", "10.0.0.3"), Side::kTowards);   // within a byte
  EXPECT_EQ(side("10.128.0.0/9", "10.127.0.1", "10.255.0.1"), Side::kTowards);
  EXPECT_EQ(side("10.0.0.1/32", "10.0.0.0", "10.0.0.1"), Side::kTowards);
  EXPECT_EQ(side("fd77::/64", "fd78::1", "fd77::ffff:1"), Side::kTowards);
  EXPECT_EQ(side("fd77::/127", "fd77::2", "fd77::1"), Side::kTowards);
}

TEST(EndpointFilter, APrefixOfNoBitsIsEveryAddressOfItsVersion) {
  EXPECT_EQ(side("0.0.0.0/0", "1.2.3.4", "255.0.0.1"), Side::kBoth);
  EXPECT_EQ(side("0.0.0.0/0", "fd77::1", "fd77::2"), Side::kNeither);
  EXPECT_EQ(side("::/0", "10.0.0.1", "10.0.0.2"), Side::kNeither);
}

TEST(EndpointFilter, AMacIsMetWhateverTheAddresses) {
  const EndpointFilter filter("02:00:00:00:00:0A");
  EXPECT_EQ(filter.side_of(packet("10.0.0.2", "10.0.0.1", 2, 10)), Side::kTowards);
  EXPECT_EQ(filter.side_of(packet("fd77::1", "fd77::2", 10, 1)), Side::kFrom);
  EXPECT_EQ(filter.side_of(packet("10.0.0.2", "10.0.0.1", 10, 10)), Side::kBoth);
  EXPECT_EQ(filter.side_of(packet("10.0.0.2", "10.0.0.1", 2, 1)), Side::kNeither);
}

// Behind a router the MACs of a pair may change; what it was first stays.
TEST(EndpointFilter, APairOfAddressesKeepsItsFirstAnswer) {
  EndpointFilter filter("02:00:00:00:00:01");
  EXPECT_EQ(filter.side_of(3, packet("10.0.0.2", "10.0.0.1", 2, 1)), Side::kTowards);
  EXPECT_EQ(filter.side_of(3, packet("10.0.0.2", "10.0.0.1", 2, 9)), Side::kTowards);
  EXPECT_EQ(filter.side_of(0, packet("10.0.0.1", "10.0.0.2", 1, 2)), Side::kFrom);
  EXPECT_EQ(filter.side_of(4, packet("10.0.0.1", "10.0.0.2", 7, 8)), Side::kNeither);
}

TEST(EndpointFilter, AnyOtherTextIsRefusedInOneLine) {
  const char* const bad[] = {"",
                             "host",
                             "10.0.0",
                             "10.0.0.1.2",
                             "10.0.0.256",
                             "10.0.0.1/",
                             "10.0.0.1/33",
                             "10.0.0.1/-1",
                             "10.0.0.1/8x",
                             "10.0.0.1/8/8",
                             "fd77::1/129",
                             "fd77::g",
                             "/24",
                             "10.0.0.1/ 8",
                             "10.0.0.1 ",
                             "02:00:00:00:00",
                             "02:00:00:00:00:01:02",
                             "02:00:00:00:00:0g",
                             "10.0.0.1/99999999999999999999"};
  for (const char* text : bad) {
    try {
      const EndpointFilter filter(text);
      ADD_FAILURE() << '"' << text << "\" is taken";
    } catch (const InputError& error) {
      const std::string line = error.what();
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      EXPECT_NE(line.find("--as: \"" + std::string(text) + "\""), std::string::npos) << line;
      EXPECT_NE(line.find("allowed is"), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace sim
