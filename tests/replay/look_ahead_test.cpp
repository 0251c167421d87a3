// What packets that are held back have learned from those behind them.
#include "sim/replay/look_ahead.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/replay/capture.hpp"

namespace sim {
namespace {

using namespace replay_test;
using traces::test::ack;
using traces::test::kNakAccess;
using traces::test::kNakSequence;
using traces::test::kRnrNak;

constexpr size_t kBth = 42;  // in a frame of build_frame()

class LookAheadTest : public ::testing::Test {
 protected:
  LookAhead& look(const std::string& as = "10.0.0.1") { return look(as, capture.options()); }
  LookAhead& look(const std::string& as, LookAheadOptions options) {
    reader = std::make_unique<LookAhead>(std::move(options), EndpointFilter(as));
    return *reader;
  }
  // Packet `index` of the file; those before it are gone then.
  HeldPacket& packet(uint64_t index) {
    if (!reader) look();
    for (HeldPacket* held = reader->next(); held != nullptr; held = reader->next())
      if (held->index == index) return *held;
    throw std::out_of_range("no packet " + std::to_string(index));
  }
  std::vector<uint64_t> indices() {
    std::vector<uint64_t> all;
    while (const HeldPacket* held = reader->next()) all.push_back(held->index);
    return all;
  }
  std::vector<Course> courses() {
    std::vector<Course> all;
    while (const HeldPacket* held = reader->next()) all.push_back(held->course);
    return all;
  }
  Fate fate(uint64_t index, uint32_t psn) {
    const HeldPacket& from = packet(index);
    return reader->fate_of(from, psn);
  }
  std::optional<uint32_t> msn_before(uint64_t index) {
    const HeldPacket& start = packet(index);
    return reader->msn_before(start);
  }
  // "0+1024 1024+100": offsets and bytes.
  std::string parts_of(const HeldPacket& start) const {
    std::string text;
    reader->visit_message(start, [&](uint64_t offset, traces::ByteSpan payload) {
      text += (text.empty() ? "" : " ") + std::to_string(offset) + "+" + std::to_string(payload.size);
    });
    return text;
  }
  FrameSpec write_first(uint32_t psn, uint32_t length) const {
    FrameSpec spec = ends.request(kWriteFirst, psn);
    spec.reth = traces::Reth{0x1000, 0x77, length};
    return spec;
  }

  Capture capture;
  Ends ends;  // 10.0.0.2 asks 10.0.0.1
  std::unique_ptr<LookAhead> reader;
};

// ------------------------------------------------------------------------------------------------------ courses

TEST_F(LookAheadTest, CoursesAreThoseOfTheEndpoint) {
  capture.add({ends.write(10), ends.answer(10, 1)});
  look("10.0.0.1");
  EXPECT_EQ(courses(), (std::vector<Course>{Course::kRequestIn, Course::kResponseOut}));
  look("10.0.0.2");
  EXPECT_EQ(courses(), (std::vector<Course>{Course::kRequestOut, Course::kResponseIn}));
}

TEST_F(LookAheadTest, BothEndsAndStrangersAreCountedAndLeftOut) {
  capture.add({ends.write(10), ends.answer(10, 1)});
  look("10.0.0.0/24");
  EXPECT_TRUE(courses().empty());
  EXPECT_EQ(reader->counts().both_ends, 2u);
  look("10.9.9.9");
  EXPECT_TRUE(courses().empty());
  EXPECT_EQ(reader->counts().strangers, 2u);
}

TEST_F(LookAheadTest, WhatElseTheEndpointGotIsAFrame) {
  FrameSpec notification = ends.request(traces::kOpcodeCnp, 0, 16);
  FrameSpec own = notification;
  std::swap(own.source, own.destination);
  std::vector<uint8_t> broken = build_frame(ends.write(10));
  broken.back() ^= 1;  // its ICRC
  const std::vector<uint8_t> arp = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 0, 1};
  capture.add({notification, own});
  capture.add_bytes(broken);
  capture.add_bytes(arp);
  look();
  const HeldPacket& held = packet(1);
  EXPECT_EQ(held.course, Course::kFrameIn);
  EXPECT_EQ(held.frame, build_frame(notification));
  EXPECT_EQ(indices(), (std::vector<uint64_t>{3, 4}));
  LookAheadOptions without_frames = capture.options();
  without_frames.keep_frames = false;
  look("10.0.0.1", without_frames);
  EXPECT_TRUE(indices().empty());
}

TEST_F(LookAheadTest, MirrorCopiesAreLeftOut) {
  capture.add(ends.write(10));
  capture.add(ends.write(10), 100);  // ns
  look();
  EXPECT_EQ(indices(), (std::vector<uint64_t>{1}));
}

TEST_F(LookAheadTest, OnlyAPlainFrameIsNative) {
  FrameSpec tagged = ends.write(11), six = ends.write(10);
  tagged.vlan_tags = {{0x8100, 5}};
  six.source = "fd77::2";
  six.destination = "fd77::1";
  capture.add({ends.write(10), tagged, six});
  EXPECT_TRUE(packet(1).native);
  EXPECT_FALSE(packet(2).native);
  look("fd77::1");
  EXPECT_FALSE(packet(3).native);
}

// --------------------------------------------------------------------------------------------------------- fate

struct FateCase {
  const char* name;
  std::vector<FrameSpec> behind;  // PSNs 10 and 12 of requests
  Fate fate;                      // of 11
};

TEST_F(LookAheadTest, AGapIsWhatFollowsSaysFirst) {
  const Ends e;
  const FateCase cases[] = {
      {"nothing", {}, Fate::kUnknown},
      {"an ACK before it", {e.answer(10, 1)}, Fate::kUnknown},
      {"newer requests", {e.write(13), e.write(14)}, Fate::kUnknown},
      {"an ACK of it", {e.answer(11, 2)}, Fate::kArrived},
      {"a later ACK", {e.answer(10, 1), e.answer(12, 3)}, Fate::kArrived},
      {"a later NAK", {e.answer(12, 3, kNakSequence)}, Fate::kArrived},
      {"an RNR NAK of it", {e.answer(11, 2, kRnrNak)}, Fate::kArrived},
      {"a fatal NAK of it", {e.answer(11, 2, kNakAccess)}, Fate::kArrived},
      {"a sequence NAK of it", {e.answer(11, 1, kNakSequence)}, Fate::kLost},
      {"a NAK before it", {e.answer(10, 1, kNakSequence)}, Fate::kUnknown},
      {"a READ response behind it", {e.answer(12, 3, 0x1f, kReadOnly, 8)}, Fate::kArrived},
      {"sent again", {e.write(11)}, Fate::kLost},
      {"a READ over it, sent again", {e.read(10, 2048)}, Fate::kLost},
      {"a READ before it, sent again", {e.read(9, 2048)}, Fate::kUnknown},
      {"sent again, then an ACK", {e.write(11), e.answer(12, 3)}, Fate::kLost},
      {"an ACK, then sent again", {e.answer(12, 3), e.write(11)}, Fate::kArrived},
  };
  for (const FateCase& c : cases) {
    capture.clear();
    capture.add({ends.write(10), ends.write(12)});
    for (const FrameSpec& spec : c.behind) capture.add(spec);
    look();
    EXPECT_EQ(fate(2, 11), c.fate) << c.name;
  }
}

TEST_F(LookAheadTest, FateLooksOnlyBehindThePacket) {
  capture.add({ends.write(10), ends.answer(10, 1), ends.write(12), ends.answer(10, 1)});
  EXPECT_EQ(fate(3, 10), Fate::kArrived);
  look();
  EXPECT_EQ(fate(4, 10), Fate::kUnknown);
}

TEST_F(LookAheadTest, OtherConnectionsTellNothing) {
  const Ends other{"10.0.0.2", "10.0.0.1", 0x21, 0x22};
  capture.add({ends.write(10), ends.answer(10, 1), ends.write(12), other.write(10), other.write(11), other.write(12),
               other.answer(12, 3)});
  EXPECT_EQ(fate(3, 11), Fate::kUnknown);
}

// ---------------------------------------------------------------------------------------------------------- MSN

TEST_F(LookAheadTest, TheFirstAnswerTellsTheMsnBeforeAMessage) {
  capture.add(
      {ends.write(10), ends.write(11), ends.write(12), ends.answer(12, 8), ends.write(13), ends.answer(13, 50)});
  EXPECT_EQ(msn_before(1), 5u);
  EXPECT_EQ(msn_before(2), 6u);
}

TEST_F(LookAheadTest, MessagesCountWhenTheirLastPacketIsAcknowledged) {
  capture.add({write_first(10, 3072), ends.request(kWriteMiddle, 11), ends.request(kWriteLast, 12), ends.write(13)});
  capture.add(ends.answer(11, 4));
  EXPECT_EQ(msn_before(1), 4u);
  capture.add(ends.answer(13, 6));
  look();
  EXPECT_EQ(msn_before(4), 5u);
}

TEST_F(LookAheadTest, AReadResponseTellsTheMsnInItsLastPacket) {
  capture.add(
      {ends.read(10, 2048), ends.answer(10, 99, 0x1f, kReadFirst, 1024), ends.answer(11, 5, 0x1f, kReadLast, 1024)});
  EXPECT_EQ(msn_before(1), 4u);
  capture.clear();
  capture.add({ends.read(10, 100), ends.answer(10, 5, 0x1f, kReadOnly, 100)});
  look();
  EXPECT_EQ(msn_before(1), 4u);
}

TEST_F(LookAheadTest, TheMsnWraps) {
  capture.add({ends.write(0xffffff), ends.write(0), ends.answer(0, 1)});
  EXPECT_EQ(msn_before(1), 0xffffffu);
}

TEST_F(LookAheadTest, OldAnswersTellNoMsn) {
  capture.add({ends.write(9), ends.answer(9, 1), ends.write(10), ends.answer(9, 70), ends.answer(10, 2)});
  EXPECT_EQ(msn_before(3), 1u);
}

TEST_F(LookAheadTest, ANakTellsTheMsnOfWhatCameBeforeItsPsn) {
  capture.add({ends.write(9), ends.write(10), ends.write(11), ends.answer(11, 6, kRnrNak)});
  EXPECT_EQ(msn_before(1), 4u);
}

TEST_F(LookAheadTest, AnAckOfRequestsThatTheTapMissedTellsNoMsn) {
  capture.add({ends.write(10), ends.write(12), ends.write(13), ends.answer(12, 8), ends.answer(13, 9)});
  EXPECT_EQ(msn_before(1), std::nullopt);
}

TEST_F(LookAheadTest, WithoutAnAnswerThereIsNoMsn) {
  capture.add({ends.write(10), ends.write(11)});
  EXPECT_EQ(msn_before(1), std::nullopt);
}

// ----------------------------------------------------------------------------------------------------- messages

TEST_F(LookAheadTest, ASendIsAsLongAsItsPackets) {
  FrameSpec last = ends.request(0x03, 12, 100);  // SEND Last with Immediate
  last.immediate = 0xdeadbeef;
  std::vector<uint8_t> solicited = build_frame(last);
  solicited[kBth + 1] |= 0x80;
  traces::test::fix_icrc(solicited);
  capture.add({ends.request(kSendFirst, 10), ends.request(kSendMiddle, 11)});
  capture.add_bytes(solicited);
  const HeldMessage m = packet(1).message;
  EXPECT_TRUE(m.complete);
  EXPECT_EQ(m.length, 2148u);
  EXPECT_TRUE(m.has_immediate);
  EXPECT_TRUE(m.solicited);
  EXPECT_EQ(m.immediate, 0xdeadbeefu);
  EXPECT_EQ(m.last_psn, 12u);
}

TEST_F(LookAheadTest, AWriteIsAsLongAsItsRethSays) {
  capture.add({write_first(0xffffff, 1124), ends.request(kWriteLast, 0, 100), ends.write(1)});
  const HeldMessage m = packet(1).message;
  EXPECT_TRUE(m.complete);
  EXPECT_EQ(m.length, 1124u);
  EXPECT_FALSE(m.has_immediate);
  EXPECT_FALSE(m.solicited);
  EXPECT_EQ(m.last_psn, 0u);
}

TEST_F(LookAheadTest, AWriteWhosePacketsDoNotMakeUpItsLengthIsIncomplete) {
  capture.add({write_first(10, 1125), ends.request(kWriteLast, 11, 100)});
  EXPECT_FALSE(packet(1).message.complete);
}

TEST_F(LookAheadTest, AMessageWithoutItsLastPacketIsIncomplete) {
  capture.add({ends.request(kSendFirst, 10), ends.request(kSendMiddle, 11)});
  EXPECT_FALSE(packet(1).message.complete);
}

TEST_F(LookAheadTest, AReadIsCompleteAtOnce) {
  capture.add(ends.read(10, 3000));
  const HeldPacket& read = packet(1);
  EXPECT_TRUE(read.message.complete);
  EXPECT_EQ(read.message.length, 3000u);
  EXPECT_EQ(read.psns, 3u);
}

TEST_F(LookAheadTest, TheFirstReadHasThePsnsThatItsResponsesShow) {
  capture.add(
      {ends.read(10, 8192), ends.answer(10, 1, 0x1f, kReadFirst, 4096), ends.answer(11, 1, 0x1f, kReadLast, 4096)});
  EXPECT_EQ(packet(1).psns, 2u);
}

TEST_F(LookAheadTest, AMessageThatIsBegunAgainBelongsToItsFirstBegin) {
  FrameSpec last = ends.request(kWriteLastImmediate, 12, 100);
  last.immediate = 7;
  capture.add({write_first(10, 2148), ends.request(kWriteMiddle, 11), write_first(10, 2148),
               ends.request(kWriteMiddle, 11), last});
  const HeldPacket& start = packet(1);
  EXPECT_TRUE(start.message.complete);
  EXPECT_EQ(start.message.length, 2148u);
  EXPECT_EQ(start.message.immediate, 7u);
  EXPECT_EQ(parts_of(start), "0+1024 1024+1024 2048+100");
  EXPECT_FALSE(packet(3).message.complete);
}

TEST_F(LookAheadTest, PartsHaveTheirPlacesWhateverTheirOrder) {
  capture.add({ends.request(kSendFirst, 10), ends.request(kSendLast, 12, 100), ends.request(kSendMiddle, 11),
               ends.request(kSendOnly, 13, 50)});
  EXPECT_EQ(parts_of(packet(1)), "0+1024 2048+100 1024+1024");
  EXPECT_EQ(parts_of(packet(4)), "0+50");
}

TEST_F(LookAheadTest, PartsAreThePayloads) {
  capture.add(ends.request(kSendOnly, 13, 50));
  const HeldPacket& start = packet(1);
  const std::vector<uint8_t> frame = build_frame(ends.request(kSendOnly, 13, 50));
  const std::vector<uint8_t> expected(frame.begin() + kBth + 12, frame.begin() + kBth + 12 + 50);
  reader->visit_message(start, [&](uint64_t, traces::ByteSpan payload) {
    EXPECT_EQ(std::vector<uint8_t>(payload.data, payload.data + payload.size), expected);
  });
}

TEST_F(LookAheadTest, AReadHasNoParts) {
  capture.add({ends.read(10, 100), ends.write(11)});
  EXPECT_EQ(parts_of(packet(1)), "");
}

TEST_F(LookAheadTest, FindsTheBeginThatTheTapSawLater) {
  capture.add({ends.write(10), ends.write(12), write_first(13, 2048), ends.write(11), ends.request(kWriteLast, 14)});
  HeldPacket& from = packet(2);
  ASSERT_NE(reader->find_start(from, 11), nullptr);
  EXPECT_EQ(reader->find_start(from, 11)->index, 4u);
  EXPECT_EQ(reader->find_start(from, 13)->index, 3u);
  EXPECT_EQ(reader->find_start(from, 10), nullptr);  // before
  EXPECT_EQ(reader->find_start(from, 14), nullptr);  // begins nothing
  EXPECT_EQ(reader->find_start(from, 15), nullptr);
}

TEST_F(LookAheadTest, WhatIsSentAgainIsNoBegin) {
  capture.add({ends.write(10), ends.write(11), ends.write(10), ends.write(11)});
  HeldPacket& from = packet(1);
  EXPECT_EQ(reader->find_start(from, 10), nullptr);
  EXPECT_EQ(reader->find_start(from, 11)->index, 2u);
}

// --------------------------------------------------------------------------------------------------------- NAKs

TEST_F(LookAheadTest, ANakOfWhatTheTapSawMarksItUndelivered) {
  capture.add({ends.write(10), ends.write(11), ends.write(12), ends.answer(11, 1, kNakSequence), ends.write(11)});
  EXPECT_FALSE(packet(1).undelivered);
  EXPECT_TRUE(packet(2).undelivered);
  EXPECT_FALSE(packet(3).undelivered);
  EXPECT_FALSE(packet(5).undelivered);
  EXPECT_EQ(reader->counts().undelivered, 1u);
}

TEST_F(LookAheadTest, ANakTwiceCountsOnce) {
  capture.add({ends.write(10), ends.write(11), ends.answer(10, 1, kNakSequence), ends.answer(10, 1, kNakSequence)});
  EXPECT_TRUE(packet(1).undelivered);
  EXPECT_EQ(reader->counts().undelivered, 1u);
}

TEST_F(LookAheadTest, WhatCameOutOfOrderWasNakedForThatAlone) {
  capture.add({ends.write(10), ends.answer(10, 1), ends.write(12), ends.write(11), ends.answer(11, 1, kNakSequence)});
  const HeldPacket& late = packet(4);
  EXPECT_TRUE(late.out_of_order);
  EXPECT_FALSE(late.undelivered);
}

// The responder refuses what follows a request that it was not ready for.
TEST_F(LookAheadTest, ASequenceNakAfterAnRnrNakMarksNothing) {
  capture.add({ends.request(kSendOnly, 10), ends.request(kSendOnly, 11), ends.answer(10, 0, kRnrNak),
               ends.answer(10, 0, kNakSequence)});
  EXPECT_FALSE(packet(1).undelivered);
}

// What the endpoint itself sent is lost between the tap and its peer, which is none of the NIC's business.
TEST_F(LookAheadTest, ANakOfTheEndpointsOwnRequestMarksNothing) {
  capture.add({ends.write(10), ends.write(11), ends.answer(10, 1, kNakSequence)});
  look("10.0.0.2");
  EXPECT_FALSE(packet(1).undelivered);
  EXPECT_EQ(reader->counts().undelivered, 0u);
}

TEST_F(LookAheadTest, AnRnrNakMarksItsRequestNotReady) {
  capture.add({ends.request(kSendOnly, 10), ends.request(kSendOnly, 11), ends.answer(10, 1, kRnrNak),
               ends.request(kSendOnly, 10), ends.request(kSendOnly, 11)});
  EXPECT_TRUE(packet(1).not_ready);
  EXPECT_FALSE(packet(2).not_ready);
  EXPECT_FALSE(packet(4).not_ready);
}

TEST_F(LookAheadTest, AFatalNakMarksItsPacketAndTheBeginOfItsMessage) {
  capture.add({ends.write(9), write_first(10, 3072), ends.request(kWriteMiddle, 11), ends.answer(11, 1, kNakAccess)});
  EXPECT_EQ(packet(1).refused_with, 0);
  EXPECT_EQ(packet(2).refused_with, kNakAccess);
  EXPECT_EQ(packet(3).refused_with, kNakAccess);
}

// More messages may be under way when the NAK comes.
TEST_F(LookAheadTest, AFatalNakReachesAMessageBeforeTheNewest) {
  capture.add({write_first(10, 2048), ends.request(kWriteLast, 11), ends.write(12), ends.answer(11, 1, kNakAccess)});
  EXPECT_EQ(packet(1).refused_with, kNakAccess);
  EXPECT_EQ(packet(2).refused_with, kNakAccess);
  EXPECT_EQ(packet(3).refused_with, 0);
}

TEST_F(LookAheadTest, AFatalNakSparesTheMessageBeforeAMissedBegin) {
  capture.add({ends.write(9), ends.request(kWriteMiddle, 11), ends.answer(11, 1, kNakAccess)});
  EXPECT_EQ(packet(1).refused_with, 0);
  EXPECT_EQ(packet(2).refused_with, kNakAccess);
}

// ----------------------------------------------------------------------------------- what the NIC does not know

TEST_F(LookAheadTest, AnAtomicIsTheReadOfNoBytes) {
  FrameSpec atomic = ends.request(0x13, 10, 16);  // Compare and Swap: RETH and 12 bytes are its header
  atomic.reth = traces::Reth{0x1000, 0x77, 0};
  capture.add({atomic, ends.answer(10, 1, 0x1f, 0x12, 8), ends.write(11)});
  const HeldPacket request = packet(1);
  EXPECT_TRUE(request.atomic);
  EXPECT_FALSE(request.native);
  EXPECT_EQ(request.transport.opcode, kRead);
  EXPECT_EQ(request.transport.remote_key, 0u);
  EXPECT_EQ(request.transport.dma_length, 0u);
  EXPECT_EQ(request.transport.payload_bytes, 0u);
  EXPECT_EQ(request.psns, 1u);
  const HeldPacket answer = packet(2);
  EXPECT_EQ(answer.transport.opcode, kReadOnly);
  EXPECT_EQ(answer.transport.payload_bytes, 0u);
  EXPECT_EQ(answer.transport.msn, 1u);
  EXPECT_EQ(reader->counts().atomics, 1u);
}

TEST_F(LookAheadTest, ASendWithInvalidateIsASend) {
  FrameSpec last = ends.request(0x16, 11, 100), only = ends.request(0x17, 12, 100);
  last.immediate = only.immediate = 0x77;  // IETH, in the same place
  capture.add({ends.request(kSendFirst, 10), last, only});
  EXPECT_TRUE(packet(1).native);
  const HeldPacket middle = packet(2), alone = packet(3);
  EXPECT_EQ(middle.transport.opcode, kSendLast);
  EXPECT_EQ(alone.transport.opcode, kSendOnly);
  EXPECT_FALSE(middle.native || alone.native);
  EXPECT_EQ(alone.payload().size, 100u);
  EXPECT_EQ(reader->counts().invalidates, 2u);
}

TEST_F(LookAheadTest, ACutPayloadIsMadeWholeAndACutHeaderIsNot) {
  capture.add_cut(ends.write(10), 100);
  capture.add_cut(ends.write(11), kBth + 12 + 8);  // within the RETH
  capture.add(ends.write(12));
  const HeldPacket cut = packet(1);
  EXPECT_TRUE(cut.repaired);
  EXPECT_EQ(cut.transport.payload_bytes, 1024u);
  ASSERT_EQ(cut.payload().size, 1024u);
  EXPECT_EQ(cut.payload().data[1023], 0);
  EXPECT_TRUE(traces::decode_frame(cut.frame).icrc_ok());
  EXPECT_TRUE(packet(2).cut);
  EXPECT_EQ(indices(), (std::vector<uint64_t>{3}));
  EXPECT_EQ(reader->counts().cut, 1u);
}

// ------------------------------------------------------------------------------------------- what is chosen, files

TEST_F(LookAheadTest, AQueuePairIsChosenByTheQpnOfEitherEnd) {
  const Ends other{"10.0.0.2", "10.0.0.1", 0x21, 0x22};
  for (uint32_t psn = 10; psn < 12; psn++)
    capture.add({ends.write(psn), other.write(psn + 100), ends.answer(psn, 1), other.answer(psn + 100, 1)});
  for (const uint32_t qpn : {ends.responder_qpn, ends.requester_qpn}) {
    LookAheadOptions options = capture.options();
    options.qpn = qpn;
    look("10.0.0.1", options);
    EXPECT_EQ(indices(), (std::vector<uint64_t>{1, 3, 5, 7})) << qpn;
    EXPECT_EQ(reader->counts().other_qp, 4u) << qpn;
  }
}

TEST_F(LookAheadTest, AWindowOfTimeIsChosenBothBordersIncluded) {
  for (uint32_t psn = 0; psn < 10; psn++) capture.add(ends.write(psn), 1'000'000);
  LookAheadOptions options = capture.options();
  options.from_s = 0.002;
  options.to_s = 0.005;
  look("10.0.0.1", options);
  EXPECT_EQ(indices(), (std::vector<uint64_t>{3, 4, 5, 6}));
  EXPECT_EQ(reader->counts().outside_window, 6u);
  EXPECT_EQ(reader->first_ns(), 1'001'000'000);
}

TEST_F(LookAheadTest, ASmallWindowGivesEveryPacketInOrder) {
  std::vector<uint64_t> expected;
  for (uint32_t psn = 0; psn < 100; psn++) {
    capture.add({ends.write(psn), ends.answer(psn, psn + 1)});
    expected.insert(expected.end(), {2 * psn + 1, 2 * psn + 2});
  }
  LookAheadOptions options = capture.options();
  options.packets = 16;
  look("10.0.0.1", options);
  EXPECT_EQ(indices(), expected);
}

TEST_F(LookAheadTest, ASmallWindowKnowsWhatIsInIt) {
  for (uint32_t psn = 0; psn < 100; psn++) capture.add({ends.write(2 * psn), ends.answer(2 * psn, psn + 1)});
  LookAheadOptions options = capture.options();
  options.packets = 16;
  look("10.0.0.1", options);
  uint64_t judged = 0;
  while (const HeldPacket* held = reader->next()) {
    if (held->course != Course::kRequestIn) continue;
    const uint32_t psn = held->transport.psn;
    EXPECT_EQ(reader->msn_before(*held), psn / 2) << psn;
    const Fate expected = psn < 198 ? Fate::kArrived : Fate::kUnknown;
    EXPECT_EQ(reader->fate_of(*held, psn + 1), expected) << psn;
    judged++;
  }
  EXPECT_EQ(judged, 100u);
}

TEST_F(LookAheadTest, ObserversSeePacketsAheadOfTheReplay) {
  for (uint32_t psn = 0; psn < 5; psn++) capture.add(ends.write(psn));
  look();
  uint64_t seen = 0;
  reader->observe([&](HeldPacket&, const traces::RocePacket&) { seen++; });
  reader->next();
  EXPECT_EQ(seen, 5u);
}

TEST_F(LookAheadTest, ADamagedFileIsReplayedUpToTheDamage) {
  capture.add({ends.write(10), ends.write(11), ends.write(12)});
  capture.bytes().resize(capture.bytes().size() - 10);
  look();
  EXPECT_EQ(indices(), (std::vector<uint64_t>{1, 2}));
  traces::test::expect_error_line(reader->input_error(), capture.file());
}

TEST_F(LookAheadTest, AFileThatIsNoCaptureIsAnError) {
  capture.bytes() = {1, 2, 3, 4, 5, 6, 7, 8};
  traces::test::input_error_of([&] {
    look();
    reader->next();
  });
}

TEST_F(LookAheadTest, ACaptureOfNothingHasNoPackets) {
  look();
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->input_error(), "");
}

}  // namespace
}  // namespace sim
