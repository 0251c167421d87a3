#include <deque>
#include <map>

#include "bench.hpp"
#include "hw/tables/outstanding_reads.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::OutstandingReadsControl;
using hw::Placement;
using hw::Psn;
using hw::ReadAnswered;
using hw::ReadIssued;
using hw::RxVerdict;

constexpr uint8_t kFirst = 0x0d, kMiddle = 0x0e, kLast = 0x0f, kOnly = 0x10, kAcknowledge = 0x11, kWriteOnly = 0x0a;
constexpr uint64_t kAck = 0x1f, kRnr = 0x2c, kNakSequence = 0x60, kNakAccess = 0x62;
constexpr uint32_t kMask = 0xffffff;

OutstandingReadsControl open(uint32_t qpn, unsigned pmtu_code) {
  OutstandingReadsControl c;
  c.qpn = hw::Qpn(qpn);
  c.pmtu = hw::PmtuCode(pmtu_code);
  return c;
}
ReadIssued issue(uint32_t qpn, uint32_t psn, uint64_t address, uint32_t bytes) {
  ReadIssued r;
  r.qpn = hw::Qpn(qpn);
  r.psn = Psn(psn & kMask);
  r.local_address = Bits<64>(address);
  r.bytes = Bits<32>(bytes);
  return r;
}
RxVerdict answer(uint32_t qpn, uint8_t opcode, uint32_t psn, uint32_t bytes, uint64_t syndrome = kAck) {
  RxVerdict v;
  v.answer = Bits<1>(1);
  v.opcode = Bits<8>(opcode);
  v.placement.body = Bits<1>(bytes > 0);
  v.placement.bytes = hw::PacketBytes(bytes);
  v.placement.ack.qpn = hw::Qpn(qpn);
  v.placement.ack.psn = Psn(psn & kMask);
  v.placement.ack.syndrome = Bits<8>(syndrome);
  v.placement.ack.msn = Bits<24>(psn * 3);
  return v;
}
RxVerdict acknowledge(uint32_t qpn, uint32_t psn, uint64_t syndrome = kAck) {
  return answer(qpn, kAcknowledge, psn, 0, syndrome);
}

// The stage with inputs that a test fills as it goes.
struct Harness {
  test::Bench bench;
  hls::stream<RxVerdict> in;
  hls::stream<ReadIssued> issued;
  hls::stream<OutstandingReadsControl> control;
  hls::stream<Placement> out;
  hls::stream<ReadAnswered> answered;
  test::Sink<Placement> placements;
  test::Sink<ReadAnswered> answers;
  hw::tables::OutstandingReads stage;

  explicit Harness(uint64_t seed = 1, unsigned sink = 100)
      : bench(seed), placements(bench, out, sink), answers(bench, answered, sink) {
    test::configure(in, "in", 4);
    test::configure(issued, "issued", 4);
    test::configure(control, "control", 2);
    test::configure(out, "out", 4);
    test::configure(answered, "answered", 4);
  }
  void step() { stage.step(in, issued, control, out, answered); }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { step(); });
  }
};

// --------------------------------------------------------------------------------------- rule by rule, one by one

// PMTU 256. What becomes of one packet: whether its payload is kept, and the acknowledgement told.
class OutstandingReads : public testing::Test {
 protected:
  static constexpr uint32_t kQpn = 7, kPmtu = 256;
  Harness h;

  OutstandingReads() { control(open(kQpn, 1)); }
  void control(const OutstandingReadsControl& c) {
    h.control.write(c);
    h.run(6);
  }
  void read(uint32_t psn, uint64_t address, uint32_t bytes) {
    h.issued.write(issue(kQpn, psn, address, bytes));
    h.run(6);
  }
  Placement send(const RxVerdict& v) {
    h.in.write(v);
    h.run(8);
    EXPECT_FALSE(h.placements.tokens.empty());
    const Placement p = h.placements.tokens.back();
    h.placements.tokens.clear();
    EXPECT_EQ(p.body, v.placement.body) << "a payload must meet its verdict whatever that is";
    EXPECT_FALSE(bool(p.completes));
    return p;
  }
  size_t finished() const { return h.answers.tokens.size(); }
};
#define EXPECT_PLACED(packet, at)                               \
  do {                                                          \
    const RxVerdict placed_packet = (packet);                   \
    const Placement placed = send(placed_packet);               \
    EXPECT_TRUE(bool(placed.keep));                             \
    EXPECT_EQ(placed.address.u64(), uint64_t(at));              \
    EXPECT_TRUE(bool(placed.acknowledges));                     \
    EXPECT_EQ(placed.ack.psn, placed_packet.placement.ack.psn); \
    EXPECT_EQ(placed.ack.syndrome.u64(), kAck);                 \
  } while (false)
#define EXPECT_IMPLIED_NAK(packet, of_psn)             \
  do {                                                 \
    const Placement told = send(packet);               \
    EXPECT_FALSE(bool(told.keep));                     \
    EXPECT_TRUE(bool(told.acknowledges));              \
    EXPECT_EQ(told.ack.psn.v.u64(), uint64_t(of_psn)); \
    EXPECT_EQ(told.ack.syndrome.u64(), kNakSequence);  \
    EXPECT_EQ(told.ack.qpn.u64(), uint64_t(kQpn));     \
  } while (false)
#define EXPECT_PASSED(packet)                                                   \
  do {                                                                          \
    const RxVerdict passed_packet = (packet);                                   \
    const Placement passed = send(passed_packet);                               \
    EXPECT_FALSE(bool(passed.keep));                                            \
    EXPECT_TRUE(bool(passed.acknowledges));                                     \
    EXPECT_EQ(test::text(passed.ack), test::text(passed_packet.placement.ack)); \
  } while (false)
#define EXPECT_DROPPED(packet)                \
  do {                                        \
    const Placement dropped = send(packet);   \
    EXPECT_FALSE(bool(dropped.keep));         \
    EXPECT_FALSE(bool(dropped.acknowledges)); \
  } while (false)

TEST_F(OutstandingReads, ResponsesInOrderGoWhereTheReadSaysAcrossThePsnWrap) {
  read(0xfffffe, 0x10000, 3 * kPmtu + 20);
  EXPECT_PLACED(answer(kQpn, kFirst, 0xfffffe, kPmtu), 0x10000);
  EXPECT_PLACED(answer(kQpn, kMiddle, 0xffffff, kPmtu, 0), 0x10000 + kPmtu);
  EXPECT_PLACED(answer(kQpn, kMiddle, 0, kPmtu, 0), 0x10000 + 2 * kPmtu);
  EXPECT_EQ(finished(), 0u);
  EXPECT_PLACED(answer(kQpn, kLast, 1, 20), 0x10000 + 3 * kPmtu);
  EXPECT_EQ(finished(), 1u);
  EXPECT_EQ(h.stage.rx_read_responses.v.u64(), 4u);
}

TEST_F(OutstandingReads, Row22_AReadOfNoBytesIsAnsweredByAnOnlyWithoutPayload) {
  read(5, 0x10000, 0);
  EXPECT_DROPPED(answer(kQpn, kOnly, 5, 1));
  EXPECT_PLACED(answer(kQpn, kOnly, 5, 0), 0x10000);
  EXPECT_EQ(finished(), 1u);
}

TEST_F(OutstandingReads, WithoutAReadAcknowledgementsPassAndResponsesAreDropped) {
  for (const uint64_t syndrome : {kAck, uint64_t(5), kRnr, kNakSequence, kNakAccess})
    EXPECT_PASSED(acknowledge(kQpn, 77, syndrome));
  for (const uint8_t opcode : {kFirst, kMiddle, kLast, kOnly}) EXPECT_DROPPED(answer(kQpn, opcode, 77, kPmtu));
  EXPECT_EQ(h.stage.unexpected_responses.v.u64(), 4u);
}

TEST_F(OutstandingReads, RequestsPassWithTheirVerdict) {
  read(5, 0x10000, 100);
  RxVerdict v = answer(kQpn, kWriteOnly, 5, 100);
  v.answer = Bits<1>(0);
  v.placement.keep = Bits<1>(1);
  v.placement.address = Bits<64>(0xabc);
  h.in.write(v);
  RxVerdict dropped = answer(kQpn, kOnly, 5, 100);  // before it came here
  dropped.answer = Bits<1>(0);
  h.bench.run(1, [this] { h.step(); });
  h.in.write(dropped);
  h.run(8);
  ASSERT_EQ(h.placements.tokens.size(), 2u);
  EXPECT_EQ(test::text(h.placements.tokens[0]), test::text(v.placement));
  EXPECT_EQ(test::text(h.placements.tokens[1]), test::text(dropped.placement));
}

TEST_F(OutstandingReads, Row26_AResponseOfAWrongOpcodeOrLengthIsDroppedAndChangesNothing) {
  read(5, 0x10000, 2 * kPmtu + 20);
  const struct {
    uint8_t opcode;
    uint32_t bytes;
  } first[] = {{kMiddle, kPmtu},    {kLast, 20},         {kOnly, 20}, {kOnly, kPmtu},
               {kFirst, kPmtu - 1}, {kFirst, kPmtu + 1}, {kFirst, 0}};
  for (const auto& w : first) EXPECT_DROPPED(answer(kQpn, w.opcode, 5, w.bytes));
  EXPECT_PLACED(answer(kQpn, kFirst, 5, kPmtu), 0x10000);
  for (const auto& w : {first[1], first[3], first[4]}) EXPECT_DROPPED(answer(kQpn, w.opcode, 6, w.bytes));
  EXPECT_PLACED(answer(kQpn, kMiddle, 6, kPmtu), 0x10000 + kPmtu);
  for (const uint32_t bytes : {0u, 19u, 21u, kPmtu}) EXPECT_DROPPED(answer(kQpn, kLast, 7, bytes));
  EXPECT_DROPPED(answer(kQpn, kMiddle, 7, kPmtu));
  EXPECT_PLACED(answer(kQpn, kLast, 7, 20), 0x10000 + 2 * kPmtu);
  EXPECT_EQ(h.stage.bad_responses.v.u64(), 7u + 3u + 5u);
}

TEST_F(OutstandingReads, Row5_TheTailMayBeginAnewOrGoOn) {
  for (const bool anew : {true, false}) {
    control(open(kQpn, 1));
    read(5, 0x10000, 3 * kPmtu);
    EXPECT_PLACED(answer(kQpn, kFirst, 5, kPmtu), 0x10000);
    EXPECT_PLACED(answer(kQpn, anew ? kFirst : kMiddle, 6, kPmtu), 0x10000 + kPmtu);
    EXPECT_PLACED(answer(kQpn, anew ? kOnly : kLast, 7, kPmtu), 0x10000 + 2 * kPmtu);
  }
  EXPECT_EQ(finished(), 2u);
}

TEST_F(OutstandingReads, Row7_AResponseAheadIsAnImpliedNakOnceAndAgainAfterProgress) {
  read(5, 0x10000, 5 * kPmtu);
  EXPECT_PLACED(answer(kQpn, kFirst, 5, kPmtu), 0x10000);
  EXPECT_IMPLIED_NAK(answer(kQpn, kMiddle, 7, kPmtu), 6);
  EXPECT_DROPPED(answer(kQpn, kMiddle, 8, kPmtu));
  EXPECT_DROPPED(acknowledge(kQpn, 20));
  EXPECT_DROPPED(answer(kQpn, kFirst, 5, kPmtu));  // old
  EXPECT_DROPPED(answer(kQpn, kLast, 6, 20));      // no progress
  EXPECT_DROPPED(answer(kQpn, kMiddle, 7, kPmtu));
  EXPECT_PLACED(answer(kQpn, kFirst, 6, kPmtu), 0x10000 + kPmtu);
  EXPECT_IMPLIED_NAK(answer(kQpn, kMiddle, 8, kPmtu), 7);
  EXPECT_EQ(h.stage.implied_nak_seq_err.v.u64(), 2u);
  EXPECT_EQ(h.stage.unexpected_responses.v.u64(), 1u);
}

TEST_F(OutstandingReads, Row8_AnAcknowledgementBeyondAnUnansweredReadIsAnImpliedNak) {
  const struct {
    uint32_t psn;
    uint64_t syndrome;
    bool passes;
  } cases[] = {
      {4, kAck, true},
      {5, kAck, false},
      {6, kAck, false},
      {5 + 0x7fffff, kAck, false},
      {5 + 0x800000, kAck, true},  // behind, modulo 2^24
      {4, kNakSequence, true},
      {5, kNakSequence, true},  // restart at the READ itself
      {6, kNakSequence, false},
      {5, kNakAccess, true},
      {6, kNakAccess, false},
      {5, kRnr, true},
      {6, kRnr, false},
      {5, 0x05, false},
      {4, 0x05, true},  // ACKs with limited credits
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::to_string(c.psn) + " " + std::to_string(c.syndrome));
    control(open(kQpn, 1));
    read(5, 0x10000, 100);
    if (c.passes) {
      EXPECT_PASSED(acknowledge(kQpn, c.psn, c.syndrome));
      EXPECT_PASSED(acknowledge(kQpn, c.psn, c.syndrome));
    } else {
      EXPECT_IMPLIED_NAK(acknowledge(kQpn, c.psn, c.syndrome), 5);
      EXPECT_DROPPED(acknowledge(kQpn, c.psn, c.syndrome));
    }
    EXPECT_PLACED(answer(kQpn, kOnly, 5, 100), 0x10000);
    EXPECT_PASSED(acknowledge(kQpn, c.psn, c.syndrome));
  }
}

TEST_F(OutstandingReads, AsManyReadsAsThereCanBeAreAnsweredInTurn) {
  for (int round = 0; round < 3; round++) {  // the ring wraps
    for (uint32_t i = 0; i < uint32_t(hw::kMaxReads); i++) read(10 * i, 0x10000 * i, 2 * kPmtu);
    for (uint32_t i = 0; i < uint32_t(hw::kMaxReads); i++) {
      EXPECT_PLACED(answer(kQpn, kFirst, 10 * i, kPmtu), 0x10000 * i);
      EXPECT_PASSED(acknowledge(kQpn, 10 * i));
      EXPECT_PLACED(answer(kQpn, kLast, 10 * i + 1, kPmtu), 0x10000 * i + kPmtu);
      EXPECT_DROPPED(answer(kQpn, kLast, 10 * i + 1, kPmtu));
    }
    control(open(kQpn, 1));  // PSNs begin anew
  }
  EXPECT_EQ(finished(), 3u * hw::kMaxReads);
}

TEST_F(OutstandingReads, ANewLifeForgetsTheReadsOfTheOldOne) {
  read(5, 0x10000, 100);
  read(6, 0x20000, 100);
  EXPECT_IMPLIED_NAK(acknowledge(kQpn, 6), 5);
  control(open(kQpn, 2));
  EXPECT_PASSED(acknowledge(kQpn, 6));
  EXPECT_DROPPED(answer(kQpn, kOnly, 5, 100));
  read(5, 0x30000, 512);
  EXPECT_IMPLIED_NAK(acknowledge(kQpn, 6), 5);
  EXPECT_PLACED(answer(kQpn, kOnly, 5, 512), 0x30000);
}

// ------------------------------------------------------------------------------------------------------ cycles

TEST(OutstandingReadsCycles, AResponseEverySecondCycleAlsoWhereTheNextReadMovesUp) {
  Harness h;
  h.control.write(open(3, 1));
  h.run(4);
  // 4 READs of 10 responses, then 4 of one.
  std::vector<ReadIssued> reads;
  std::vector<RxVerdict> packets;
  uint32_t psn = 0;
  for (uint32_t r = 0; r < 8; r++) {
    const uint32_t responses = r < 4 ? 10 : 1;
    reads.push_back(issue(3, psn, 0x1000 * r, responses * 256));
    for (uint32_t i = 0; i < responses; i++, psn++) {
      const bool last = i + 1 == responses;
      packets.push_back(answer(3, responses == 1 ? kOnly : i == 0 ? kFirst : last ? kLast : kMiddle, psn, 256));
    }
  }
  test::Source<ReadIssued> issues(h.bench, h.issued, reads);
  h.run(20);
  EXPECT_EQ(issues.cycles.back(), issues.cycles.front() + 7) << "a new READ a cycle";
  test::Source<RxVerdict> source(h.bench, h.in, packets);
  h.run(100);
  ASSERT_EQ(h.placements.tokens.size(), packets.size());
  EXPECT_EQ(h.placements.cycles[0], source.cycles[0] + 4);
  for (size_t i = 1; i < packets.size(); i++) EXPECT_EQ(h.placements.cycles[i], h.placements.cycles[i - 1] + 2) << i;
  for (const Placement& p : h.placements.tokens) EXPECT_TRUE(bool(p.keep));
  EXPECT_EQ(h.answers.tokens.size(), 8u);
}

// Rule 5 of the stage contract: no stream moves in the cycle in which an answer is compared.
TEST(OutstandingReadsCycles, AnAnswerAloneIsNotSleptOver) {
  Harness h;
  test::Source<RxVerdict> source(h.bench, h.in, {acknowledge(3, 1)});
  bool awake = false;
  h.bench.run(20, [&] {
    if (!awake && h.in.empty()) return;
    hw::world().acted = false;
    h.step();
    awake = hw::world().acted || h.stage.quiet() == 0;
  });
  EXPECT_EQ(h.placements.tokens.size(), 1u);
}

TEST(OutstandingReadsCycles, ARequestTakesACycleAndAnAcknowledgementTwo) {
  Harness h;
  std::vector<RxVerdict> packets;
  for (uint32_t i = 0; i < 100; i++) {
    packets.push_back(acknowledge(3, i));
    packets.back().answer = Bits<1>(i % 3 == 0);
  }
  test::Source<RxVerdict> source(h.bench, h.in, packets);
  h.run(150);
  ASSERT_EQ(h.placements.tokens.size(), packets.size());
  EXPECT_EQ(h.placements.cycles[0], source.cycles[0] + 4);
  for (size_t i = 1; i < packets.size(); i++)
    EXPECT_EQ(h.placements.cycles[i], h.placements.cycles[i - 1] + (i % 3 == 0 ? 2 : 1)) << i;
}

// ------------------------------------------------------------------------------------------------------ random

// In plain integers, asked in the order in which the stage takes.
struct Model {
  struct Read {
    uint64_t psn, address, left;
    bool begun = false;
  };
  struct Qp {
    uint64_t pmtu = 128;
    std::deque<Read> reads;
    bool told = false;
  };
  std::map<uint64_t, Qp> rows;
  std::vector<Placement> placements;
  std::vector<ReadAnswered> answers;
  std::map<std::string, uint64_t> seen;

  void take(const OutstandingReadsControl& c) {
    rows[c.qpn.u64()] = Qp();
    rows[c.qpn.u64()].pmtu = uint64_t(128) << c.pmtu.u64();
  }
  void take(const ReadIssued& r) {
    Qp& qp = rows[r.qpn.u64()];
    if (qp.reads.empty()) qp.told = false;
    qp.reads.push_back({r.psn.v.u64(), r.local_address.u64(), r.bytes.u64()});
    seen["deepest"] = std::max<uint64_t>(seen["deepest"], qp.reads.size());
  }
  void take(const RxVerdict& v) {
    Placement p = v.placement;
    if (bool(v.answer)) judge(v, p, rows[p.ack.qpn.u64()]);
    placements.push_back(p);
  }

  void judge(const RxVerdict& v, Placement& p, Qp& qp) {
    const bool response = v.opcode.u64() != kAcknowledge;
    const uint64_t syndrome = p.ack.syndrome.u64(), bytes = p.bytes.u64();
    if (qp.reads.empty()) {
      p.acknowledges = Bits<1>(!response);
      seen[response ? "unexpected" : "passed"]++;
      return;
    }
    Read& due = qp.reads.front();
    const uint64_t ahead = (p.ack.psn.v.u64() - due.psn) & kMask;
    const bool old = ahead >= 0x800000;
    if (response && ahead == 0) {
      if (!fits(v.opcode.u64(), bytes, due, qp.pmtu)) {
        seen["bad"]++;
        return;
      }
      seen["placed"]++;
      p.keep = Bits<1>(1);
      p.address = Bits<64>(due.address);
      p.acknowledges = Bits<1>(1);
      p.ack.syndrome = Bits<8>(kAck);
      due.psn = (due.psn + 1) & kMask;
      if (due.psn == 0) seen["wrap"]++;
      due.address += bytes;
      due.left -= bytes;
      due.begun = true;
      qp.told = false;
      if (v.opcode.u64() == kLast || v.opcode.u64() == kOnly) {
        answers.emplace_back();
        answers.back().qpn = p.ack.qpn;
        qp.reads.pop_front();
      }
    } else if (old && response) {
      seen["unexpected"]++;
    } else if (old || (!response && ahead == 0 && syndrome >= 0x20)) {
      p.acknowledges = Bits<1>(1);
      seen["passed"]++;
    } else if (!qp.told) {
      qp.told = true;
      p.acknowledges = Bits<1>(1);
      p.ack.psn = Psn(due.psn);
      p.ack.syndrome = Bits<8>(kNakSequence);
      seen["implied"]++;
    } else {
      seen["silent"]++;
    }
  }

  static bool fits(uint64_t opcode, uint64_t bytes, const Read& due, uint64_t pmtu) {
    if (!due.begun && (opcode == kMiddle || opcode == kLast)) return false;
    const bool end = due.left <= pmtu;
    return end ? (opcode == kLast || opcode == kOnly) && bytes == due.left
               : (opcode == kFirst || opcode == kMiddle) && bytes == pmtu;
  }
};

// The peers of 6 QPs: READs are issued, their responses come with gaps, copies and mistakes, between acknowledgements
// of whatever else was sent.
class Peers {
 public:
  explicit Peers(uint64_t seed) : random_(seed) {}

  std::vector<RxVerdict> packets;
  std::vector<ReadIssued> issues;
  std::vector<OutstandingReadsControl> controls;

  // At most one token in a cycle. `model`: what the stage has taken, `issues_taken` READs among it.
  void offer(Harness& h, const Model& model, size_t issues_taken) {
    const uint32_t q = uint32_t(random_() % 6);
    Model::Qp& qp = guess_.rows[q];
    if (one_in(50) && model.rows.count(q) != 0) qp = model.rows.at(q);
    if (model.rows.count(q) == 0 || one_in(1000)) {
      if (h.control.full()) return;
      put(h.control, controls, open(q, 1 + q % 5));
      next_psn_[q] = kMask - random_() % 8;
    } else if (one_in(3)) {
      const size_t most = model.rows.at(q).reads.size() + issues.size() - issues_taken;
      if (!h.issued.full() && most < size_t(hw::kMaxReads)) put(h.issued, issues, read(q, qp.pmtu));
    } else if (!h.in.full()) {
      put(h.in, packets, packet(q, qp));
    }
  }

 private:
  std::mt19937_64 random_;
  Model guess_;  // as if the stage took everything at once
  std::map<uint32_t, uint64_t> next_psn_;

  bool one_in(unsigned n) { return random_() % n == 0; }
  template <class T>
  void put(hls::stream<T>& s, std::vector<T>& log, const T& token) {
    s.write(token);
    log.push_back(token);
    guess_.take(token);
  }

  ReadIssued read(uint32_t q, uint64_t pmtu) {
    const uint64_t bytes = one_in(6) ? 0 : one_in(3) ? pmtu * (random_() % 5) : random_() % (5 * pmtu);
    const uint64_t psn = next_psn_[q] + random_() % 3;
    next_psn_[q] = psn + std::max<uint64_t>(1, (bytes + pmtu - 1) / pmtu);
    return issue(q, uint32_t(psn & kMask), random_(), uint32_t(bytes));
  }

  RxVerdict packet(uint32_t q, const Model::Qp& qp) {
    const Model::Read due = qp.reads.empty() ? Model::Read{next_psn_[q], 0, qp.pmtu} : qp.reads.front();
    const bool end = due.left <= qp.pmtu, begins = !due.begun || one_in(10);
    RxVerdict v = answer(q,
                         begins ? (end ? kOnly : kFirst)
                         : end  ? kLast
                                : kMiddle,
                         uint32_t(due.psn), uint32_t(end ? due.left : qp.pmtu));
    v.placement.tag.id = uint32_t(packets.size());
    const uint64_t fault = random_() % 32;
    if (fault < 3) v.placement.ack.psn = Psn((due.psn + fault - 1) & kMask);
    if (fault == 3) v.placement.bytes = hw::PacketBytes(random_() % 4097);
    if (fault == 4) v.opcode = Bits<8>(kFirst + random_() % 4);
    if (fault >= 5 && fault < 9) {
      static constexpr uint64_t kSyndromes[] = {kAck, 3, kRnr, kNakSequence, kNakAccess};
      v = acknowledge(q, uint32_t(due.psn + random_() % 5 - 3), kSyndromes[random_() % 5]);
    }
    if (fault == 9) v.answer = Bits<1>(0);
    if (fault == 10) v.placement.ack.psn = Psn(random_() & kMask);
    return v;
  }
};

TEST(OutstandingReadsRandom, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    const unsigned sink = seed % 3 == 0 ? 40 : seed % 3 == 1 ? 100 : 75, source = seed % 2 ? 100 : 60;
    Harness h(seed, sink);
    Model model;
    Peers peers(seed);
    size_t packets = 0, issues = 0, controls = 0;
    h.bench.add_port([&] {
      if (h.bench.now() < 20000 && h.bench.chance(source)) peers.offer(h, model, issues);
    });
    h.bench.run(20100, [&] {
      h.step();
      const hw::Cycles now = h.bench.now();
      if (h.in.last_read() == now) model.take(peers.packets[packets++]);
      if (h.issued.last_read() == now) model.take(peers.issues[issues++]);
      if (h.control.last_read() == now) model.take(peers.controls[controls++]);
    });
    ASSERT_EQ(packets, peers.packets.size());
    ASSERT_EQ(issues, peers.issues.size());
    ASSERT_EQ(h.placements.tokens.size(), model.placements.size());
    for (size_t i = 0; i < model.placements.size(); i++) {
      Placement& got = h.placements.tokens[i];
      ASSERT_EQ(got.tag.id, model.placements[i].tag.id);
      if (!bool(got.keep)) got.address = model.placements[i].address;  // of no meaning
      ASSERT_EQ(test::text(got), test::text(model.placements[i])) << "token " << i;
    }
    ASSERT_EQ(h.answers.tokens.size(), model.answers.size());
    for (size_t i = 0; i < model.answers.size(); i++) ASSERT_EQ(h.answers.tokens[i].qpn, model.answers[i].qpn);
    EXPECT_EQ(h.stage.rx_read_responses.v.u64(), model.seen["placed"]);
    EXPECT_EQ(h.stage.implied_nak_seq_err.v.u64(), model.seen["implied"]);
    EXPECT_EQ(h.stage.bad_responses.v.u64(), model.seen["bad"]);
    EXPECT_EQ(h.stage.unexpected_responses.v.u64(), model.seen["unexpected"]);
    EXPECT_EQ(model.seen["deepest"], uint64_t(hw::kMaxReads));
    for (const auto& s : model.seen) seen[s.first] += s.second;
  }
  for (const char* what : {"unexpected", "passed", "placed", "implied", "silent", "bad"}) EXPECT_GT(seen[what], 500u);
  EXPECT_GT(seen["wrap"], 10u);
}

}  // namespace
