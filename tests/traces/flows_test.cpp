#include "traces/flows.hpp"

#include <set>

#include "support.hpp"

namespace traces {
namespace {

using test::ip;

std::string shared_capture(const std::string& name) {
  return test::shared_folder() / "captures" / name;
}

size_t count_syndrome(const ReplayFlow& flow, uint8_t syndrome) {
  size_t count = 0;
  for (const CapturedResponse& response : flow.responses) count += response.aeth && response.aeth->syndrome == syndrome;
  return count;
}

TEST(Flows, OfTheSample) {
  const ReplayCapture capture = read_replay(test::sample_capture(), ip("10.77.0.1"));
  EXPECT_EQ(capture.packets, 85u);
  EXPECT_EQ(capture.input_error, "");
  EXPECT_TRUE(capture.notes.empty());
  ASSERT_EQ(capture.flows.size(), 1u);
  const ReplayFlow& flow = capture.flows[0];
  EXPECT_EQ(to_string(flow.peer), "10.77.0.2");
  EXPECT_EQ(flow.our_qpn, 0x1cu);
  EXPECT_EQ(flow.peer_qpn, 0x1cu);
  EXPECT_EQ(flow.ambiguous, "");
  EXPECT_EQ(flow.first_psn, 8831559u);
  EXPECT_EQ(flow.path_mtu, 4096u);
  EXPECT_EQ(flow.starting_msn, 0u);
  EXPECT_EQ(flow.unsupported_opcodes, 0u);
  EXPECT_EQ(flow.cut_packets, 0u);
  ASSERT_EQ(flow.regions.size(), 1u);
  EXPECT_EQ(flow.regions[0].remote_key, 0xd71u);
  EXPECT_EQ(flow.regions[0].first_address, 0x5555c6864000u);
  EXPECT_EQ(flow.regions[0].end_address, 0x5555c6864000u + 65536);
  EXPECT_EQ(flow.packets.size(), 80u);
  ASSERT_EQ(flow.responses.size(), 5u);
  EXPECT_EQ(flow.responses[0].index, 18u);
  EXPECT_EQ(flow.responses[0].time_ns, 1795985759096425000);
  EXPECT_EQ(flow.responses[0].opcode, kOpcodeRcAck);
  EXPECT_EQ(flow.responses[0].psn, 8831574u);
  EXPECT_EQ(flow.responses[0].aeth->syndrome, 0x1f);
  EXPECT_EQ(flow.responses[4].aeth->msn, 5u);
  EXPECT_EQ(flow.assumptions,
            (std::vector<std::string>{
                "first expected PSN 8831559: first captured request (packet 1)",
                "path MTU 4096: packet 1, RC_WRITE_First, carries 4096 bytes",
                "peer QPN 0x1c: the PSNs of our responses to it fit only here",
                "rkey 0xd71 covers [0x5555c6864000, 0x5555c6874000): what its requests touch",
                "starting MSN 0: the first ACK (packet 18) has MSN 1, and up to its PSN 1 messages were completed",
            }));
}

TEST(Flows, OfPerftestAmongTcp) {
  SKIP_WITHOUT_SHARED();
  const ReplayCapture capture =
      read_replay(shared_capture("third_party/linlinw5__rdma_write_bw.pcap"), ip("10.1.16.61"));
  EXPECT_EQ(capture.packets_by_kind[static_cast<size_t>(FrameKind::kTcp)], 40u);
  ASSERT_EQ(capture.flows.size(), 1u);
  const ReplayFlow& flow = capture.flows[0];
  EXPECT_EQ(flow.our_qpn, 0x1bu);
  EXPECT_EQ(flow.peer_qpn, 0x1du);
  EXPECT_EQ(flow.path_mtu, 1024u);
  EXPECT_EQ(flow.packets.size(), 15u);
  EXPECT_EQ(flow.responses.size(), 5u);
  EXPECT_EQ(flow.regions.at(0).end_address - flow.regions.at(0).first_address, 3000u);
}

TEST(Flows, OfLossyWrites) {
  SKIP_WITHOUT_SHARED();
  const ReplayCapture capture = read_replay(shared_capture("rxe/loss_write.s.pcap"), ip("10.77.0.1"));
  EXPECT_EQ(capture.packets_by_kind[static_cast<size_t>(FrameKind::kIcmp)], 4u);
  ASSERT_EQ(capture.flows.size(), 1u);
  const ReplayFlow& flow = capture.flows[0];
  EXPECT_EQ(flow.packets.size(), 568u);
  EXPECT_EQ(flow.responses.size(), 60u);
  EXPECT_EQ(count_syndrome(flow, 0x1f), 44u);
  EXPECT_EQ(count_syndrome(flow, 0x60), 16u);
  EXPECT_EQ(flow.starting_msn, 0u);
  EXPECT_EQ(flow.first_psn, 2097152u);
}

// Node 0 writes to node 1 and is written to by node 2; both its connections use the same QPN at the other end.
TEST(Flows, OfNccl) {
  SKIP_WITHOUT_SHARED();
  const ReplayCapture capture = read_replay(shared_capture("third_party/linlinw5__nccl_node0.pcap"), ip("172.30.0.25"));
  ASSERT_EQ(capture.flows.size(), 2u);
  const ReplayFlow& control = capture.flows[0];
  EXPECT_EQ(to_string(control.peer), "172.30.0.11");
  EXPECT_EQ(control.our_qpn, 0x1cu);
  EXPECT_EQ(control.peer_qpn, 0x1du);
  EXPECT_EQ(control.responses.size(), 16u);
  EXPECT_EQ(control.path_mtu, 1024u);
  const ReplayFlow& data = capture.flows[1];
  EXPECT_EQ(to_string(data.peer), "172.30.0.12");
  EXPECT_EQ(data.our_qpn, 0x1du);
  EXPECT_EQ(data.peer_qpn, 0x1fu);
  EXPECT_EQ(data.responses.size(), 16u);
  EXPECT_EQ(data.unsupported_opcodes, 0u);
  for (const ReplayFlow& flow : capture.flows) EXPECT_EQ(flow.starting_msn, 0u);
}

TEST(Flows, OfPingPongInBothDirections) {
  SKIP_WITHOUT_SHARED();
  const std::string file = shared_capture("third_party/linlinw5__pingpong_rc.pcap");
  for (const auto& [ours, our_qpn, peer_qpn] : {std::tuple{"10.1.16.61", 0x20u, 0x21u}, {"10.1.16.62", 0x21u, 0x20u}}) {
    const ReplayCapture capture = read_replay(file, ip(ours));
    ASSERT_EQ(capture.flows.size(), 1u);
    const ReplayFlow& flow = capture.flows[0];
    EXPECT_EQ(flow.our_qpn, our_qpn);
    EXPECT_EQ(flow.peer_qpn, peer_qpn);
    EXPECT_EQ(flow.unsupported_opcodes, 5u);
    EXPECT_EQ(flow.packets.size(), 10u);
    EXPECT_EQ(flow.responses.size(), 5u);
    EXPECT_TRUE(flow.regions.empty());
  }
}

TEST(Flows, OfCutPackets) {
  SKIP_WITHOUT_SHARED();
  const ReplayCapture capture = read_replay(shared_capture("derived/snap_96.pcap"), ip("10.1.16.61"));
  EXPECT_EQ(capture.flows.at(0).cut_packets, 15u);
  EXPECT_EQ(capture.flows.at(0).path_mtu, 1024u);
}

// Both ends of these connections use the same QPN and every capture starts with the connection: each flow must find its
// own QPN as its peer's and MSN 0. Where nothing is noted as left out, every RoCEv2 packet is in a flow.
TEST(Flows, OfEverySoftRoceCapture) {
  SKIP_WITHOUT_SHARED();
  const std::set<std::string> no_flow = {"pt_ud_send.c", "pt_ud_send.s", "uc_all.c",
                                         "uc_all.s",     "v6_mixed.c",   "v6_mixed.s"};
  for (const auto& file : test::captures_in("rxe")) {
    SCOPED_TRACE(file);
    if (no_flow.count(file.stem())) continue;
    const bool vlan = file.stem().string().rfind("vlan", 0) == 0;
    const ReplayCapture capture = read_replay(file, ip(vlan ? "10.77.100.1" : "10.77.0.1"));
    EXPECT_FALSE(capture.flows.empty());
    uint64_t in_flows = 0;
    for (const ReplayFlow& flow : capture.flows) {
      in_flows += flow.packets.size() + flow.responses.size();
      EXPECT_EQ(flow.ambiguous, "");
      EXPECT_EQ(flow.starting_msn, 0u);
      const bool unanswered = file.stem().string().rfind("rc_dead_peer", 0) == 0;
      EXPECT_EQ(flow.peer_qpn, unanswered ? std::nullopt : std::optional<uint32_t>(flow.our_qpn));
    }
    if (capture.notes.empty()) {
      EXPECT_EQ(in_flows, capture.packets_by_kind[static_cast<size_t>(FrameKind::kRoceV2)]);
    }
  }
}

}  // namespace
}  // namespace traces
