#include "traces/census.hpp"

#include <fstream>
#include <sstream>

#include "frames.hpp"
#include "support.hpp"
#include "traces/repair.hpp"

namespace traces {
namespace {

Census census_of(const std::string& file) {
  Census census;
  for (const Packet& packet : test::read_all(file).packets) census.add(packet, decode(packet));
  return census;
}

uint64_t of(const Census& census, FrameKind kind) {
  return census.by_kind[static_cast<size_t>(kind)];
}

TEST(Census, CountsTunnelsTrailersAndCuts) {
  Census census;
  for (Packet& packet : test::read_all(test::sample("encapsulated.pcap")).packets) census.add(packet, decode(packet));
  std::vector<uint8_t> frame = test::build_frame(test::write_only(1, 100));
  Packet cut = test::as_packet(frame, 1);
  cut.bytes.resize(90);
  RocePacket roce = decode(cut);
  census.add(cut, roce);
  ASSERT_EQ(repair(cut, roce), Repair::kRepaired);
  census.add(cut, roce);
  for (size_t trailer : {4, 4, 20}) {
    std::vector<uint8_t> longer = frame;
    longer.resize(frame.size() + trailer);
    census.add(test::as_packet(longer, 1), decode_frame(longer));
  }
  test::FrameSpec spec = test::write_only(2, 8);
  spec.source = "fd77::2";
  spec.destination = "fd77::1";
  const std::vector<uint8_t> over_ipv6 = test::build_frame(spec);
  census.add(test::as_packet(over_ipv6, 1), decode_frame(over_ipv6));
  EXPECT_EQ(census.packets, 21u);
  EXPECT_EQ(census.lines(), (std::vector<std::string>{
                                "rocev2 21",
                                "of rocev2, over ipv6 1",
                                "of rocev2, in vxlan 3",
                                "of rocev2, in geneve 2",
                                "of rocev2, in gre 3",
                                "of rocev2, in erspan 1 1",
                                "of rocev2, in erspan 2 2",
                                "of rocev2, in erspan 3 2",
                                "of rocev2, with 4 bytes behind the IP packet 2",
                                "of rocev2, with 20 bytes behind the IP packet 1",
                                "cut by the snap length 2",
                                "of these, repaired 1",
                            }));
}

TEST(Census, OfCapturesOfSomethingElse) {
  SKIP_WITHOUT_SHARED();
  struct Case {
    const char* file;
    FrameKind kind;
    uint64_t packets;
  };
  const Case cases[] = {
      {"tcpdump__802.1ad_QinQ.pcap", FrameKind::kArp, 2},
      {"tcpdump__LINKTYPE_IPV4.pcap", FrameKind::kUdp, 1},
      {"tcpdump__OSPFv2_Capture_FINAL.pcapng", FrameKind::kIpv4, 30},
      {"tcpdump__bigtcp-ipv4.pcap", FrameKind::kTcp, 1},
      {"tcpdump__dns_udp.pcap", FrameKind::kUdp, 2},
      {"tcpdump__empty.pcapng", FrameKind::kOther, 0},
      {"tcpdump__erspan-type-i-1.pcap", FrameKind::kIcmp, 2},
      {"tcpdump__esp_truncated.pcap", FrameKind::kFragment, 1},
      {"tcpdump__hdlc_slarp.pcapng", FrameKind::kLinkType, 7},
      {"tcpdump__heap-overflow-1.pcap", FrameKind::kShort, 1},
  };
  EXPECT_EQ(test::captures_in("not_roce").size(), std::size(cases));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    const std::string file = test::shared_folder() / "captures/not_roce" / c.file;
    const Census census = census_of(file);
    EXPECT_EQ(census.packets, c.packets);
    EXPECT_EQ(of(census, c.kind), c.packets);
    EXPECT_EQ(test::read_all(file).error, "");
  }
}

// Ordinary records under the modified magic, which other readers misread or refuse.
TEST(Census, OfTheModifiedMagic) {
  SKIP_WITHOUT_SHARED();
  const Census census = census_of(test::shared_folder() / "captures/derived/modified_magic.pcap");
  EXPECT_EQ(census.lines(), std::vector<std::string>{"rocev2 20"});
}

std::vector<std::string> columns(const std::string& row) {
  std::vector<std::string> list;
  std::istringstream stream(row);
  for (std::string column; std::getline(stream, column, '\t');) list.push_back(column);
  list.resize(std::max<size_t>(list.size(), 27));
  return list;
}

// Counts of every capture there is, made by other code: packets, RoCE, its ICRCs, frames that were cut, VLANs, IPv6.
TEST(Census, IsWhatTheIndexStates) {
  SKIP_WITHOUT_SHARED();
  const auto captures = test::shared_folder() / "captures";
  std::ifstream index(captures / "INDEX.tsv");
  std::string row;
  std::getline(index, row);
  size_t files = 0;
  while (std::getline(index, row)) {
    const std::vector<std::string> column = columns(row);
    const auto number = [&](size_t i) { return column[i].empty() ? 0 : std::stoull(column[i]); };
    const std::string file = captures / column[0];
    if (!std::filesystem::exists(file) || column[0] == "derived/modified_magic.pcap") continue;  // the index refuses it
    SCOPED_TRACE(column[0]);
    ++files;
    uint64_t roce = 0, ok = 0, bad = 0, icrc_cut = 0, cut = 0, tagged = 0, ipv6 = 0, packets = 0;
    for (const Packet& packet : test::read_all(file).packets) {
      ++packets;
      cut += packet.bytes.size() < packet.original_length;
      const RocePacket decoded = decode(packet);
      if (decoded.kind != FrameKind::kRoceV2 || decoded.tunnels > 0) continue;  // tunnels are not in the index
      ++roce;
      ok += decoded.icrc == IcrcState::kOk;
      bad += decoded.icrc == IcrcState::kBad;
      icrc_cut += decoded.icrc == IcrcState::kCut;
      tagged += !decoded.vlan_tags.empty();
      ipv6 += decoded.source.version == 6;
    }
    EXPECT_EQ(packets, number(3));
    EXPECT_EQ(roce, number(4));
    EXPECT_EQ(ok, number(5));
    EXPECT_EQ(bad, number(6));
    EXPECT_EQ(icrc_cut, number(7));
    EXPECT_EQ(cut, number(8));
    EXPECT_EQ(tagged, number(20));
    EXPECT_EQ(ipv6, number(21));
  }
  EXPECT_GE(files, 100u);
}

}  // namespace
}  // namespace traces
