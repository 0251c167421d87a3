// What a capture asks of the NIC, call by call, and what is said of its answers.
#include "sim/replay/director.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "sim/config/error.hpp"
#include "tests/replay/capture.hpp"
#include "tests/replay/scripted_nic.hpp"

namespace sim {
namespace {

using namespace replay_test;
using traces::test::kNakAccess;
using traces::test::kNakSequence;
using traces::test::kRnrNak;

FrameSpec write(const Ends& ends, uint32_t psn, uint32_t length = 1024, uint64_t address = 0x1000,
                uint32_t remote_key = 0x77) {
  FrameSpec spec = ends.request(length > 1024 ? kWriteFirst : kWriteOnly, psn, std::min(length, 1024u));
  spec.reth = traces::Reth{address, remote_key, length};
  return spec;
}

class DirectorTest : public ::testing::Test {
 protected:
  FrameSpec write(uint32_t psn, uint32_t length = 1024, uint64_t address = 0x1000, uint32_t remote_key = 0x77) const {
    return sim::write(ends, psn, length, address, remote_key);
  }
  FrameSpec send(uint32_t psn) const { return ends.request(kSendOnly, psn, 100); }

  // The NIC in the place of the responder, 10.0.0.1; with another address, of its peer or more.
  void replay(const std::string& as = "10.0.0.1") {
    nic.calls.clear();
    nic.packets.clear();
    director.reset();
    reader = std::make_unique<LookAhead>(capture.options(), EndpointFilter(as));
    director = std::make_unique<Director>(*reader, nic, options);
    while (director->step()) {
    }
    director->finish();
  }
  ReplayConnection& connection(size_t index = 0) { return *director->connections().at(index); }

  Capture capture;
  Ends ends;  // QP 0x11 of 10.0.0.2 asks QP 0x12 of 10.0.0.1
  DirectorOptions options;
  ScriptedNic nic;
  std::unique_ptr<LookAhead> reader;
  std::unique_ptr<Director> director;
};

// -------------------------------------------------------------------------------------------------- as responder

TEST_F(DirectorTest, TheResponderBeginsAtTheFirstMessageThatBegins) {
  capture.add({ends.request(kWriteMiddle, 10), ends.request(kWriteLast, 11), write(12), ends.answer(12, 3)});
  replay();
  EXPECT_EQ(nic.told({"responder", "packet"}), "responder 18: psn 12 msn 2 mtu 1024; packet 18: 12");
  EXPECT_EQ(connection().tally.not_given, 2u);
  EXPECT_EQ(connection().tally.requests_in, 1u);
  EXPECT_EQ(connection().tally.answers_out, 1u);
  EXPECT_EQ(connection().tally.restarts, 0u);
}

TEST_F(DirectorTest, AConnectionIsBoundBeforeAnythingElse) {
  capture.add({write(10), ends.answer(10, 1)});
  replay();
  EXPECT_EQ(nic.calls.at(0), "bind 18");
  const Binding& b = nic.bindings.at(18);
  EXPECT_EQ(b.qpn, 0x12u);
  EXPECT_EQ(b.peer_qpn, 0x11u);
  EXPECT_EQ(b.address, traces::test::ip("10.0.0.1"));
  EXPECT_EQ(b.peer_address, traces::test::ip("10.0.0.2"));
  EXPECT_EQ(b.mac, (traces::MacAddress{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(b.peer_mac, (traces::MacAddress{2, 0, 0, 0, 0, 2}));
  EXPECT_EQ(b.partition_key, 0xffff);
}

TEST_F(DirectorTest, AGapThatWasLostOnTheWireIsFedAsItIs) {
  capture.add({write(10), write(12), write(13), ends.answer(11, 1, kNakSequence), write(11), write(12), write(13),
               write(14), ends.answer(14, 5)});
  replay();
  EXPECT_EQ(nic.told({"responder"}), "responder 18: psn 10 msn 0 mtu 1024");
  EXPECT_EQ(nic.told({"packet"}),
            "packet 18: 10; packet 18: 12; packet 18: 13; packet 18: 11; packet 18: 12; packet 18: 13; packet 18: 14");
  EXPECT_EQ(connection().tally.not_given, 0u);
}

TEST_F(DirectorTest, BehindAGapOfTheTapTheResponderBeginsAnew) {
  capture.add({write(10), ends.answer(10, 7), write(14), write(15), ends.answer(15, 12), write(16)});
  replay();
  EXPECT_EQ(nic.told({"responder", "packet"}),
            "responder 18: psn 10 msn 6 mtu 1024; packet 18: 10; responder 18: psn 14 msn 10 mtu 1024; "
            "packet 18: 14; packet 18: 15; packet 18: 16");
  EXPECT_EQ(connection().tally.restarts, 1u);
}

TEST_F(DirectorTest, BehindAGapOfTheTapTheRestOfAMessageIsNotGiven) {
  capture.add({write(10, 3072), ends.request(kWriteLast, 12), ends.answer(12, 1), write(13), ends.answer(13, 2)});
  replay();
  EXPECT_EQ(nic.told({"responder", "packet"}), "responder 18: psn 13 msn 1 mtu 1024; packet 18: 13")
      << "no answer tells the MSN before";
  EXPECT_EQ(connection().tally.not_given, 2u);
}

// The end of a capture does not tell what a gap was.
TEST_F(DirectorTest, AGapOfUnknownFateCountsAsTheTaps) {
  capture.add({write(10), ends.answer(10, 1), write(12)});
  replay();
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 10");
  EXPECT_EQ(connection().tally.not_given, 1u);
}

TEST_F(DirectorTest, WhatWasLostBehindTheTapIsNotGiven) {
  capture.add(
      {write(9), write(10), write(11), ends.answer(10, 1, kNakSequence), write(10), write(11), ends.answer(11, 3)});
  replay();
  EXPECT_EQ(nic.told({"responder"}), "responder 18: psn 9 msn 0 mtu 1024");
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 9; packet 18: 11; packet 18: 10; packet 18: 11");
}

// More requests may be under way when the NAK comes; they are for the NIC to refuse.
TEST_F(DirectorTest, WhatFollowsARefusedRequestIsFedAsItIs) {
  capture.add({write(10), write(11, 100, 0x9000, 0x99), write(12), write(13), ends.answer(11, 1, kNakAccess)});
  replay();
  EXPECT_EQ(nic.told({"responder"}), "responder 18: psn 10 msn 0 mtu 1024");
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 10; packet 18: 11; packet 18: 12; packet 18: 13");
}

TEST_F(DirectorTest, TheNicIsAtRestBeforeItSeesARetransmissionAndAtTheEnd) {
  capture.add({write(10), write(11), write(10)});
  replay();
  EXPECT_EQ(nic.told({"packet", "settle"}), "packet 18: 10; packet 18: 11; settle; packet 18: 10; settle");
}

TEST_F(DirectorTest, AReceiveIsReadyForEveryMessageThatTakesOne) {
  FrameSpec immediate = ends.request(0x0b, 14, 100);  // RDMA WRITE Only with Immediate
  immediate.reth = traces::Reth{0x1000, 0x77, 100};
  immediate.immediate = 1;
  capture.add({send(10), ends.request(kSendFirst, 11), ends.request(kSendMiddle, 12), ends.request(kSendLast, 13, 10),
               immediate, write(15)});
  replay();
  EXPECT_EQ(nic.told({"take"}), "take 18; take 18; take 18");
}

TEST_F(DirectorTest, ARefusedSendFindsNoReceive) {
  capture.add({send(10), ends.answer(10, 0, kRnrNak), send(10), ends.answer(10, 1)});
  replay();
  EXPECT_EQ(nic.told({"take", "packet"}), "packet 18: 10; take 18; packet 18: 10");
}

TEST_F(DirectorTest, ASendThatComesTwiceTakesOneReceive) {
  capture.add({send(9), send(10), send(10), send(9), send(10), send(11)});
  replay();
  EXPECT_EQ(nic.told({"take"}), "take 18; take 18; take 18");
}

TEST_F(DirectorTest, ASendAheadOfALostOneTakesNoReceiveYet) {
  capture.add({send(9), send(11), ends.answer(10, 1, kNakSequence), send(10), send(11)});
  replay();
  EXPECT_EQ(nic.told({"take", "packet"}),
            "take 18; packet 18: 9; packet 18: 11; take 18; packet 18: 10; take 18; packet 18: 11");
}

TEST_F(DirectorTest, MemoryIsWhatTheConnectionTouches) {
  FrameSpec read = ends.read(12, 100);
  read.reth->remote_key = 0x178;
  capture.add({write(10), write(11, 100, 0x5000), read, ends.answer(12, 3, 0x1f, kReadOnly, 100)});
  replay();
  EXPECT_EQ(nic.told({"region", "packet"}),
            "region 0x77: 0x1000-0x5064 W; packet 18: 10; packet 18: 11; region 0x178: 0x2000-0x2064 R; packet 18: 12");
}

TEST_F(DirectorTest, ARefusedAccessOpensNoMemory) {
  capture.add({write(10, 100, 0x1000, 0x77), write(11, 100, 0x9000, 0x99), ends.answer(11, 1, kNakAccess)});
  replay();
  EXPECT_EQ(nic.told({"region"}), "region 0x77: 0x1000-0x1064 W");
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 10; packet 18: 11");
}

TEST_F(DirectorTest, AnAccessOfNoBytesOpensNoMemory) {
  capture.add({write(10, 0), ends.answer(10, 1)});
  replay();
  EXPECT_EQ(nic.told({"region"}), "");
}

TEST_F(DirectorTest, ATableOfRegionsSaysWhatIsOpen) {
  const traces::test::TemporaryFile file("regions.csv");
  const std::string text =
      "address,rkey,va,length,rights\n10.0.0.1,0x77,0x1000,0x100,RW\n10.0.0.1,0x155,0x0,0x10,R\n10.0.0.2,0x266,0,1,R\n";
  traces::test::write_bytes(file.name(), {text.begin(), text.end()});
  const traces::MrTable table = traces::MrTable::read(file.name());
  options.mr_table = &table;
  capture.add({write(10), write(11, 100, 0x9000, 0x99)});
  replay();
  EXPECT_EQ(nic.told({"region 0x77"}), "region 0x77: 0x1000-0x1100 RW");
  EXPECT_EQ(nic.told({"region 0x155"}), "region 0x155: 0x0-0x10 R");
  EXPECT_EQ(nic.told({"region 0x266", "region 0x99"}), "");
}

TEST_F(DirectorTest, OtherFramesAreHandedOver) {
  const FrameSpec notification = ends.request(traces::kOpcodeCnp, 0, 16);
  capture.add({write(10), notification});
  replay();
  EXPECT_EQ(nic.told({"packet", "frame"}),
            "packet 18: 10; frame of " + std::to_string(build_frame(notification).size()));
}

// --------------------------------------------------------------------------------------- rows, keys, partitions

TEST_F(DirectorTest, QueuePairsOfOneRowHaveRowsOfTheirOwn) {
  const Ends other{"10.0.0.3", "10.0.0.1", 0x31, ends.responder_qpn + uint32_t(hw::kMaxQps)};
  capture.add({write(10), sim::write(other, 50), ends.answer(10, 1), other.answer(50, 1)});
  replay();
  EXPECT_EQ(nic.told({"bind", "packet"}), "bind 18; packet 18: 10; bind 19; packet 19: 50 made");
  EXPECT_EQ(nic.bindings.at(18).qpn, 0x12u);
  EXPECT_EQ(nic.bindings.at(19).qpn, 19u);
  EXPECT_EQ(nic.bindings.at(19).peer_qpn, 0x31u);
  EXPECT_EQ(connection(0).tally.translated, 0u);
  EXPECT_EQ(connection(1).tally.translated, 1u);
}

TEST_F(DirectorTest, ALargeQpnStaysWhereItsRowIsFree) {
  ends.responder_qpn = 0x12 + uint32_t(hw::kMaxQps);
  capture.add({write(10), ends.answer(10, 1)});
  replay();
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 10");
  EXPECT_EQ(nic.bindings.at(18).qpn, ends.responder_qpn);
}

TEST_F(DirectorTest, EqualKeysOfTwoHostsAreTwoRegions) {
  const Ends one{"10.1.0.2", "10.0.0.1", 0x11, 0x12}, two{"10.1.0.3", "10.0.0.3", 0x21, 0x22};
  capture.add({sim::write(one, 10), sim::write(two, 20, 1024, 0x8000), one.answer(10, 1), two.answer(20, 1)});
  replay("10.0.0.0/24");
  EXPECT_EQ(nic.told({"region", "packet"}),
            "region 0x77: 0x1000-0x1400 W; packet 18: 10; region 0x177: 0x8000-0x8400 W; packet 34: 20 made");
  EXPECT_EQ(nic.packets.at(0).remote_key, 0x77u);
  EXPECT_EQ(nic.packets.at(1).remote_key, 0x177u);
}

TEST_F(DirectorTest, AnotherPartitionThanTheNicsIsMadeItsOwn) {
  capture.add({write(10), ends.answer(10, 1)});
  options.partition_key = 0x8001;
  replay();
  EXPECT_EQ(nic.told({"packet"}), "packet 18: 10 made");
}

TEST_F(DirectorTest, MoreQueuePairsThanRowsAreAnError) {
  // One lane after the other, without answers: each is a queue pair of the endpoint.
  for (uint32_t qpn = 0; qpn <= uint32_t(hw::kMaxQps); qpn++) {
    Ends one = ends;
    one.responder_qpn = qpn + 2;
    capture.add(one.request(kSendOnly, 1, 0), 1000);
  }
  try {
    replay();
    FAIL() << "one more than there are rows";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(hw::kMaxQps) + " queue pairs"), std::string::npos);
  }
}

// -------------------------------------------------------------------------------------------------- as requester

TEST_F(DirectorTest, OwnRequestsArePostedAsWholeMessages) {
  FrameSpec last = ends.request(kWriteLastImmediate, 12, 100), alone = ends.request(kSendOnlyImmediate, 13, 50);
  last.immediate = alone.immediate = 0xab;
  capture.add({write(10, 2148), ends.request(kWriteMiddle, 11), last, alone, ends.read(14, 3000), write(17),
               ends.answer(13, 2)});
  replay("10.0.0.2");
  EXPECT_EQ(nic.told({"requester"}), "requester 17: psn 10 mtu 1024");
  EXPECT_EQ(nic.told({"stage", "post"}),
            "stage 17: 0+1024; stage 17: 1024+1024; stage 17: 2048+100; "
            "post 17: WRITE 2148 at 0x1000 key 0x77 immediate 0xab; "
            "stage 17: 0+50; post 17: SEND 50 immediate 0xab; post 17: READ 3000 at 0x2000 key 0x78; "
            "stage 17: 0+1024; post 17: WRITE 1024 at 0x1000 key 0x77");
  EXPECT_EQ(connection().tally.posted, 4u);
  EXPECT_EQ(connection().tally.requests_out, 6u);
  EXPECT_EQ(connection().tally.answers_in, 1u);
  EXPECT_EQ(connection().tally.restarts, 0u);
}

TEST_F(DirectorTest, MessagesArePostedInTheOrderOfTheirPsns) {
  capture.add({write(10, 1), write(12, 3), write(13, 4), write(11, 2), ends.answer(13, 4)});
  replay("10.0.0.2");
  EXPECT_EQ(nic.told({"requester"}), "requester 17: psn 10 mtu 1024");
  EXPECT_EQ(nic.told({"post"}),
            "post 17: WRITE 1 at 0x1000 key 0x77; post 17: WRITE 2 at 0x1000 key 0x77; "
            "post 17: WRITE 3 at 0x1000 key 0x77; post 17: WRITE 4 at 0x1000 key 0x77");
}

TEST_F(DirectorTest, WhatIsSentAgainIsPostedOnce) {
  capture.add({write(10), write(11), ends.answer(10, 0, kNakSequence), write(10), write(11), ends.answer(11, 2)});
  replay("10.0.0.2");
  EXPECT_EQ(connection().tally.posted, 2u);
  EXPECT_EQ(connection().tally.requests_out, 4u);
}

TEST_F(DirectorTest, BehindAGapTheRequesterBeginsAnew) {
  capture.add({write(10), ends.answer(10, 1), write(13), ends.answer(13, 4)});
  replay("10.0.0.2");
  EXPECT_EQ(nic.told({"requester"}), "requester 17: psn 10 mtu 1024; requester 18: psn 13 mtu 1024");
  EXPECT_EQ(connection().tally.restarts, 1u);
}

TEST_F(DirectorTest, AMessageWithoutItsEndIsNotPosted) {
  capture.add({write(10), ends.answer(10, 1), write(11, 3072), ends.request(kWriteMiddle, 12)});
  replay("10.0.0.2");
  EXPECT_EQ(connection().tally.posted, 1u);
  EXPECT_EQ(nic.told({"stage"}), "stage 17: 0+1024");
  EXPECT_EQ(connection().verdicts.requests[Verdict::kMissing], 1u);  // the NIC cannot send what is not posted
  EXPECT_EQ(connection().verdicts.requests[Verdict::kNotComparable], 2u);
}

TEST_F(DirectorTest, AnswersToWhatIsNotPostedAreNotGiven) {
  const uint32_t base = 0xfffff0;
  capture.add({ends.request(kWriteMiddle, base), ends.request(kWriteLast, base + 1), ends.answer(base + 1, 1)});
  for (uint32_t i = 2; i < 6; i++) capture.add({send(base + i), ends.answer(base + i, i)});
  capture.add(ends.answer(0, 12));  // of what the tap has missed
  replay("10.0.0.2");
  EXPECT_EQ(nic.told({"post", "packet"}),
            "post 17: SEND 100; packet 17: 16777202; post 17: SEND 100; packet 17: 16777203; "
            "post 17: SEND 100; packet 17: 16777204; post 17: SEND 100; packet 17: 16777205");
  EXPECT_EQ(connection().tally.answers_in, 4u);
  EXPECT_EQ(connection().tally.not_given, 2u);
}

// ------------------------------------------------------------------------------------------------------ verdicts

TransportPacket acknowledgement(uint32_t psn, uint32_t msn) {
  TransportPacket t;
  t.opcode = kAck;
  t.psn = psn;
  t.syndrome = 0x1f;
  t.msn = msn;
  return t;
}

class DirectorVerdictTest : public DirectorTest {
 protected:
  DirectorVerdictTest() {
    for (uint32_t psn = 10; psn < 13; psn++) {
      FrameSpec request = write(psn);
      request.ack_request = true;
      capture.add({request, ends.answer(psn, psn - 5)});
    }
  }
};

TEST_F(DirectorVerdictTest, EqualAnswersMatch) {
  nic.on_receive = [&](uint32_t c, const TransportPacket& t) { nic.send(c, acknowledgement(t.psn, t.psn - 5)); };
  replay();
  EXPECT_EQ(connection().verdicts.answers[Verdict::kMatch], 3u);
  EXPECT_TRUE(connection().verdicts.good());
}

TEST_F(DirectorVerdictTest, AnotherMsnIsDifferent) {
  nic.on_receive = [&](uint32_t c, const TransportPacket& t) {
    nic.send(c, acknowledgement(t.psn, t.psn - 5 + (t.psn == 11)));
  };
  replay();
  EXPECT_EQ(connection().verdicts.answers[Verdict::kDifferent], 1u);
  EXPECT_FALSE(connection().verdicts.good());
}

TEST_F(DirectorVerdictTest, AnswersThatDoNotComeAreMissing) {
  replay();
  EXPECT_EQ(connection().verdicts.answers[Verdict::kMissing], 3u);
  EXPECT_FALSE(connection().verdicts.good());
}

TEST_F(DirectorVerdictTest, BehindAGapOfTheTapAnswersAreComparedAgain) {
  FrameSpec request = write(20);
  request.ack_request = true;
  capture.add({request, ends.answer(19, 14), ends.answer(20, 15)});
  nic.on_receive = [&](uint32_t c, const TransportPacket& t) { nic.send(c, acknowledgement(t.psn, t.psn - 5)); };
  replay();
  EXPECT_EQ(connection().tally.restarts, 1u);
  EXPECT_EQ(connection().verdicts.answers[Verdict::kMatch], 4u);
  EXPECT_EQ(connection().verdicts.answers[Verdict::kNotComparable], 1u);
  EXPECT_TRUE(connection().verdicts.good());
}

class DirectorRequestTest : public DirectorVerdictTest {
 protected:
  // The NIC sends each work request as one WRITE Only, from PSN 10 on, its address moved and its payload changed.
  void replay_own(uint64_t moved, uint8_t changed) {
    uint32_t psn = 10;
    nic.on_post = [&](uint32_t c, const WorkRequest& w) {
      const std::vector<uint8_t> frame = build_frame(write(psn));
      std::vector<uint8_t> payload(frame.begin() + 70, frame.begin() + 70 + 1024);
      payload[1000] ^= changed;
      TransportPacket t;
      t.opcode = kWriteOnly;
      t.psn = psn++;
      t.virtual_address = w.remote_address + moved;
      t.remote_key = w.remote_key;
      t.ack_request = true;
      t.dma_length = t.payload_bytes = w.length;
      t.payload = payload;
      nic.send(c, t);
    };
    replay("10.0.0.2");
  }
};

TEST_F(DirectorRequestTest, EqualRequestsMatch) {
  replay_own(0, 0);
  EXPECT_EQ(connection().verdicts.requests[Verdict::kMatch], 3u);
  EXPECT_TRUE(connection().verdicts.good());
}

TEST_F(DirectorRequestTest, AnotherAddressIsDifferent) {
  replay_own(4, 0);
  EXPECT_EQ(connection().verdicts.requests[Verdict::kDifferent], 3u);
}

TEST_F(DirectorRequestTest, AnotherPayloadIsDifferent) {
  replay_own(0, 1);
  EXPECT_EQ(connection().verdicts.requests[Verdict::kDifferent], 3u);
  EXPECT_FALSE(connection().verdicts.good());
}

// ----------------------------------------------------------------------------------------------------- READ data

class DirectorDataTest : public DirectorTest {
 protected:
  // Payloads of build_frame() follow from their PSNs, modulo 256: what 10 writes is what 266 reads.
  void capture_read(uint32_t psn) {
    capture.add(write(10, 100, 0x2000, 0x78));
    for (uint32_t other = 11; other < psn; other++) capture.add(write(other, 4, 0x8000));
    capture.add({ends.read(psn, 100), ends.answer(psn, psn - 9, 0x1f, kReadOnly, 100)});
  }
};

TEST_F(DirectorDataTest, ReadDataIsWhatWasWritten) {
  capture_read(266);
  replay();
  EXPECT_EQ(connection().verdicts.bytes.verified_bytes, 100u);
  EXPECT_EQ(connection().verdicts.bytes.different_bytes, 0u);
  EXPECT_EQ(nic.told({"seed"}), "");
}

TEST_F(DirectorDataTest, OtherReadDataIsDifferent) {
  capture_read(265);
  replay();
  EXPECT_EQ(connection().verdicts.bytes.different_bytes, 100u);
  EXPECT_FALSE(connection().verdicts.good());
}

TEST_F(DirectorDataTest, TheNicsReadDataIsComparedToo) {
  capture_read(266);
  for (const bool is_right : {true, false}) {
    nic.on_receive = [&](uint32_t c, const TransportPacket& t) {
      if (t.opcode != kRead) return;
      const std::vector<uint8_t> frame = build_frame(ends.answer(266, 1, 0x1f, kReadOnly, 100));
      std::vector<uint8_t> payload(frame.begin() + 58, frame.begin() + 158);
      payload[99] ^= uint8_t(!is_right);
      TransportPacket answer = acknowledgement(266, 257);
      answer.opcode = kReadOnly;
      answer.payload_bytes = 100;
      answer.payload = payload;
      nic.send(c, answer);
    };
    replay();
    EXPECT_EQ(connection().verdicts.bytes.different_bytes, is_right ? 0u : 100u);
  }
}

TEST_F(DirectorDataTest, UnwrittenMemoryIsSeeded) {
  capture.add({ends.read(10, 100), ends.answer(10, 1, 0x1f, kReadOnly, 100)});
  replay();
  EXPECT_EQ(nic.told({"seed"}), "seed 0x2000+100");
  EXPECT_EQ(connection().verdicts.bytes.seeded_bytes, 100u);
}

TEST_F(DirectorDataTest, WithoutDataInTheNicNoneIsCompared) {
  nic.data = false;
  capture_read(265);
  replay();
  EXPECT_EQ(nic.told({"seed"}), "");
  EXPECT_EQ(connection().verdicts.bytes.different_bytes, 0u);
}

// --------------------------------------------------------------------------------------------------- any capture

// A short exchange of both directions with retries, gaps, READs and SENDs.
std::vector<std::vector<uint8_t>> varied_exchange() {
  const Ends a, b = a.reversed();
  const FrameSpec specs[] = {sim::write(a, 10, 2148),
                             a.request(kWriteMiddle, 11),
                             a.request(kWriteLast, 12, 100),
                             a.answer(12, 1),
                             b.request(kSendFirst, 100),
                             b.request(kSendLast, 101, 7),
                             a.read(13, 2000),
                             a.answer(13, 2, 0x1f, kReadFirst, 1024),
                             a.answer(14, 2, 0x1f, kReadLast, 976),
                             b.answer(100, 0, kRnrNak),
                             b.request(kSendFirst, 100),
                             b.request(kSendLast, 101, 7),
                             b.answer(101, 1),
                             a.request(kSendOnly, 16, 64),
                             a.answer(15, 2, kNakSequence),
                             a.request(kSendOnly, 15, 64),
                             a.request(kSendOnly, 16, 64),
                             a.answer(16, 4),
                             sim::write(a, 17, 8, 0x9000, 0x99),
                             a.answer(17, 4, kNakAccess)};
  std::vector<std::vector<uint8_t>> frames;
  for (const FrameSpec& spec : specs) frames.push_back(build_frame(spec));
  return frames;
}

// Frames lost, doubled and swapped, and bytes of their headers changed, with an ICRC that fits.
std::vector<std::vector<uint8_t>> mutated(std::vector<std::vector<uint8_t>> frames, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 6; changes != 0; changes--) {
    const size_t at = random() % frames.size();
    std::vector<uint8_t>& frame = frames[at];
    switch (random() % 6) {
      case 0:
        if (frames.size() > 1) frames.erase(frames.begin() + std::ptrdiff_t(at));
        break;
      case 1:
        frames.insert(frames.begin() + std::ptrdiff_t(random() % frames.size()), std::vector<uint8_t>(frame));
        break;
      case 2:
        std::swap(frame, frames[random() % frames.size()]);
        break;
      default:  // BTH and extended headers; a byte of the ICRC now and then
        const size_t byte = 42 + random() % std::min<size_t>(32, frame.size() - 42);
        frame[byte] ^= uint8_t(random() % 3 == 0 ? random() : 1u << random() % 8);
        if (random() % 8 != 0) traces::test::fix_icrc(frame);
    }
  }
  return frames;
}

TEST_F(DirectorTest, AnyPacketsAreReplayedToTheEnd) {
  std::mt19937 random(7);
  const std::vector<std::vector<uint8_t>> frames = varied_exchange();
  uint64_t all_given = 0;
  const char* const endpoints[] = {"10.0.0.1", "10.0.0.2", "10.0.0.0/24", "0.0.0.0/0", "02:00:00:00:00:01"};
  for (unsigned round = 0; round < 3000; round++) {
    capture.clear();
    for (const std::vector<uint8_t>& frame : mutated(frames, random))
      capture.add_bytes(frame, random() % 4 == 0 ? 1'000'000 : 2'000);
    const bool is_damaged = random() % 8 == 0;
    if (is_damaged) capture.bytes().resize(capture.bytes().size() - 1 - random() % 40);
    nic.data = random() % 2 == 0;
    LookAheadOptions look = capture.options();
    look.packets = size_t(4) << random() % 4;
    look.keep_frames = nic.data;
    LookAhead packets(look, EndpointFilter(endpoints[random() % 5]));
    uint64_t given = 0, steps = 0;
    nic.calls.clear();
    nic.on_receive = [&](uint32_t, const TransportPacket&) { given++; };
    Director any(packets, nic, options);
    while (any.step()) steps++;
    any.finish();
    ReplayTally sum;
    for (const auto& c : any.connections()) {
      sum.requests_in += c->tally.requests_in;
      sum.answers_in += c->tally.answers_in;
    }
    ASSERT_EQ(given, sum.requests_in + sum.answers_in) << "round " << round;
    ASSERT_GE(steps, given) << "round " << round;
    ASSERT_EQ(packets.input_error().empty(), !is_damaged) << "round " << round;
    ASSERT_EQ(packets.next(), nullptr) << "round " << round;
    all_given += given;
  }
  EXPECT_GT(all_given, 7'000u);  // it was no matter of captures that replay nothing
}

}  // namespace
}  // namespace sim
