// One ACK in every link layer and tunnel, wrapped by scapy (traces/samples/make_encapsulated.py).

#include "frames.hpp"
#include "support.hpp"
#include "traces/repair.hpp"
#include "traces/roce_line.hpp"

namespace traces {
namespace {

constexpr MacAddress kOuterDestination = {0x02, 0xaa, 0, 0, 0, 1};
constexpr MacAddress kOuterSource = {0x02, 0xaa, 0, 0, 0, 2};
constexpr MacAddress kNoMac = {};

// The ACK as it stands in the sample capture.
struct Ack {
  Packet packet = test::read_all(test::sample_capture()).packets.at(17);
  RocePacket roce = decode(packet);
};

void expect_inner(const RocePacket& roce, const Ack& ack) {
  ASSERT_EQ(roce.kind, FrameKind::kRoceV2);
  EXPECT_EQ(roce.source, ack.roce.source);
  EXPECT_EQ(roce.destination, ack.roce.destination);
  EXPECT_EQ(roce.time_to_live, ack.roce.time_to_live);
  EXPECT_EQ(roce.source_port, ack.roce.source_port);
  EXPECT_EQ(roce.bth.psn, ack.roce.bth.psn);
  EXPECT_EQ(roce.aeth->msn, ack.roce.aeth->msn);
  EXPECT_TRUE(roce.icrc_ok());
  EXPECT_FALSE(roce.length_mismatch);
  EXPECT_EQ(roce.trailer_bytes, 0u);
}

TEST(Encapsulation, PeelsEveryTunnel) {
  struct Row {
    uint8_t tunnels;
    Tunnel tunnel;
    uint32_t identifier;
    bool inner_ethernet;
    size_t tags;
  };
  // The rows of tunnels() in the script.
  const Row rows[] = {
      {0, Tunnel::kNone, 0, true, 0},          {0, Tunnel::kNone, 0, true, 3},
      {1, Tunnel::kVxlan, 0x123456, true, 0},  {1, Tunnel::kVxlan, 0x123456, true, 1},
      {1, Tunnel::kGeneve, 0x234567, true, 0}, {1, Tunnel::kGeneve, 0x234567, false, 0},
      {1, Tunnel::kGre, 0, false, 0},          {1, Tunnel::kGre, 77, true, 0},
      {1, Tunnel::kGre, 78, false, 0},         {1, Tunnel::kErspan1, 0, true, 0},
      {1, Tunnel::kErspan2, 100, true, 0},     {1, Tunnel::kErspan3, 101, true, 0},
      {1, Tunnel::kErspan3, 102, true, 0},     {1, Tunnel::kVxlan, 10, true, 1},
      {2, Tunnel::kErspan2, 103, true, 0},
  };
  const Ack ack;
  const test::Contents contents = test::read_all(test::sample("encapsulated.pcap"));
  ASSERT_EQ(contents.packets.size(), std::size(rows));
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    const Row& row = rows[i];
    const RocePacket roce = decode(contents.packets[i]);
    expect_inner(roce, ack);
    EXPECT_EQ(roce.tunnels, row.tunnels);
    EXPECT_EQ(roce.tap.tunnel, row.tunnel) << name_of(roce.tap.tunnel);
    EXPECT_EQ(roce.tap.tunnel_id, row.identifier);
    EXPECT_EQ(roce.tap.destination_mac, kOuterDestination);
    EXPECT_EQ(roce.tap.source_mac, kOuterSource);
    EXPECT_EQ(roce.tap.time_to_live, row.tunnels > 0 ? 9 : ack.roce.time_to_live);
    EXPECT_EQ(roce.has_ethernet, row.inner_ethernet);
    EXPECT_EQ(roce.vlan_tags.size(), row.tags);
    const MacAddress inner = row.tunnels > 0 ? ack.roce.destination_mac : kOuterDestination;
    EXPECT_EQ(roce.destination_mac, row.inner_ethernet ? inner : kNoMac);
  }
  const RocePacket stacked = decode(contents.packets[1]);
  EXPECT_EQ(stacked.tap.vlan, 7);
  EXPECT_EQ(stacked.vlan_tags[2].control, 9);
  const RocePacket tagged_twice = decode(contents.packets[13]);  // around the tunnel, and inside
  EXPECT_EQ(tagged_twice.tap.vlan, 5);
  EXPECT_EQ(tagged_twice.vlan_tags[0].control, 7);
}

TEST(Encapsulation, DecodesEveryLinkLayer) {
  struct Row {
    const char* name;
    int link_type;
    MacAddress source;
  };
  const Row rows[] = {
      {"raw", kLinkRaw, kNoMac},   {"ipv4", kLinkIpv4, kNoMac},           {"null", kLinkNull, kNoMac},
      {"loop", kLinkLoop, kNoMac}, {"cooked", kLinkCooked, kOuterSource}, {"cooked2", kLinkCooked2, kOuterSource},
  };
  const Ack ack;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const test::Contents contents = test::read_all(test::sample("link_" + std::string(row.name) + ".pcap"));
    ASSERT_EQ(contents.packets.size(), 1u);
    const Packet& packet = contents.packets[0];
    EXPECT_EQ(packet.link_type, row.link_type);
    const RocePacket roce = decode(packet);
    expect_inner(roce, ack);
    EXPECT_FALSE(roce.has_ethernet);
    EXPECT_EQ(roce.source_mac, row.source);
    EXPECT_EQ(roce.tap.source_mac, row.source);
  }
}

// Down to the ICRC, which is at the end of the innermost packet.
TEST(Encapsulation, IsWhatTsharkSees) {
  if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tshark";
  for (const char* name :
       {"encapsulated", "link_raw", "link_ipv4", "link_null", "link_loop", "link_cooked", "link_cooked2"}) {
    SCOPED_TRACE(name);
    const std::string file = test::sample(std::string(name) + ".pcap");
    std::vector<std::string> ours;
    for (const Packet& packet : test::read_all(file).packets) {
      const RocePacket roce = decode(packet);
      char row[32];
      std::snprintf(row, sizeof row, "%u\t0x%08x", roce.bth.psn, __builtin_bswap32(roce.icrc_on_wire));
      ours.emplace_back(row);
    }
    EXPECT_EQ(test::lines_of("tshark -r " + file +
                             " -T fields -e infiniband.bth.psn -e infiniband.invariant.crc 2>/dev/null"),
              ours);
  }
}

// Whatever is around it, the packet alone can be handed to a NIC.
TEST(Encapsulation, GivesTheFrameAlone) {
  const Ack ack;
  const auto expect_frame = [&](const Packet& packet) {
    SCOPED_TRACE(packet.index);
    const RocePacket roce = decode(packet);
    const std::vector<uint8_t> frame = ethernet_frame(packet, roce);
    const RocePacket alone = decode_frame(frame);
    expect_inner(alone, ack);
    EXPECT_EQ(alone.tunnels, 0);
    EXPECT_EQ(alone.vlan_tags.size(), roce.vlan_tags.size());
    if (roce.has_ethernet) {
      EXPECT_EQ(alone.destination_mac, roce.destination_mac);
    } else {
      EXPECT_EQ(alone.destination_mac, (MacAddress{0x02, 0, 10, 77, 0, 2}));
      EXPECT_EQ(alone.source_mac, (MacAddress{0x02, 0, 10, 77, 0, 1}));
    }
  };
  for (const Packet& packet : test::read_all(test::sample("encapsulated.pcap")).packets) expect_frame(packet);
  for (const char* name : {"link_raw.pcap", "link_null.pcap", "link_cooked.pcap", "link_cooked2.pcap"})
    expect_frame(test::read_all(test::sample(name)).packets.at(0));
}

TEST(Encapsulation, PeelsAtMostFourTunnels) {
  const std::vector<uint8_t> vxlan = test::read_all(test::sample("encapsulated.pcap")).packets.at(2).bytes;
  const size_t outer = vxlan.size() - decode_frame(vxlan).icrc_offset - 4 + decode_frame(vxlan).ethernet_offset;
  std::vector<uint8_t> frame(vxlan.begin() + static_cast<std::ptrdiff_t>(outer), vxlan.end());
  for (int depth = 1; depth <= 6; ++depth) {
    frame.insert(frame.begin(), vxlan.begin(), vxlan.begin() + static_cast<std::ptrdiff_t>(outer));
    const RocePacket roce = decode_frame(frame);
    EXPECT_EQ(roce.kind, depth <= 4 ? FrameKind::kRoceV2 : FrameKind::kTunnel);
    EXPECT_EQ(roce.tunnels, std::min(depth, 4));
  }
}

TEST(Encapsulation, TellsTunnelsThatItCannotPeel) {
  const std::vector<Packet> packets = test::read_all(test::sample("encapsulated.pcap")).packets;
  constexpr size_t kGre = 14 + 20, kUdpPayload = 14 + 20 + 8;
  struct Case {
    size_t packet;
    size_t offset;
    uint8_t value;
    FrameKind kind;
  };
  const Case cases[] = {
      {6, kGre, 0x40, FrameKind::kTunnel},             // source routing
      {6, kGre + 1, 0x01, FrameKind::kTunnel},         // version 1: PPTP
      {6, kGre + 2, 0x88, FrameKind::kTunnel},         // an unknown protocol
      {10, kGre + 8, 0x20, FrameKind::kTunnel},        // ERSPAN II whose version is III's
      {11, kGre + 8, 0x10, FrameKind::kTunnel},        // and the other way
      {2, kUdpPayload, 0x00, FrameKind::kUdp},         // VXLAN without an identifier
      {4, kUdpPayload, 0x40, FrameKind::kUdp},         // GENEVE version 1
      {4, kUdpPayload + 2, 0x12, FrameKind::kTunnel},  // GENEVE of an unknown protocol
      {4, kUdpPayload, 0x3f, FrameKind::kShort},       // options longer than the frame
  };
  for (const Case& c : cases) {
    std::vector<uint8_t> frame = packets[c.packet].bytes;
    frame[c.offset] = c.value;
    EXPECT_EQ(decode_frame(frame).kind, c.kind)
        << "packet " << c.packet << " byte " << c.offset << ": " << name_of(decode_frame(frame).kind);
  }
}

TEST(Encapsulation, DecodesWhatACutFrameHolds) {
  for (const Packet& packet : test::read_all(test::sample("encapsulated.pcap")).packets) {
    const RocePacket whole = decode(packet);
    for (size_t size = 0; size <= packet.bytes.size(); ++size) {
      const RocePacket cut = decode_frame(ByteSpan(packet.bytes).slice(0, size));
      EXPECT_EQ(cut.kind, size < whole.bth_offset ? FrameKind::kShort : FrameKind::kRoceV2);
      EXPECT_EQ(cut.has_bth, size >= whole.bth_offset + 12);
      EXPECT_EQ(cut.icrc_ok(), size == packet.bytes.size());
    }
  }
}

}  // namespace
}  // namespace traces
