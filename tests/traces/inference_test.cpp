#include "traces/inference.hpp"

#include "frames.hpp"
#include "support.hpp"

namespace traces {
namespace {

using test::ack;
using test::FrameSpec;
using test::write_only;

// Builds the capture of `specs` in order and returns its flows as seen by 10.0.0.1.
ReplayCapture capture_of(const std::vector<FrameSpec>& specs) {
  FlowBuilder builder(test::ip("10.0.0.1"));
  uint64_t index = 0;
  for (const FrameSpec& spec : specs) builder.add(test::as_packet(test::build_frame(spec), ++index));
  return builder.finish();
}

ReplayFlow flow_of(const std::vector<FrameSpec>& specs) {
  return capture_of(specs).flows.at(0);
}

FrameSpec part(uint8_t opcode, uint32_t psn, size_t payload) {
  FrameSpec spec;
  spec.opcode = opcode;
  spec.psn = psn;
  spec.payload = payload;
  if (opcode == 0x06) spec.reth = Reth{0x1000, 0x77, 4000};
  return spec;
}

bool assumes(const ReplayFlow& flow, const std::string& words) {
  for (const std::string& assumption : flow.assumptions) {
    if (assumption.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(PathMtu, IsThePayloadOfTheFirstFirstOrMiddle) {
  for (uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    EXPECT_EQ(flow_of({write_only(4, 8), part(0x06, 5, mtu), part(0x08, 6, 16)}).path_mtu, mtu);
    EXPECT_EQ(flow_of({part(0x07, 5, mtu), part(0x08, 6, 16)}).path_mtu, mtu);
  }
}

TEST(PathMtu, OfOnlyPacketsHoldsTheLargestOne) {
  EXPECT_EQ(flow_of({write_only(0, 0)}).path_mtu, 1024u);
  EXPECT_EQ(flow_of({write_only(0, 64), write_only(1, 1024)}).path_mtu, 1024u);
  EXPECT_EQ(flow_of({write_only(0, 64), write_only(1, 1025)}).path_mtu, 2048u);
  EXPECT_EQ(flow_of({write_only(0, 4096)}).path_mtu, 4096u);
  EXPECT_EQ(flow_of({write_only(0, 5000)}).path_mtu, 4096u);
}

TEST(FirstPsn, IsThatOfTheFirstRequest) {
  const ReplayFlow flow = flow_of({write_only(0xffffff, 4), write_only(0, 4), write_only(0xfffffe, 4)});
  EXPECT_EQ(flow.first_psn, 0xffffffu);
  EXPECT_TRUE(assumes(flow, "packet 3 of PSN 16777214, older than the first"));
  EXPECT_FALSE(assumes(flow, "inside a message"));
  EXPECT_TRUE(
      assumes(flow_of({part(0x07, 5, 1024)}), "the capture starts inside a message: packet 1 is RC_WRITE_Middle"));
}

TEST(StartingMsn, IsTheFirstAckMinusWhatItCompletes) {
  EXPECT_EQ(flow_of({write_only(7, 4)}).starting_msn, 0u);
  EXPECT_EQ(flow_of({write_only(7, 4), ack(0x22, 7, 1)}).starting_msn, 0u);
  EXPECT_EQ(flow_of({write_only(7, 4), write_only(8, 4), ack(0x22, 8, 102), ack(0x22, 8, 103)}).starting_msn, 100u);
  // A retransmission counts once, a message that the ACK does not reach not at all.
  EXPECT_EQ(flow_of({write_only(7, 4), write_only(7, 4), write_only(8, 4), ack(0x22, 7, 101)}).starting_msn, 100u);
  // An older duplicate is no new message; one captured only as a later retransmission is acknowledged all the same.
  EXPECT_EQ(flow_of({write_only(9, 4), write_only(8, 4), ack(0x22, 9, 101)}).starting_msn, 100u);
  EXPECT_EQ(flow_of({write_only(7, 4), write_only(9, 4), ack(0x22, 9, 102), write_only(8, 4)}).starting_msn, 99u);
  EXPECT_EQ(flow_of({part(0x06, 7, 1024), part(0x07, 8, 1024), ack(0x22, 8, 100)}).starting_msn, 100u);
}

TEST(StartingMsn, CountsModulo24Bits) {
  const ReplayFlow flow = flow_of({write_only(0xffffff, 4), write_only(0, 4), write_only(1, 4), ack(0x22, 1, 2)});
  EXPECT_EQ(flow.starting_msn, 0xffffffu);
}

TEST(StartingMsn, TakesNoNakAndNoAckFromBefore) {
  EXPECT_EQ(flow_of({write_only(9, 4), ack(0x22, 8, 50, 0x60), ack(0x22, 7, 50), ack(0x22, 9, 52)}).starting_msn, 51u);
}

TEST(Regions, SpanWhatEachRkeyTouches) {
  const ReplayFlow flow = flow_of({write_only(0, 100, 0x5000, 2), write_only(1, 50, 0x4000, 2),
                                   write_only(2, 8, 0x9000, 1), write_only(3, 0, 0, 2), write_only(4, 0, 0, 3)});
  ASSERT_EQ(flow.regions.size(), 2u);
  EXPECT_EQ(flow.regions[0].remote_key, 1u);
  EXPECT_EQ(flow.regions[0].first_address, 0x9000u);
  EXPECT_EQ(flow.regions[0].end_address, 0x9008u);
  EXPECT_EQ(flow.regions[1].remote_key, 2u);
  EXPECT_EQ(flow.regions[1].first_address, 0x4000u);
  EXPECT_EQ(flow.regions[1].end_address, 0x5064u);
}

TEST(Regions, AreNotMadeOfRefusedOrImpossibleRequests) {
  const ReplayFlow flow =
      flow_of({write_only(0, 8), write_only(1, 8, 0x1000, 0xbad), ack(0x22, 0, 1), ack(0x22, 1, 1, 0x62),
               write_only(2, 8, ~uint64_t{0} - 8, 0x78), write_only(3, 8, ~uint64_t{0} - 7, 0x79)});
  ASSERT_EQ(flow.regions.size(), 2u);
  EXPECT_EQ(flow.regions[0].remote_key, 0x77u);
  EXPECT_EQ(flow.regions[1].remote_key, 0x78u);
  EXPECT_TRUE(assumes(flow, "rkey 0xbad of packet 2"));
  EXPECT_TRUE(assumes(flow, "rkey 0x79 of packet 6"));
}

TEST(Flow, IsFoundedByGoodPacketsOnly) {
  FlowBuilder builder(test::ip("10.0.0.1"));
  std::vector<uint8_t> bad = test::build_frame(write_only(7, 4));
  bad[14 + 20 + 8 + 7] = 0x99;  // DestQP
  builder.add(test::as_packet(bad, 1));
  bad = test::build_frame(write_only(500, 4));
  bad.back() ^= 1;
  builder.add(test::as_packet(bad, 2));
  builder.add(test::as_packet(test::build_frame(write_only(7, 4)), 3));
  bad = test::build_frame(ack(0x22, 7, 1));
  bad.back() ^= 1;
  builder.add(test::as_packet(bad, 4));
  const ReplayCapture capture = builder.finish();
  ASSERT_EQ(capture.flows.size(), 1u);
  EXPECT_TRUE(capture.flows[0].responses.empty());
  EXPECT_EQ(capture.flows[0].our_qpn, 0x11u);
  EXPECT_EQ(capture.flows[0].first_psn, 7u);
  ASSERT_EQ(capture.flows[0].packets.size(), 2u);
  EXPECT_FALSE(capture.flows[0].packets[0].is_trusted());
  EXPECT_EQ(capture.notes,
            (std::vector<std::string>{"1 packets towards us with a wrong or missing ICRC belong to no flow",
                                      "1 packets from us with a wrong or missing ICRC are left out"}));
}

TEST(Regions, AreNotMadeOfBytesBehindTheDatagram) {
  FrameSpec without_reth = part(0x06, 7, 0);
  without_reth.reth.reset();
  std::vector<uint8_t> frame = test::build_frame(without_reth);
  frame.resize(frame.size() + 20, 0x5a);
  FlowBuilder builder(test::ip("10.0.0.1"));
  builder.add(test::as_packet(frame, 1));
  const ReplayCapture capture = builder.finish();
  EXPECT_EQ(capture.flows.at(0).first_psn, 7u);
  EXPECT_TRUE(capture.flows.at(0).regions.empty());
  EXPECT_TRUE(assumes(capture.flows.at(0), "registers nothing"));
}

TEST(Flow, CountsWhatReplayDoesNotServe) {
  FrameSpec send = part(0x04, 9, 16);
  FrameSpec read = part(0x0c, 10, 0);
  read.reth = Reth{0x1000, 0x77, 3000};
  FrameSpec with_immediate = write_only(13, 4);
  with_immediate.opcode = 0x0b;
  with_immediate.immediate = 1;
  FrameSpec answer = ack(0x11, 70, 3);
  std::swap(answer.source, answer.destination);
  const ReplayFlow flow = flow_of({write_only(8, 4), send, read, with_immediate, answer});
  EXPECT_EQ(flow.unsupported_opcodes, 2u);
  EXPECT_EQ(flow.packets.size(), 5u);
  EXPECT_FALSE(flow.packets[4].is_request());
}

TEST(Flow, KeepsAddressesApart) {
  FrameSpec other = write_only(7, 4);
  other.source = "10.0.0.3";
  FrameSpec answer = ack(0x22, 7, 1);
  answer.destination = "10.0.0.3";
  const ReplayCapture capture = capture_of({write_only(7, 4), other, answer, ack(0x33, 7, 1)});
  ASSERT_EQ(capture.flows.size(), 2u);
  EXPECT_EQ(capture.flows[0].peer_qpn, 0x33u);
  EXPECT_EQ(capture.flows[1].peer_qpn, 0x22u);
}

TEST(Flow, SaysWhenPairingIsAmbiguous) {
  FrameSpec other = write_only(7, 4);
  other.dest_qp = 0x12;
  const ReplayCapture capture = capture_of({write_only(7, 4), other, ack(0x22, 7, 1), ack(0x23, 7, 1)});
  ASSERT_EQ(capture.flows.size(), 2u);
  for (const ReplayFlow& flow : capture.flows) {
    EXPECT_FALSE(flow.peer_qpn);
    EXPECT_TRUE(flow.responses.empty());
    EXPECT_NE(flow.ambiguous.find("0x22, 0x23"), std::string::npos) << flow.ambiguous;
  }
  EXPECT_EQ(capture.notes, (std::vector<std::string>{"2 responses from us to 10.0.0.2 are paired with no flow"}));
}

TEST(PsnCount, OfAReadIsItsResponses) {
  FrameSpec read = part(0x0c, 10, 0);
  const auto count = [&](uint32_t bytes) {
    read.reth = Reth{0x1000, 0x77, bytes};
    return psn_count(decode_frame(test::build_frame(read)), 1024);
  };
  EXPECT_EQ(count(0), 1u);
  EXPECT_EQ(count(1024), 1u);
  EXPECT_EQ(count(1025), 2u);
  EXPECT_EQ(count(0xffffffff), 0x400000u);
  EXPECT_EQ(psn_count(decode_frame(test::build_frame(write_only(0, 2048))), 1024), 1u);
}

}  // namespace
}  // namespace traces
