// The responder as a whole, qp_state > memory_region > msn, against the protocol: each test names its row of
// docs/protocol.md D (D.2 wins), IBTA 9.7.
#include <map>

#include "bench.hpp"
#include "hw/tables/memory_region.hpp"
#include "hw/tables/msn.hpp"
#include "hw/tables/qp_state.hpp"

namespace {

using hw::Bits;
using hw::Psn;
using hw::RxRequest;

constexpr uint32_t kQpn = 0x11, kPsn = 100, kMsn = 50, kPmtu = 1024, kKey = 0x12345;
constexpr uint64_t kVa = 0x7f0000000000, kHost = 0x40000000, kRegion = 0x10000;
constexpr uint8_t kFirst = 0x06, kMiddle = 0x07, kLast = 0x08, kOnly = 0x0a, kSendOnly = 0x04;
constexpr uint64_t kAck = 0x1f, kNakSequence = 0x60, kNakInvalid = 0x61, kNakAccess = 0x62;

RxRequest request(uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t dma_length = 0, uint64_t va = kVa) {
  RxRequest r;
  r.opcode = Bits<8>(opcode);
  r.qpn = hw::Qpn(kQpn);
  r.psn = Psn(psn);
  r.ack_request = Bits<1>(1);
  r.va = Bits<64>(va);
  r.rkey = Bits<32>(kKey);
  r.dma_length = Bits<32>(dma_length);
  r.payload = hw::PacketBytes(payload);
  r.body = Bits<1>(payload > 0);
  return r;
}
RxRequest only(uint32_t psn, uint32_t bytes = 64) {
  return request(kOnly, psn, bytes, bytes);
}

// What became of one packet.
struct Outcome {
  bool placed = false, answered = false;
  uint64_t address = 0, syndrome = 0, psn = 0, msn = 0;
};
#define EXPECT_PLACED(outcome, where)           \
  do {                                          \
    const Outcome placed_outcome = (outcome);   \
    EXPECT_TRUE(placed_outcome.placed);         \
    EXPECT_EQ(placed_outcome.address, (where)); \
  } while (false)
#define EXPECT_ANSWER(outcome, keeps, code, of_psn, with_msn) \
  do {                                                        \
    const Outcome answer_outcome = (outcome);                 \
    EXPECT_EQ(answer_outcome.placed, (keeps));                \
    ASSERT_TRUE(answer_outcome.answered);                     \
    EXPECT_EQ(answer_outcome.syndrome, (code));               \
    EXPECT_EQ(answer_outcome.psn, (of_psn));                  \
    EXPECT_EQ(answer_outcome.msn, (with_msn));                \
  } while (false)
#define EXPECT_SILENCE(outcome)               \
  do {                                        \
    const Outcome silent_outcome = (outcome); \
    EXPECT_FALSE(silent_outcome.placed);      \
    EXPECT_FALSE(silent_outcome.answered);    \
  } while (false)

class Responder : public testing::Test {
 protected:
  Responder() {
    test::configure(request_, "request", 2);
    test::configure(checked_, "checked", 2);
    test::configure(judged_, "judged", 2);
    test::configure(placement_, "placement", 2);
    test::configure(ack_, "ack", 2);
    test::configure(qp_control_, "qp_control", 2);
    test::configure(region_control_, "region_control", 2);
    test::configure(msn_control_, "msn_control", 2);
    open(kPsn, kMsn);
    set_region(true);
  }

  void open(uint32_t psn, uint32_t msn, bool remote_write = true) {
    hw::QpStateControl q;
    q.qpn = hw::Qpn(kQpn);
    q.expected = Psn(psn);
    q.receive = Bits<1>(1);
    q.remote_write = Bits<1>(remote_write);
    qp_control_.write(q);
    hw::MsnControl m;
    m.qpn = hw::Qpn(kQpn);
    m.msn = Bits<24>(msn);
    m.pmtu = hw::PmtuCode(3);
    msn_control_.write(m);
    settle();
  }
  void set_region(bool remote_write) {
    hw::RegionControl c;
    c.rkey = Bits<32>(kKey);
    c.va = Bits<64>(kVa);
    c.length = Bits<64>(kRegion);
    c.address = Bits<64>(kHost);
    c.valid = Bits<1>(1);
    c.remote_write = Bits<1>(remote_write);
    region_control_.write(c);
    settle();
  }

  Outcome send(const RxRequest& r) {
    request_.write(r);
    settle();
    Outcome o;
    const hw::Placement p = placement_.read();
    EXPECT_EQ(p.body, r.body) << "a payload must meet its verdict whatever that is";
    o.placed = bool(p.keep);
    o.address = p.address.u64();
    o.answered = !ack_.empty();
    if (!o.answered) return o;
    const hw::AckToSend a = ack_.read();
    EXPECT_EQ(a.qpn.u64(), kQpn);
    o.syndrome = a.syndrome.u64();
    o.psn = a.psn.v.u64();
    o.msn = a.msn.u64();
    return o;
  }

  hw::tables::QpState qp_state;
  hw::tables::MemoryRegion memory_region;
  hw::tables::Msn msn;

 private:
  void settle() {
    bench_.run(8, [this] {
      qp_state.step(request_, qp_control_, checked_);
      memory_region.step(checked_, region_control_, judged_);
      msn.step(judged_, msn_control_, placement_, ack_);
    });
  }
  test::Bench bench_;
  hls::stream<RxRequest> request_;
  hls::stream<hw::RxChecked> checked_, judged_;
  hls::stream<hw::Placement> placement_;
  hls::stream<hw::AckToSend> ack_;
  hls::stream<hw::QpStateControl> qp_control_;
  hls::stream<hw::RegionControl> region_control_;
  hls::stream<hw::MsnControl> msn_control_;
};

TEST_F(Responder, Row1_PsnsCompareModulo24BitsWithHalfTheCircleToEachSide) {
  const struct {
    uint32_t offset;  // from the expected PSN
    uint64_t syndrome, psn_offset;
  } cases[] = {
      {0xffffff, kAck, 0xffffff},
      {0x800000, kAck, 0xffffff},  // behind: the PSN completed last
      {1, kNakSequence, 0},
      {0x7fffff, kNakSequence, 0},  // ahead: the PSN expected
  };
  for (const uint32_t expected : {0u, 1u, 0xffffffu, 0x7fffffu, 0x800000u}) {
    for (const auto& c : cases) {
      open(expected, kMsn);
      EXPECT_ANSWER(send(only((expected + c.offset) & 0xffffff)), false, c.syndrome,
                    (expected + c.psn_offset) & 0xffffff, kMsn);
    }
    EXPECT_ANSWER(send(only(expected)), true, kAck, expected, kMsn + 1);
  }
}

TEST_F(Responder, Row2_DuplicatesAcrossTheWrapAreNotExecuted) {
  open(0xfffffe, kMsn);
  for (uint32_t i = 0; i < 4; i++)
    EXPECT_ANSWER(send(only((0xfffffe + i) & 0xffffff)), true, kAck, (0xfffffe + i) & 0xffffff, kMsn + 1 + i);
  for (const uint32_t duplicate : {0xfffffeu, 0xffffffu, 0u, 1u})
    EXPECT_ANSWER(send(only(duplicate)), false, kAck, 1u, kMsn + 4);
  EXPECT_ANSWER(send(only(2)), true, kAck, 2u, kMsn + 5);
}

TEST_F(Responder, Row3_ADuplicateIsAnsweredWithTheLastPsnAndDisturbsNothing) {
  send(only(kPsn));
  EXPECT_PLACED(send(request(kFirst, kPsn + 1, kPmtu, 2 * kPmtu + 100)), kHost);
  EXPECT_PLACED(send(request(kMiddle, kPsn + 2, kPmtu)), kHost + kPmtu);
  EXPECT_ANSWER(send(only(kPsn)), false, kAck, kPsn + 2, kMsn + 1);
  EXPECT_ANSWER(send(request(kFirst, kPsn + 1, kPmtu, 2 * kPmtu + 100)), false, kAck, kPsn + 2, kMsn + 1);
  EXPECT_ANSWER(send(request(kSendOnly, kPsn, 64)), false, kAck, kPsn + 2, kMsn + 1);
  const Outcome last = send(request(kLast, kPsn + 3, 100));
  EXPECT_PLACED(last, kHost + 2 * kPmtu);
  EXPECT_ANSWER(last, true, kAck, kPsn + 3, kMsn + 2);
  EXPECT_EQ(qp_state.duplicate_request.v.u64(), 3u);
}

TEST_F(Responder, Row3_ADuplicateIsAnsweredEvenWhenItDoesNotAsk) {
  send(only(kPsn));
  RxRequest quiet = only(kPsn);
  quiet.ack_request = Bits<1>(0);
  EXPECT_ANSWER(send(quiet), false, kAck, kPsn, kMsn + 1);
}

TEST_F(Responder, Row11_OneNakAGapAndDuplicatesAreAnsweredMeanwhile) {
  send(only(kPsn));
  EXPECT_ANSWER(send(only(kPsn + 3)), false, kNakSequence, kPsn + 1, kMsn + 1);
  EXPECT_SILENCE(send(only(kPsn + 4)));
  EXPECT_SILENCE(send(only(kPsn + 2)));  // also ahead of the gap
  EXPECT_ANSWER(send(only(kPsn)), false, kAck, kPsn, kMsn + 1);
  EXPECT_SILENCE(send(only(kPsn + 5)));
  EXPECT_ANSWER(send(only(kPsn + 1)), true, kAck, kPsn + 1, kMsn + 2);
  EXPECT_ANSWER(send(only(kPsn + 3)), false, kNakSequence, kPsn + 2, kMsn + 2);  // a second gap
  EXPECT_EQ(qp_state.out_of_sequence.v.u64(), 5u);
}

TEST_F(Responder, Row21_AWriteOfNoBytesNeedsNoKeyAndCounts) {
  RxRequest empty = request(kOnly, kPsn, 0, 0, 0xdead);
  empty.rkey = Bits<32>(0xbad);
  EXPECT_ANSWER(send(empty), true, kAck, kPsn, kMsn + 1);
  EXPECT_ANSWER(send(only(kPsn + 1)), true, kAck, kPsn + 1, kMsn + 2);
  EXPECT_EQ(memory_region.access_errors.v.u64(), 0u);
}

// A refused QP is dead: nothing that follows is placed or answered, duplicates and gaps included.
#define EXPECT_REFUSED(outcome, code, of_psn)                    \
  do {                                                           \
    EXPECT_ANSWER(outcome, false, code, of_psn, uint64_t(kMsn)); \
    EXPECT_SILENCE(send(only((of_psn) + 1)));                    \
    EXPECT_SILENCE(send(only(of_psn)));                          \
    EXPECT_SILENCE(send(only((of_psn) + 7)));                    \
  } while (false)

TEST_F(Responder, Row24_PayloadsAgainstThePmtu) {
  const struct {
    std::vector<RxRequest> before;
    RxRequest wrong;
  } cases[] = {
      {{}, request(kFirst, kPsn, kPmtu - 1, 3000)},
      {{}, request(kFirst, kPsn, kPmtu + 1, 3000)},
      {{}, request(kFirst, kPsn, 0, 3000)},
      {{request(kFirst, kPsn, kPmtu, 3000)}, request(kMiddle, kPsn + 1, kPmtu - 4)},
      {{request(kFirst, kPsn, kPmtu, 4000)}, request(kMiddle, kPsn + 1, kPmtu + 4)},
      {{request(kFirst, kPsn, kPmtu, kPmtu + 1)}, request(kLast, kPsn + 1, 0)},  // D.2: a Last has bytes
      {{request(kFirst, kPsn, kPmtu, 2 * kPmtu + 1)}, request(kLast, kPsn + 1, kPmtu + 1)},
      {{}, only(kPsn, kPmtu + 1)},
  };
  for (const auto& c : cases) {
    open(kPsn, kMsn);
    for (const RxRequest& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
  open(kPsn, kMsn);
  EXPECT_ANSWER(send(only(kPsn, kPmtu)), true, kAck, kPsn, kMsn + 1);
}

TEST_F(Responder, Row25_TheLengthOfTheRethAgainstThePayloads) {
  const struct {
    std::vector<RxRequest> before;
    RxRequest wrong;
  } cases[] = {
      {{}, request(kOnly, kPsn, 64, 63)},
      {{}, request(kOnly, kPsn, 64, 65)},
      {{}, request(kOnly, kPsn, 64, 0)},
      {{}, request(kOnly, kPsn, 0, 64)},
      {{}, request(kFirst, kPsn, kPmtu, kPmtu)},  // leaves nothing for the Last
      {{}, request(kFirst, kPsn, kPmtu, 10)},
      {{request(kFirst, kPsn, kPmtu, 2 * kPmtu)}, request(kMiddle, kPsn + 1, kPmtu)},
      {{request(kFirst, kPsn, kPmtu, kPmtu + 500)}, request(kMiddle, kPsn + 1, kPmtu)},
      {{request(kFirst, kPsn, kPmtu, kPmtu + 500)}, request(kLast, kPsn + 1, 499)},
      {{request(kFirst, kPsn, kPmtu, kPmtu + 500)}, request(kLast, kPsn + 1, 501)},
  };
  for (const auto& c : cases) {
    open(kPsn, kMsn);
    for (const RxRequest& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
}

TEST_F(Responder, Row26_TheSequenceOfOpcodes) {
  const RxRequest first = request(kFirst, kPsn, kPmtu, 3 * kPmtu);
  const struct {
    std::vector<RxRequest> before;
    RxRequest wrong;
  } cases[] = {
      {{}, request(kMiddle, kPsn, kPmtu)},
      {{}, request(kLast, kPsn, 100)},
      {{first}, request(kFirst, kPsn + 1, kPmtu, 3 * kPmtu)},
      {{first}, only(kPsn + 1)},
      {{}, request(kSendOnly, kPsn, 64)},
      {{first}, request(kSendOnly, kPsn + 1, 64)},
      {{}, request(0x0b, kPsn, 64, 64)},  // WRITE_Only with immediate: not of this responder
      {{}, request(0x1f, kPsn, 0)},       // reserved
  };
  for (const auto& c : cases) {
    open(kPsn, kMsn);
    for (const RxRequest& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
}

TEST_F(Responder, Row27_AnInvalidKeyIsRefusedAtTheFirstPacket) {
  RxRequest bad = request(kFirst, kPsn, kPmtu, 2 * kPmtu);
  bad.rkey = Bits<32>(kKey + 1);  // the same row, another key
  EXPECT_REFUSED(send(bad), kNakAccess, kPsn);
  EXPECT_EQ(msn.rx_write_requests.v.u64(), 1u);  // counted before the key is looked at (B.2)
}

TEST_F(Responder, Row28_AWritePastTheRegionIsRefusedWhole) {
  EXPECT_ANSWER(send(request(kOnly, kPsn, 64, 64, kVa + kRegion - 64)), true, kAck, kPsn, kMsn + 1);
  open(kPsn, kMsn);
  EXPECT_REFUSED(send(request(kOnly, kPsn, 64, 64, kVa + kRegion - 63)), kNakAccess, kPsn);
  open(kPsn, kMsn);
  EXPECT_REFUSED(send(request(kFirst, kPsn, kPmtu, 2 * kPmtu, kVa + kRegion - 2 * kPmtu + 1)), kNakAccess, kPsn);
  open(kPsn, kMsn);
  EXPECT_REFUSED(send(request(kOnly, kPsn, 64, 64, kVa - 1)), kNakAccess, kPsn);
  open(kPsn, kMsn);
  EXPECT_REFUSED(send(request(kOnly, kPsn, 64, 64, ~uint64_t(0) - 31)), kNakAccess, kPsn);
}

TEST_F(Responder, Row29_ARegionWithoutTheRightAndAQpWithoutTheRight) {
  set_region(false);
  EXPECT_REFUSED(send(only(kPsn)), kNakAccess, kPsn);
  set_region(true);
  open(kPsn, kMsn, false);
  EXPECT_REFUSED(send(only(kPsn)), kNakInvalid, kPsn);
  EXPECT_EQ(msn.rx_write_requests.v.u64(), 1u);  // B.2: without the QP's right it is not counted
}

TEST_F(Responder, ANakAcknowledgesWhatPrecedesItUnasked) {
  RxRequest quiet = only(kPsn);
  quiet.ack_request = Bits<1>(0);
  EXPECT_FALSE(send(quiet).answered);
  EXPECT_ANSWER(send(request(kOnly, kPsn + 1, 64, 64, 0)), false, kNakAccess, kPsn + 1, kMsn + 1);
}

// A requester that goes back as it is told, on a wire that loses, repeats and delays: every byte of every message is
// placed once, in order, at its address, and the MSN counts the messages.
TEST_F(Responder, WhateverTheWireDoesEachMessageIsPlacedOnce) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    struct Packet {
      RxRequest request;
      uint64_t address;
    };
    std::vector<Packet> packets;
    const uint32_t psn0 = 0xffffff & uint32_t(0xffffe0 + random() % 64);
    const uint32_t messages = 40;
    for (uint32_t m = 0; m < messages; m++) {
      const uint32_t length = random() % 8 == 0 ? 0 : uint32_t(random() % (4 * kPmtu));
      const uint64_t offset = random() % (kRegion - length);
      uint32_t done = 0;
      do {
        const uint32_t bytes = std::min(kPmtu, length - done);
        const bool starts = done == 0, ends = done + bytes == length;
        const uint8_t opcode = starts ? (ends ? kOnly : kFirst) : ends ? kLast : kMiddle;
        packets.push_back(
            {request(opcode, (psn0 + uint32_t(packets.size())) & 0xffffff, bytes, starts ? length : 0, kVa + offset),
             kHost + offset + done});
        packets.back().request.ack_request = Bits<1>(ends);
        done += bytes;
      } while (done < length);
    }
    open(psn0, 0);
    std::vector<uint64_t> placed;
    uint64_t last_msn = 0;
    size_t next = 0, acknowledged = 0;
    for (int i = 0; i < 20000 && acknowledged < packets.size(); i++) {
      if (next == packets.size()) next = acknowledged;  // time-out
      size_t which = next;
      const unsigned fault = unsigned(random() % 10);
      if (fault == 0) which = random() % packets.size();  // early, or late: an old copy
      if (fault != 0) next++;
      if (fault == 1) continue;  // lost
      const Outcome o = send(packets[which].request);
      if (o.placed) {
        ASSERT_EQ(which, placed.size()) << "out of order or twice";
        placed.push_back(o.address);
      }
      if (!o.answered || random() % 8 == 0) continue;  // the answer is lost
      last_msn = o.msn;
      const size_t answered = (o.psn - psn0) & 0xffffff;
      ASSERT_TRUE(o.syndrome == kAck || o.syndrome == kNakSequence);
      acknowledged = std::max<size_t>(acknowledged, (o.syndrome == kAck ? answered + 1 : answered) & 0xffffff);
      if (o.syndrome == kNakSequence) next = answered;
    }
    ASSERT_EQ(placed.size(), packets.size()) << "seed " << seed;
    for (size_t i = 0; i < packets.size(); i++)
      ASSERT_TRUE(packets[i].request.payload.u64() == 0 || placed[i] == packets[i].address) << i;
    EXPECT_EQ(last_msn, messages);
  }
}

}  // namespace
