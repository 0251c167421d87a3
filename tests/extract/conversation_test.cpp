#include "sim/extract/conversation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/bus/wire.hpp"

namespace sim {
namespace {

constexpr uint8_t kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLast = 0x08, kWriteOnly = 0x0A, kRead = 0x0C,
                  kReadFirst = 0x0D, kReadMiddle = 0x0E, kReadLast = 0x0F, kAck = 0x11;
constexpr uint8_t kCredits = 0x1F, kNak = hw::wire::aeth::kNakSequence;

// Both ends of a conversation, 100 ns from packet to packet.
class Talk {
 public:
  Conversation conversation;

  // A message of that many packets, of which the tap has seen those that are not `missing`.
  void write(uint32_t psn, uint32_t packets, const std::vector<uint32_t>& missing = {}) {
    for (uint32_t i = 0; i < packets; i++) {
      if (std::count(missing.begin(), missing.end(), psn + i) != 0) continue;
      HeldPacket p = packet(opcode(i, packets), psn + i);
      p.transport.ack_request = i + 1 == packets;
      p.first_sight = true;
      p.message = message(psn + packets - 1, packets * 1024);
      conversation.request(p, false);
    }
  }
  // The first packet of a retry, or one that follows it.
  void again(uint8_t opcode, uint32_t psn, traces::RetryCause cause, bool first_sight = false) {
    HeldPacket p = packet(opcode, psn);
    p.transport.ack_request = opcode == kWriteLast || opcode == kWriteOnly;
    p.retry = cause;
    p.first_sight = first_sight;
    conversation.request(p, false);
  }
  void read(uint32_t psn, uint32_t responses, traces::RetryCause cause = traces::RetryCause::kNone) {
    HeldPacket p = packet(kRead, psn);
    p.psns = responses;
    p.retry = cause;
    p.first_sight = cause == traces::RetryCause::kNone;
    p.message = message(psn, responses * 1024);
    conversation.request(p, false);
  }
  void answer(uint8_t opcode, uint32_t psn, uint8_t syndrome = kCredits) {
    HeldPacket p = packet(opcode, psn);
    p.transport.syndrome = syndrome;
    conversation.answer(p);
  }

  // "request 7 due" and so on.
  std::vector<std::string> losses() const {
    static const char* const kNames[] = {"request ", "response ", "ack "};
    std::vector<std::string> all;
    for (const ObservedLoss& l : conversation.losses())
      all.push_back(kNames[int(l.kind)] + std::to_string(l.psn) + (l.ahead ? " ahead " : " due ") +
                    std::to_string(l.copy));
    return all;
  }

 private:
  static uint8_t opcode(uint32_t i, uint32_t packets) {
    if (packets == 1) return kWriteOnly;
    return i == 0 ? kWriteFirst : i + 1 == packets ? kWriteLast : kWriteMiddle;
  }
  static HeldMessage message(uint32_t last_psn, uint32_t bytes) {
    HeldMessage m;
    m.complete = true;
    m.length = bytes;
    m.last_psn = last_psn;
    return m;
  }
  HeldPacket packet(uint8_t opcode, uint32_t psn) {
    HeldPacket p;
    p.time_ns = now_ns_ += 100;
    p.transport.opcode = opcode;
    p.transport.psn = psn;
    return p;
  }

  int64_t now_ns_ = 0;
};

using Lines = std::vector<std::string>;

TEST(Conversation, MessagesWithTheirTimes) {
  Talk talk;
  talk.write(10, 3);
  talk.write(13, 1);
  talk.answer(kAck, 12);
  talk.answer(kAck, 13);
  const auto messages = talk.conversation.messages();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].psns, 3u);
  EXPECT_EQ(messages[0].bytes, 3072u);
  EXPECT_EQ(messages[0].begun_ns, 100);
  EXPECT_EQ(messages[0].sent_ns, 300);
  EXPECT_EQ(messages[0].completed_ns, 500);
  EXPECT_EQ(messages[1].completed_ns, 600);
  EXPECT_TRUE(talk.losses().empty());
}

TEST(Conversation, OneAckCompletesAllBeforeIt) {
  Talk talk;
  talk.write(10, 1);
  talk.write(11, 1);
  talk.answer(kAck, 11);
  for (const auto& m : talk.conversation.messages()) EXPECT_EQ(m.completed_ns, 300);
}

TEST(Conversation, AReadCompletesWithItsLastResponse) {
  Talk talk;
  talk.read(10, 2);
  talk.answer(kReadFirst, 10);
  EXPECT_FALSE(talk.conversation.messages()[0].completed_ns);
  talk.answer(kReadLast, 11);
  EXPECT_EQ(talk.conversation.messages()[0].completed_ns, 300);
}

TEST(Conversation, ANakNamesALossOnce) {
  Talk talk;
  talk.write(10, 4, {11});
  talk.answer(kAck, 11, kNak);
  talk.answer(kAck, 11, kNak);
  talk.again(kWriteMiddle, 11, traces::RetryCause::kSequenceNak, true);
  talk.again(kWriteMiddle, 12, traces::RetryCause::kNone);
  EXPECT_EQ(talk.losses(), Lines{"request 11 due 1"});
}

TEST(Conversation, ARetryThatIsLostAgainIsTheNextCopy) {
  Talk talk;
  talk.write(10, 4, {11});
  talk.answer(kAck, 11, kNak);
  talk.again(kWriteMiddle, 11, traces::RetryCause::kSequenceNak, true);
  talk.answer(kAck, 11, kNak);
  EXPECT_EQ(talk.losses(), (Lines{"request 11 due 1", "request 11 due 2"}));
}

TEST(Conversation, WhatWasLostBehindALossWasNotDue) {
  Talk talk;
  talk.write(10, 4, {11, 12});
  talk.answer(kAck, 11, kNak);
  talk.again(kWriteMiddle, 11, traces::RetryCause::kSequenceNak, true);
  talk.again(kWriteMiddle, 12, traces::RetryCause::kNone, true);
  EXPECT_EQ(talk.losses(), (Lines{"request 11 due 1", "request 12 ahead 1"}));
}

TEST(Conversation, ATimeoutOfAMessageThatAskedForAnAckLostTheAck) {
  Talk talk;
  talk.write(10, 2);
  talk.again(kWriteFirst, 10, traces::RetryCause::kTimeout);
  talk.again(kWriteLast, 11, traces::RetryCause::kNone);
  talk.answer(kAck, 11);
  EXPECT_EQ(talk.losses(), Lines{"ack 11 due 1"});
}

TEST(Conversation, ATimeoutOfAMessageWhoseEndTheTapMissedLostTheEnd) {
  Talk talk;
  talk.write(10, 3, {11, 12});
  talk.again(kWriteFirst, 10, traces::RetryCause::kTimeout);
  talk.again(kWriteMiddle, 11, traces::RetryCause::kNone, true);
  talk.again(kWriteLast, 12, traces::RetryCause::kNone, true);
  EXPECT_EQ(talk.losses(), (Lines{"request 11 due 1", "request 12 due 1"}));
}

TEST(Conversation, AReadAskedForAgainLostTheResponseThatWasDue) {
  Talk talk;
  talk.read(10, 4);
  talk.answer(kReadFirst, 10);
  talk.answer(kReadMiddle, 12);
  talk.read(11, 3, traces::RetryCause::kImplied);
  EXPECT_EQ(talk.losses(), Lines{"response 11 due 1"});
}

TEST(Conversation, AResponseMayBeLostBehindTheTap) {
  Talk talk;
  talk.read(10, 3);
  talk.answer(kReadFirst, 10);
  talk.answer(kReadMiddle, 11);
  talk.answer(kReadLast, 12);
  talk.read(11, 2, traces::RetryCause::kImplied);
  EXPECT_EQ(talk.losses(), Lines{"response 11 due 1"});
}

TEST(Conversation, AReadThatANakNamesLostNoResponse) {
  Talk talk;
  talk.write(10, 1);
  talk.read(11, 4);
  talk.answer(kAck, 11, kNak);
  talk.read(11, 4, traces::RetryCause::kSequenceNak);
  EXPECT_EQ(talk.losses(), Lines{"request 11 due 1"});
}

TEST(Conversation, ASequenceNakBehindAnRnrNakTellsNoLoss) {
  Talk talk;
  talk.write(10, 1);
  talk.write(11, 1);
  talk.answer(kAck, 10, 0x21);
  talk.answer(kAck, 10, kNak);
  EXPECT_TRUE(talk.losses().empty());
  talk.again(kWriteOnly, 10, traces::RetryCause::kRnrNak);
  talk.answer(kAck, 11, kNak);
  EXPECT_EQ(talk.losses(), Lines{"request 11 due 1"});
}

TEST(Conversation, PsnsWrap) {
  Talk talk;
  talk.write(0xFFFFFF, 1);
  talk.write(0, 1);
  talk.answer(kAck, 0);
  const auto messages = talk.conversation.messages();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].psn, 0xFFFFFFu);
  EXPECT_EQ(messages[1].completed_ns, 300);
}

TEST(Conversation, AMessageWithoutItsEndIsCounted) {
  Talk talk;
  HeldPacket p;
  p.transport.opcode = kWriteFirst;
  p.first_sight = true;
  talk.conversation.request(p, false);
  EXPECT_EQ(talk.conversation.incomplete(), 1u);
  EXPECT_TRUE(talk.conversation.messages().empty());
}

}  // namespace
}  // namespace sim
