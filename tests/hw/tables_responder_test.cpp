// The responder as a whole, qp_state > memory_region > receive_queue > msn, against the protocol: each test names its
// row of docs/protocol.md D (D.2 wins), IBTA 9.7.
#include <map>

#include "bench.hpp"
#include "hw/tables/memory_region.hpp"
#include "hw/tables/msn.hpp"
#include "hw/tables/qp_state.hpp"
#include "hw/tables/receive_queue.hpp"

namespace {

using hw::Bits;
using hw::Psn;
using hw::RxTransport;

constexpr uint32_t kQpn = 0x11, kPsn = 100, kMsn = 50, kPmtu = 1024, kKey = 0x12345, kReads = 4;
constexpr uint64_t kVa = 0x7f0000000000, kHost = 0x40000000, kRegion = 0x10000;
constexpr uint64_t kInbox = 0x90000000;  // where receive work requests point, 0x10000 each
constexpr uint32_t kRoom = 3 * kPmtu;    // that each has
enum : uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kFirst = 0x06,
  kMiddle = 0x07,
  kLast = 0x08,
  kLastImm = 0x09,
  kOnly = 0x0a,
  kOnlyImm = 0x0b,
  kRead = 0x0c
};
constexpr uint64_t kAck = 0x1f, kRnr = 0x20 | 12, kNakSequence = 0x60, kNakInvalid = 0x61, kNakAccess = 0x62;

RxTransport request(uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t dma_length = 0, uint64_t va = kVa) {
  RxTransport r;
  r.opcode = Bits<8>(opcode);
  r.qpn = hw::Qpn(kQpn);
  r.psn = Psn(psn);
  r.ack_request = Bits<1>(1);
  r.solicited = Bits<1>(psn & 1);
  r.va = Bits<64>(va);
  r.rkey = Bits<32>(kKey);
  r.dma_length = Bits<32>(dma_length);
  r.immediate = Bits<32>(0xcafe0000 | psn);
  r.payload = hw::PacketBytes(payload);
  r.body = Bits<1>(payload > 0);
  return r;
}
RxTransport only(uint32_t psn, uint32_t bytes = 64) {
  return request(kOnly, psn, bytes, bytes);
}
RxTransport read(uint32_t psn, uint32_t bytes, uint64_t va = kVa) {
  return request(kRead, psn, 0, bytes, va);
}

// What became of one packet.
struct Outcome {
  bool placed = false, answered = false, served = false, completed = false;
  uint64_t address = 0, syndrome = 0, psn = 0, msn = 0;
  uint64_t source = 0, bytes = 0;  // of a READ that is served
  hw::ReceiveCompletion completion;
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
#define EXPECT_SERVED(outcome, of_psn, with_msn, from, count) \
  do {                                                        \
    const Outcome read_outcome = (outcome);                   \
    EXPECT_FALSE(read_outcome.answered);                      \
    ASSERT_TRUE(read_outcome.served);                         \
    EXPECT_EQ(read_outcome.psn, (of_psn));                    \
    EXPECT_EQ(read_outcome.msn, (with_msn));                  \
    EXPECT_EQ(read_outcome.source, (from));                   \
    EXPECT_EQ(read_outcome.bytes, (count));                   \
  } while (false)
#define EXPECT_COMPLETED(outcome, work_request, count, write)            \
  do {                                                                   \
    const Outcome completed_outcome = (outcome);                         \
    EXPECT_TRUE(completed_outcome.placed);                               \
    ASSERT_TRUE(completed_outcome.completed);                            \
    EXPECT_EQ(completed_outcome.completion.qpn.u64(), kQpn);             \
    EXPECT_EQ(completed_outcome.completion.index.u64(), (work_request)); \
    EXPECT_EQ(completed_outcome.completion.bytes.u64(), (count));        \
    EXPECT_EQ(bool(completed_outcome.completion.is_write), (write));     \
  } while (false)
#define EXPECT_SILENCE(outcome)               \
  do {                                        \
    const Outcome silent_outcome = (outcome); \
    EXPECT_FALSE(silent_outcome.placed);      \
    EXPECT_FALSE(silent_outcome.answered);    \
    EXPECT_FALSE(silent_outcome.served);      \
  } while (false)

class Responder : public testing::Test {
 protected:
  Responder() {
    test::configure(packet_, "packet", 2);
    test::configure(checked_, "checked", 2);
    test::configure(permitted_, "permitted", 2);
    test::configure(received_, "received", 2);
    test::configure(verdict_, "verdict", 2);
    test::configure(response_, "response", 2);
    test::configure(posted_, "posted", 2);
    test::configure(served_, "served", 2);
    test::configure(wqes_, "wqes", 2);
    test::configure(qp_control_, "qp_control", 2);
    test::configure(region_control_, "region_control", 2);
    test::configure(receive_control_, "receive_control", 2);
    test::configure(msn_control_, "msn_control", 2);
    open(kPsn, kMsn);
    set_region(true);
  }

  struct Rights {
    bool remote_write = true, remote_read = true;
  };
  // A new life of the QP, without receive work requests.
  void open(uint32_t psn, uint32_t msn) { open(psn, msn, Rights()); }
  void open(uint32_t psn, uint32_t msn, const Rights& rights) {
    hw::ReceiveQueueControl r;
    r.qpn = hw::Qpn(kQpn);
    receive_control_.write(r);
    hw::QpStateControl q;
    q.qpn = hw::Qpn(kQpn);
    q.expected = Psn(psn);
    q.pmtu = hw::PmtuCode(3);
    q.rnr_timer = Bits<5>(kRnr & 31);
    q.receive = Bits<1>(1);
    q.remote_write = Bits<1>(rights.remote_write);
    q.remote_read = Bits<1>(rights.remote_read);
    qp_control_.write(q);
    hw::MsnControl m;
    m.qpn = hw::Qpn(kQpn);
    m.msn = Bits<24>(msn);
    m.pmtu = hw::PmtuCode(3);
    m.max_reads = Bits<5>(kReads);
    msn_control_.write(m);
    settle();
  }
  void set_region(bool right, bool valid = true) {
    hw::RegionControl c;
    c.rkey = Bits<32>(kKey);
    c.va = Bits<64>(kVa);
    c.length = Bits<64>(kRegion);
    c.address = Bits<64>(kHost);
    c.valid = Bits<1>(valid);
    c.remote_write = Bits<1>(right);
    c.remote_read = Bits<1>(right);
    region_control_.write(c);
    settle();
  }
  void post(uint32_t index, uint32_t room = kRoom) {
    hw::ReceiveWqe w;
    w.qpn = hw::Qpn(kQpn);
    w.address = Bits<64>(kInbox + 0x10000 * uint64_t(index));
    w.length = Bits<32>(room);
    w.index = Bits<16>(index);
    wqes_.write(w);
    settle();
  }
  static uint64_t inbox(uint32_t index) { return kInbox + 0x10000 * uint64_t(index); }
  // The oldest READ that is served has been.
  void give_back() {
    hw::ReadServed s;
    s.qpn = hw::Qpn(kQpn);
    served_.write(s);
    settle();
  }

  Outcome send(const RxTransport& r) {
    packet_.write(r);
    settle();
    Outcome o;
    const hw::RxVerdict v = verdict_.read();
    EXPECT_EQ(v.placement.body, r.body) << "a payload must meet its verdict whatever that is";
    EXPECT_FALSE(bool(v.answer));
    o.placed = bool(v.placement.keep);
    o.address = v.placement.address.u64();
    o.completed = bool(v.placement.completes);
    o.completion = v.placement.completion;
    if (response_.empty()) return o;
    const hw::Response a = response_.read();
    EXPECT_EQ(a.qpn.u64(), kQpn);
    o.served = bool(a.read);
    o.answered = !o.served;
    o.syndrome = a.syndrome.u64();
    o.psn = a.psn.v.u64();
    o.msn = a.msn.u64();
    if (!o.served) return o;
    EXPECT_EQ(a.pmtu.u64(), 3u);
    o.source = a.address.u64();
    o.bytes = a.bytes.u64();
    return o;
  }

  hw::tables::QpState qp_state;
  hw::tables::MemoryRegion memory_region;
  hw::tables::ReceiveQueue receive_queue;
  hw::tables::Msn msn;

 private:
  void settle() {
    bench_.run(12, [this] {
      qp_state.step(packet_, qp_control_, posted_, checked_);
      memory_region.step(checked_, region_control_, permitted_);
      receive_queue.step(permitted_, wqes_, receive_control_, received_, posted_);
      msn.step(received_, msn_control_, served_, verdict_, response_);
    });
  }
  test::Bench bench_;
  hls::stream<RxTransport> packet_;
  hls::stream<hw::RxChecked> checked_, permitted_, received_;
  hls::stream<hw::RxVerdict> verdict_;
  hls::stream<hw::Response> response_;
  hls::stream<hw::ReceivePosted> posted_;
  hls::stream<hw::ReadServed> served_;
  hls::stream<hw::ReceiveWqe> wqes_;
  hls::stream<hw::QpStateControl> qp_control_;
  hls::stream<hw::RegionControl> region_control_;
  hls::stream<hw::ReceiveQueueControl> receive_control_;
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
  RxTransport quiet = only(kPsn);
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
  RxTransport empty = request(kOnly, kPsn, 0, 0, 0xdead);
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
    std::vector<RxTransport> before;
    RxTransport wrong;
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
    for (const RxTransport& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
  open(kPsn, kMsn);
  EXPECT_ANSWER(send(only(kPsn, kPmtu)), true, kAck, kPsn, kMsn + 1);
}

TEST_F(Responder, Row25_TheLengthOfTheRethAgainstThePayloads) {
  const struct {
    std::vector<RxTransport> before;
    RxTransport wrong;
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
    for (const RxTransport& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
}

TEST_F(Responder, Row26_TheSequenceOfOpcodes) {
  const RxTransport first = request(kFirst, kPsn, kPmtu, 3 * kPmtu), send_first = request(kSendFirst, kPsn, kPmtu);
  const struct {
    std::vector<RxTransport> before;
    RxTransport wrong;
  } cases[] = {
      {{}, request(kMiddle, kPsn, kPmtu)},
      {{}, request(kLast, kPsn, 100)},
      {{first}, request(kFirst, kPsn + 1, kPmtu, 3 * kPmtu)},
      {{first}, only(kPsn + 1)},
      {{first}, request(kSendOnly, kPsn + 1, 64)},
      {{first}, request(kSendFirst, kPsn + 1, kPmtu)},
      {{first}, request(kSendMiddle, kPsn + 1, kPmtu)},
      {{first}, request(kSendLast, kPsn + 1, 64)},
      {{first}, request(kRead, kPsn + 1, 0, 64)},
      {{first}, request(kOnlyImm, kPsn + 1, 64, 64)},
      {{}, request(kSendMiddle, kPsn, kPmtu)},
      {{}, request(kSendLast, kPsn, 64)},
      {{}, request(kLastImm, kPsn, 64)},
      {{send_first}, request(kMiddle, kPsn + 1, kPmtu)},
      {{send_first}, request(kLast, kPsn + 1, 64)},
      {{send_first}, request(kLastImm, kPsn + 1, 64)},
      {{send_first}, request(kSendFirst, kPsn + 1, kPmtu)},
      {{send_first}, request(kSendOnly, kPsn + 1, 64)},
      {{send_first}, only(kPsn + 1)},
      {{send_first}, request(kRead, kPsn + 1, 0, 64)},
      {{}, request(kRead, kPsn, 64, 64)},  // a READ request brings no payload
  };
  for (const auto& c : cases) {
    open(kPsn, kMsn);
    for (uint32_t i = 0; i < 2; i++) post(i);
    for (const RxTransport& r : c.before) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
}

TEST_F(Responder, Row27_AnInvalidKeyIsRefusedAtTheFirstPacket) {
  RxTransport bad = request(kFirst, kPsn, kPmtu, 2 * kPmtu);
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
  Rights none;
  none.remote_write = false;
  open(kPsn, kMsn, none);
  EXPECT_REFUSED(send(only(kPsn)), kNakInvalid, kPsn);
  EXPECT_EQ(msn.rx_write_requests.v.u64(), 1u);  // B.2: without the QP's right it is not counted
}

TEST_F(Responder, ANakAcknowledgesWhatPrecedesItUnasked) {
  RxTransport quiet = only(kPsn);
  quiet.ack_request = Bits<1>(0);
  EXPECT_FALSE(send(quiet).answered);
  EXPECT_ANSWER(send(request(kOnly, kPsn + 1, 64, 64, 0)), false, kNakAccess, kPsn + 1, kMsn + 1);
}

// ------------------------------------------------------------------------------------------ SEND and immediate data

TEST_F(Responder, ASendFillsTheOldestReceiveAndCompletesItWithItsLength) {
  for (uint32_t i = 0; i < 3; i++) post(7 + i);
  const Outcome one = send(request(kSendOnly, kPsn, 100));
  EXPECT_ANSWER(one, true, kAck, kPsn, kMsn + 1);
  EXPECT_PLACED(one, inbox(7));
  EXPECT_COMPLETED(one, 7u, 100u, false);
  EXPECT_FALSE(bool(one.completion.has_immediate));
  EXPECT_EQ(bool(one.completion.solicited), kPsn % 2 != 0);

  const Outcome first = send(request(kSendFirst, kPsn + 1, kPmtu));
  EXPECT_ANSWER(first, true, kAck, kPsn + 1, kMsn + 1);
  EXPECT_PLACED(first, inbox(8));
  EXPECT_FALSE(first.completed);
  EXPECT_PLACED(send(request(kSendMiddle, kPsn + 2, kPmtu)), inbox(8) + kPmtu);
  const Outcome last = send(request(kSendLastImm, kPsn + 3, 5));
  EXPECT_ANSWER(last, true, kAck, kPsn + 3, kMsn + 2);
  EXPECT_PLACED(last, inbox(8) + 2 * kPmtu);
  EXPECT_COMPLETED(last, 8u, 2 * kPmtu + 5, false);
  EXPECT_TRUE(bool(last.completion.has_immediate));
  EXPECT_EQ(last.completion.immediate.u64(), 0xcafe0000u | (kPsn + 3));

  const Outcome empty = send(request(kSendOnlyImm, kPsn + 4, 0));
  EXPECT_ANSWER(empty, true, kAck, kPsn + 4, kMsn + 3);
  EXPECT_COMPLETED(empty, 9u, 0u, false);
  EXPECT_TRUE(bool(empty.completion.has_immediate));
}

TEST_F(Responder, Row30_ASendFitsExactlyOrIsShorterOrIsRefused) {
  const struct {
    uint32_t room;
    std::vector<RxTransport> good;
    RxTransport wrong;
  } cases[] = {
      {100, {}, request(kSendOnly, kPsn, 101)},
      {0, {}, request(kSendOnly, kPsn, 1)},
      {kPmtu - 1, {}, request(kSendFirst, kPsn, kPmtu)},
      {kPmtu, {request(kSendFirst, kPsn, kPmtu)}, request(kSendLast, kPsn + 1, 1)},
      {kPmtu, {request(kSendFirst, kPsn, kPmtu)}, request(kSendMiddle, kPsn + 1, kPmtu)},
      {2 * kPmtu + 9,
       {request(kSendFirst, kPsn, kPmtu), request(kSendMiddle, kPsn + 1, kPmtu)},
       request(kSendLast, kPsn + 2, 10)},
      {kRoom, {request(kSendFirst, kPsn, kPmtu)}, request(kSendLast, kPsn + 1, 0)},  // D.2, row 24: a Last has bytes
      {kRoom, {}, request(kSendFirst, kPsn, kPmtu - 1)},
      {kRoom, {}, request(kSendOnly, kPsn, kPmtu + 1)},
  };
  for (const auto& c : cases) {
    open(kPsn, kMsn);
    post(1, c.room);
    for (const RxTransport& r : c.good) EXPECT_ANSWER(send(r), true, kAck, r.psn.v.u64(), uint64_t(kMsn));
    EXPECT_REFUSED(send(c.wrong), kNakInvalid, c.wrong.psn.v.u64());
  }
  open(kPsn, kMsn);
  post(1, 2 * kPmtu + 10);
  EXPECT_PLACED(send(request(kSendFirst, kPsn, kPmtu)), inbox(1));
  EXPECT_PLACED(send(request(kSendMiddle, kPsn + 1, kPmtu)), inbox(1) + kPmtu);
  EXPECT_COMPLETED(send(request(kSendLast, kPsn + 2, 10)), 1u, 2 * kPmtu + 10, false);
}

TEST_F(Responder, AWriteWithImmediateCompletesAReceiveAndGoesElsewhere) {
  for (uint32_t i = 0; i < 3; i++) post(i);
  const Outcome one = send(request(kOnlyImm, kPsn, 64, 64, kVa + 8));
  EXPECT_PLACED(one, kHost + 8);
  EXPECT_COMPLETED(one, 0u, 64u, true);
  EXPECT_TRUE(bool(one.completion.has_immediate));
  EXPECT_EQ(one.completion.immediate.u64(), 0xcafe0000u | kPsn);

  EXPECT_PLACED(send(request(kFirst, kPsn + 1, kPmtu, 2 * kPmtu + 3)), kHost);
  EXPECT_PLACED(send(request(kMiddle, kPsn + 2, kPmtu)), kHost + kPmtu);
  const Outcome last = send(request(kLastImm, kPsn + 3, 3));
  EXPECT_ANSWER(last, true, kAck, kPsn + 3, kMsn + 2);
  EXPECT_COMPLETED(last, 1u, 2 * kPmtu + 3, true);

  // D.2: of no bytes, without a key
  RxTransport empty = request(kOnlyImm, kPsn + 4, 0, 0, 0);
  empty.rkey = Bits<32>(0);
  EXPECT_COMPLETED(send(empty), 2u, 0u, true);
  EXPECT_FALSE(send(only(kPsn + 5)).completed);
}

TEST_F(Responder, Rows14_16_17_WithoutAReceiveAnRnrNakThenSilenceUntilThePacketComesAgain) {
  send(only(kPsn));
  EXPECT_ANSWER(send(request(kSendOnly, kPsn + 1, 64)), false, kRnr, kPsn + 1, kMsn + 1);
  EXPECT_SILENCE(send(only(kPsn + 2)));
  EXPECT_ANSWER(send(only(kPsn)), false, kAck, kPsn, kMsn + 1);
  EXPECT_ANSWER(send(request(kSendOnly, kPsn + 1, 64)), false, kRnr, kPsn + 1, kMsn + 1);
  post(3);
  const Outcome received = send(request(kSendOnly, kPsn + 1, 64));
  EXPECT_ANSWER(received, true, kAck, kPsn + 1, kMsn + 2);
  EXPECT_COMPLETED(received, 3u, 64u, false);
  EXPECT_ANSWER(send(only(kPsn + 2)), true, kAck, kPsn + 2, kMsn + 3);
}

TEST_F(Responder, AnRnrNakAtTheLastOfAWriteKeepsTheMessage) {
  EXPECT_PLACED(send(request(kFirst, kPsn, kPmtu, kPmtu + 3)), kHost);
  EXPECT_ANSWER(send(request(kLastImm, kPsn + 1, 3)), false, kRnr, kPsn + 1, kMsn);
  post(5);
  const Outcome last = send(request(kLastImm, kPsn + 1, 3));
  EXPECT_PLACED(last, kHost + kPmtu);
  EXPECT_COMPLETED(last, 5u, kPmtu + 3, true);
}

TEST_F(Responder, Row3_ADuplicateSendTakesNoReceive) {
  post(1);
  post(2);
  EXPECT_COMPLETED(send(request(kSendOnly, kPsn, 64)), 1u, 64u, false);
  const Outcome again = send(request(kSendOnly, kPsn, 64));
  EXPECT_ANSWER(again, false, kAck, kPsn, kMsn + 1);
  EXPECT_FALSE(again.completed);
  EXPECT_COMPLETED(send(request(kSendOnly, kPsn + 1, 64)), 2u, 64u, false);
}

// ------------------------------------------------------------------------------------------------------------- READ

TEST_F(Responder, AReadTakesAPsnForEachResponseAndCountsAsAMessage) {
  EXPECT_SERVED(send(read(kPsn, 64, kVa + 16)), kPsn, kMsn + 1, kHost + 16, 64u);
  EXPECT_SERVED(send(read(kPsn + 1, 3 * kPmtu)), kPsn + 1, kMsn + 2, kHost, 3 * kPmtu);
  EXPECT_SERVED(send(read(kPsn + 4, 3 * kPmtu + 1)), kPsn + 4, kMsn + 3, kHost, 3 * kPmtu + 1);
  EXPECT_ANSWER(send(only(kPsn + 8)), true, kAck, kPsn + 8, kMsn + 4);
  EXPECT_EQ(msn.rx_read_requests.v.u64(), 3u);
}

TEST_F(Responder, Row22_AReadOfNoBytesNeedsNoKey) {
  RxTransport empty = read(kPsn, 0, 0xdead);
  empty.rkey = Bits<32>(0xbad);
  const Outcome o = send(empty);
  ASSERT_TRUE(o.served);
  EXPECT_EQ(o.bytes, 0u);
  EXPECT_ANSWER(send(only(kPsn + 1)), true, kAck, kPsn + 1, kMsn + 2);
}

TEST_F(Responder, Row3_ADuplicateReadIsServedAgainWithItsPsnAndDisturbsNothing) {
  send(read(kPsn, 4 * kPmtu));
  EXPECT_PLACED(send(request(kFirst, kPsn + 4, kPmtu, kPmtu + 3)), kHost);
  EXPECT_SERVED(send(read(kPsn, 4 * kPmtu)), kPsn, kMsn + 1, kHost, 4 * kPmtu);
  EXPECT_SERVED(send(read(kPsn + 2, 2 * kPmtu, kVa + 2 * kPmtu)), kPsn + 2, kMsn + 1, kHost + 2 * kPmtu, 2 * kPmtu);
  const Outcome last = send(request(kLast, kPsn + 5, 3));
  EXPECT_PLACED(last, kHost + kPmtu);
  EXPECT_ANSWER(last, true, kAck, kPsn + 5, kMsn + 2);
  EXPECT_EQ(msn.rx_read_requests.v.u64(), 1u);
}

TEST_F(Responder, D2_ADuplicateReadIsCheckedAgain) {
  send(read(kPsn, 64));
  set_region(true, false);
  EXPECT_ANSWER(send(read(kPsn, 64)), false, kNakAccess, kPsn, kMsn + 1);
  set_region(true);
  EXPECT_SERVED(send(read(kPsn, 64)), kPsn, kMsn + 1, kHost, 64u);
}

TEST_F(Responder, Row32_OneReadTooManyIsRefusedAndADuplicateTooManyDropped) {
  for (uint32_t i = 0; i < kReads; i++) EXPECT_TRUE(send(read(kPsn + i, 64)).served);
  EXPECT_SILENCE(send(read(kPsn, 64)));
  give_back();
  EXPECT_TRUE(send(read(kPsn, 64)).served);
  EXPECT_SILENCE(send(read(kPsn, 64)));
  give_back();
  EXPECT_TRUE(send(read(kPsn + kReads, 64)).served);
  EXPECT_ANSWER(send(read(kPsn + kReads + 1, 64)), false, kNakInvalid, kPsn + kReads + 1, kMsn + kReads + 1);
  EXPECT_SILENCE(send(only(kPsn + kReads + 2)));
  open(kPsn, kMsn);  // another life has all its places, and no more
  give_back();       // of the old one
  for (uint32_t i = 0; i < kReads; i++) EXPECT_TRUE(send(read(kPsn + i, 64)).served);
  EXPECT_SILENCE(send(read(kPsn, 64)));
}

TEST_F(Responder, Rows27_28_29_AReadWithoutTheKeyOrTheRight) {
  RxTransport bad = read(kPsn, 64);
  bad.rkey = Bits<32>(kKey + 1);
  EXPECT_REFUSED(send(bad), kNakAccess, kPsn);
  open(kPsn, kMsn);
  EXPECT_REFUSED(send(read(kPsn, 64, kVa + kRegion - 63)), kNakAccess, kPsn);
  open(kPsn, kMsn);
  set_region(false);
  EXPECT_REFUSED(send(read(kPsn, 64)), kNakAccess, kPsn);
  set_region(true);
  Rights none;
  none.remote_read = false;
  open(kPsn, kMsn, none);
  EXPECT_REFUSED(send(read(kPsn, 64)), kNakInvalid, kPsn);
  open(kPsn, kMsn, none);
  EXPECT_ANSWER(send(only(kPsn)), true, kAck, kPsn, kMsn + 1);
}

TEST_F(Responder, Row35_AReservedOpcodeIsDroppedAndTakesNoPsn) {
  EXPECT_SILENCE(send(request(0x1f, kPsn, 0)));
  EXPECT_ANSWER(send(only(kPsn)), true, kAck, kPsn, kMsn + 1);
}

// A requester that goes back as it is told, on a wire that loses, repeats and delays, and a host that posts its receive
// work requests late: every byte of every message is placed once, in order, where it belongs, each message that takes a
// receive completes it once, and the MSN counts the messages.
class LossyWire : public Responder {
 protected:
  struct Packet {
    RxTransport request;
    uint64_t address;
  };
  std::mt19937_64 random_;
  uint32_t psn0_ = 0;
  std::vector<Packet> packets_;
  std::vector<uint64_t> lengths_;  // of the messages that take a receive

  uint32_t psn_of(size_t packet) const { return uint32_t(psn0_ + packet) & 0xffffff; }

  void add_message() {
    const uint32_t length = random_() % 8 == 0 ? 0 : uint32_t(random_() % (4 * kPmtu));
    const bool is_send = random_() % 2 != 0, immediate = random_() % 2 != 0;
    const uint64_t offset = random_() % (kRegion - length);
    const uint64_t address = is_send ? inbox(uint32_t(lengths_.size())) : kHost + offset;
    if (is_send || immediate) lengths_.push_back(length);
    uint32_t done = 0;
    do {
      const uint32_t bytes = std::min(kPmtu, length - done);
      const bool starts = done == 0, ends = done + bytes == length;
      const unsigned place = (starts ? (ends ? 4 : 0) : ends ? 2 : 1) + (ends && immediate ? 1 : 0);
      const uint32_t dma_length = starts && !is_send ? length : 0;
      packets_.push_back({request(uint8_t((is_send ? kSendFirst : kFirst) + place), psn_of(packets_.size()), bytes,
                                  dma_length, kVa + offset),
                          address + done});
      packets_.back().request.ack_request = Bits<1>(ends);
      done += bytes;
    } while (done < length);
  }
};

TEST_F(LossyWire, WhateverItDoesEachMessageIsPlacedOnce) {
  uint64_t not_ready = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    random_.seed(seed);
    packets_.clear();
    lengths_.clear();
    psn0_ = 0xffffff & uint32_t(0xffffe0 + random_() % 64);
    const uint32_t messages = 40;
    for (uint32_t m = 0; m < messages; m++) add_message();
    open(psn0_, 0);
    std::vector<uint64_t> placed, completed;
    uint64_t last_msn = 0;
    uint32_t posted = 0;
    size_t next = 0, acknowledged = 0;
    for (int i = 0; i < 20000 && acknowledged < packets_.size(); i++) {
      if (posted < lengths_.size() && random_() % 4 == 0) post(posted++, 4 * kPmtu);
      if (next == packets_.size()) next = acknowledged;  // time-out
      size_t which = next;
      const unsigned fault = unsigned(random_() % 10);
      if (fault == 0) which = random_() % packets_.size();  // early, or late: an old copy
      if (fault != 0) next++;
      if (fault == 1) continue;  // lost
      const Outcome o = send(packets_[which].request);
      if (o.placed) {
        ASSERT_EQ(which, placed.size()) << "out of order or twice";
        placed.push_back(o.address);
      }
      if (o.completed) {
        ASSERT_EQ(o.completion.index.u64(), completed.size());
        completed.push_back(o.completion.bytes.u64());
      }
      if (!o.answered || random_() % 8 == 0) continue;  // the answer is lost
      last_msn = o.msn;
      const size_t answered = (o.psn - psn0_) & 0xffffff;
      ASSERT_TRUE(o.syndrome == kAck || o.syndrome == kNakSequence || o.syndrome == kRnr);
      acknowledged = std::max<size_t>(acknowledged, (o.syndrome == kAck ? answered + 1 : answered) & 0xffffff);
      if (o.syndrome != kAck) next = answered;
      not_ready += o.syndrome == kRnr;
    }
    ASSERT_EQ(placed.size(), packets_.size()) << "seed " << seed;
    for (size_t i = 0; i < packets_.size(); i++)
      ASSERT_TRUE(packets_[i].request.payload.u64() == 0 || placed[i] == packets_[i].address) << i;
    EXPECT_EQ(completed, lengths_);
    EXPECT_EQ(last_msn, messages);
  }
  EXPECT_GT(not_ready, 20u);
}

}  // namespace
