#include <map>

#include "hw/tables/qp_state.hpp"
#include "table_bench.hpp"

namespace {

using hw::Bits;
using hw::Psn;
using hw::QpStateControl;
using hw::ReceivePosted;
using hw::RxChecked;
using hw::RxTransport;
using Table = test::TableBench<RxTransport, QpStateControl, ReceivePosted>;

enum : uint8_t {
  kSendOnly = 0x04,
  kWriteLast = 0x08,
  kWriteLastImm = 0x09,
  kWriteOnly = 0x0a,
  kRead = 0x0c,
  kAck = 0x11
};

RxTransport packet(uint32_t qpn, uint32_t psn, uint8_t opcode = kWriteOnly, uint32_t dma_length = 0,
                   uint8_t drop = hw::kKeep) {
  RxTransport r;
  r.opcode = Bits<8>(opcode);
  r.qpn = hw::Qpn(qpn);
  r.psn = Psn(psn & 0xffffff);
  r.dma_length = Bits<32>(dma_length);
  r.drop = hw::DropCode(drop);
  return r;
}

QpStateControl open(uint32_t qpn, uint32_t expected, unsigned pmtu = 3) {
  QpStateControl c;
  c.qpn = hw::Qpn(qpn);
  c.expected = Psn(expected & 0xffffff);
  c.pmtu = hw::PmtuCode(pmtu);
  c.rnr_timer = Bits<5>(qpn + 9);
  c.receive = c.remote_write = c.remote_read = Bits<1>(1);
  return c;
}

ReceivePosted posted(uint32_t qpn) {
  ReceivePosted p;
  p.qpn = hw::Qpn(qpn);
  return p;
}

// The PSNs that a READ takes, by division.
uint32_t psns_of(uint64_t bytes, unsigned pmtu) {
  const uint64_t size = uint64_t(128) << pmtu;
  return bytes == 0 ? 1 : uint32_t((bytes + size - 1) / size);
}

// The rules in plain integers, PSNs compared by sign extension.
struct Model {
  struct Qp {
    QpStateControl set;
    uint32_t expected = 0, receives = 0;
    bool silent = false, refused = false;
  };
  std::map<uint64_t, Qp> rows;
  std::vector<RxChecked> out;
  std::map<std::string, uint64_t> seen;

  void control(const QpStateControl& c) {
    Qp& qp = rows[c.qpn.u64() % hw::kMaxQps];
    qp = {c, uint32_t(c.expected.v.u64()), bool(c.receive) ? qp.receives : 0, false, false};
  }
  void event(const ReceivePosted& p) { rows[p.qpn.u64() % hw::kMaxQps].receives++; }

  void packet(const RxTransport& r) {
    Qp& qp = rows[r.qpn.u64() % hw::kMaxQps];
    RxChecked x;
    x.packet = r;
    x.expected = Psn(qp.expected);
    const uint64_t op = r.opcode.u64();
    if (r.drop.u64() != hw::kKeep)
      verdict(x, hw::kIgnore, r.drop.u64(), "dropped before");
    else if (!bool(qp.set.receive) || qp.set.qpn != r.qpn)
      verdict(x, hw::kIgnore, hw::kDropTransport, "no such QP");
    else if (op >= 0x0d && op <= 0x11)
      verdict(x, hw::kIgnore, hw::kKeep, "answer");
    else if (op > 0x11)
      verdict(x, hw::kIgnore, hw::kDropTransport, "no such opcode");
    else
      request(qp, x, unsigned(op));
  }
  void request(Qp& qp, RxChecked& x, unsigned op) {
    const bool read = op == 0x0c, write = op >= 0x06 && op <= 0x0b;
    const bool takes = op == 0x00 || op == 0x04 || op == 0x05 || op == 0x09 || op == 0x0b;
    const int32_t ahead = int32_t(uint32_t(x.packet.psn.v.u64() - qp.expected) << 8) >> 8;
    const bool denied = (read && !bool(qp.set.remote_read)) || (write && !bool(qp.set.remote_write));
    if (denied && (ahead == 0 || (ahead < 0 && read))) x.nak = Bits<8>(0x61);
    if (ahead > 0) {
      verdict(x, qp.silent ? hw::kIgnore : hw::kGap, hw::kDropSequence,
              qp.refused  ? "silent behind RNR"
              : qp.silent ? "silent"
                          : "gap");
      qp.silent = true;
    } else if (ahead < 0) {
      verdict(x, hw::kDuplicate, hw::kDropSequence, denied && read ? "duplicate denied" : "duplicate");
    } else if (takes && qp.receives == 0) {
      if (!denied) x.nak = Bits<8>(0x20 | qp.set.rnr_timer.u64());
      verdict(x, hw::kInOrder, hw::kKeep, denied ? "no right" : "RNR");
      qp.silent = qp.refused = true;
    } else {
      if (qp.refused) seen["recovered"]++;
      verdict(x, hw::kInOrder, hw::kKeep, denied ? "no right" : read ? "read" : takes ? "receive" : "in order");
      const uint32_t step = read ? psns_of(x.packet.dma_length.u64(), unsigned(qp.set.pmtu.u64())) : 1;
      if (qp.expected + step > 0xffffff) seen[read && step > 1 ? "wrap in a READ" : "wrap"]++;
      qp.expected = (qp.expected + step) & 0xffffff;
      qp.receives -= takes;
      qp.silent = qp.refused = false;
    }
  }
  void verdict(RxChecked& x, uint64_t sequence, uint64_t drop, const char* what) {
    x.sequence = Bits<2>(sequence);
    x.packet.drop = hw::DropCode(drop);
    out.push_back(x);
    seen[what]++;
  }
};

// QPs 0, 5 and 9, each of its own PMTU, and a namesake of one row; PSNs around the expected one and around half the
// circle. Peers that go back, as they do after a NAK.
class Traffic {
 public:
  std::vector<RxTransport> packets;
  std::vector<QpStateControl> controls;
  std::vector<ReceivePosted> posts;

  Traffic(uint64_t seed, size_t count) : random_(seed) {
    for (uint32_t qpn : kQpns) controls.push_back(open(qpn, next_[qpn] = 0xfffff0, pmtu_of(qpn)));
    for (size_t i = 0; i < count; i++) {
      add_packet();
      if (random_() % 4 == 0) posts.push_back(posted(kQpns[random_() % 3]));
      if (random_() % 8 == 0) add_control();
    }
  }

 private:
  static constexpr uint32_t kQpns[] = {0, 5, 9, 5 + hw::kMaxQps};
  std::mt19937_64 random_;
  std::map<uint32_t, uint32_t> next_;

  static unsigned pmtu_of(uint32_t qpn) { return 1 + qpn % 5; }
  uint32_t read_length(uint32_t qpn) {
    const uint32_t size = 128u << pmtu_of(qpn);
    const uint32_t lengths[] = {0, 1, size - 1, size, size + 1, 3 * size, 7 * size + 1, uint32_t(random_())};
    return lengths[random_() % (random_() % 50 == 0 ? 8 : 7)];
  }
  void add_packet() {
    static constexpr uint8_t opcodes[] = {0x06, 0x07, 0x08, 0x0a, 0x0a, 0x04, 0x00, 0x02, 0x09, 0x0b, 0x0c, 0x0c};
    const uint32_t qpn = random_() % 20 == 0 ? kQpns[3] : kQpns[random_() % 3];
    const uint32_t how = random_() % 100;
    const uint8_t opcode = random_() % 8 == 0 ? uint8_t(0x0d + random_() % 19) : opcodes[random_() % 12];
    RxTransport r = packet(qpn, 0, opcode, read_length(qpn), random_() % 20 == 0 ? 1 + random_() % 5 : 0);
    uint32_t& psn = next_[qpn];
    uint32_t p = psn;
    if (how < 70) {
      psn += opcode == kRead ? psns_of(r.dma_length.u64(), pmtu_of(qpn)) : 1;
    } else if (how < 80) {
      p = psn = psn - random_() % 4;
    } else if (how < 88) {
      p = psn - 1 - random_() % 8;
    } else if (how < 91) {
      p = psn += 1 + random_() % 2;  // a loss: ahead until the peer goes back
    } else if (how < 97) {
      p = psn + 0x7ffffe + random_() % 4;
    } else {
      p = uint32_t(random_());
    }
    r.psn = Psn(p & 0xffffff);
    r.va = Bits<64>(random_());
    r.rkey = Bits<32>(random_());
    r.immediate = Bits<32>(random_());
    r.payload = hw::PacketBytes(random_());
    r.body = Bits<1>(random_());
    r.ack_request = Bits<1>(random_());
    packets.push_back(r);
  }
  void add_control() {
    const uint32_t qpn = random_() % 10 == 0 ? kQpns[3] : kQpns[random_() % 3];
    // Where the packets will stand when this request is taken is not known: aim a little ahead.
    if (random_() % 2 == 0) next_[qpn] = 0xfffff8 + random_() % 8;
    QpStateControl c = open(qpn, next_[qpn], pmtu_of(qpn));
    c.receive = Bits<1>(random_() % 12 != 0);
    c.remote_write = Bits<1>(random_() % 6 != 0);
    c.remote_read = Bits<1>(random_() % 6 != 0);
    controls.push_back(c);
  }
};
constexpr uint32_t Traffic::kQpns[];

TEST(QpState, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      Traffic traffic(seed, 4000);
      Table t(seed, pace, traffic.packets, traffic.controls, traffic.posts);
      hls::stream<RxChecked> out;
      test::configure(out, "out", 4);
      test::Sink<RxChecked> sink(t.bench, out, pace.sink);
      hw::tables::QpState stage;
      Model model;
      t.run(model, [&] { stage.step(t.in, t.control, t.event, out); });
      test::expect_equal(sink.tokens, model.out);
      EXPECT_LE(t.longest_control_wait, 1u);
      EXPECT_EQ(stage.qp_errors.v.u64(), model.seen["no such QP"]);
      EXPECT_EQ(stage.opcode_errors.v.u64(), model.seen["no such opcode"]);
      EXPECT_EQ(stage.duplicate_request.v.u64(), model.seen["duplicate"] + model.seen["duplicate denied"]);
      EXPECT_EQ(stage.out_of_sequence.v.u64(),
                model.seen["gap"] + model.seen["silent"] + model.seen["silent behind RNR"]);
      EXPECT_EQ(stage.rnr_naks.v.u64(), model.seen["RNR"]);
      for (const auto& s : model.seen) seen[s.first] += s.second;
    }
  }
  for (const char* what : {"dropped before", "no such QP", "no such opcode", "answer", "in order", "read", "receive",
                           "no right", "duplicate", "duplicate denied", "gap", "silent", "RNR", "silent behind RNR",
                           "recovered", "wrap", "wrap in a READ"})
    EXPECT_GT(seen[what], 20u) << what;
}

// One stage, asked packet by packet.
struct Harness {
  test::Bench bench;
  hls::stream<RxTransport> in;
  hls::stream<QpStateControl> control;
  hls::stream<ReceivePosted> posts;
  hls::stream<RxChecked> out;
  hw::tables::QpState stage;

  Harness() {
    test::configure(in, "in", 4);
    test::configure(control, "control", 4);
    test::configure(posts, "posted", 4);
    test::configure(out, "out", 4);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, control, posts, out); });
  }
  void set(const QpStateControl& c) {
    control.write(c);
    run(3);
  }
  void post(uint32_t qpn) {
    posts.write(posted(qpn));
    run(3);
  }
  RxChecked ask(const RxTransport& p) {
    in.write(p);
    run(3);
    if (!out.empty()) return out.read();
    ADD_FAILURE() << "no verdict";
    return {};
  }
  uint64_t sequence(const RxTransport& p) { return ask(p).sequence.u64(); }
};

TEST(QpState, AReadTakesAPsnForEachOfItsResponsesAcrossTheWrapToo) {
  for (unsigned pmtu = 1; pmtu <= 5; pmtu++) {
    const uint32_t size = 128u << pmtu;
    for (uint32_t bytes : {0u, 1u, size - 1, size, size + 1, 2 * size, 16 * size - 1, 16 * size + 1, 0x80000000u}) {
      const uint32_t first = 0xfffffe, behind = first + psns_of(bytes, pmtu);
      Harness h;
      h.set(open(1, first, pmtu));
      EXPECT_EQ(h.sequence(packet(1, first, kRead, bytes)), hw::kInOrder);
      EXPECT_EQ(h.sequence(packet(1, behind - 1)), hw::kDuplicate) << bytes << " bytes of PMTU " << size;
      EXPECT_EQ(h.sequence(packet(1, first, kRead, bytes)), hw::kDuplicate);
      EXPECT_EQ(h.sequence(packet(1, behind)), hw::kInOrder) << bytes << " bytes of PMTU " << size;
    }
  }
}

TEST(QpState, OnlyAReadTakesMoreThanOnePsn) {
  for (uint8_t opcode = 0; opcode <= 0x0b; opcode++) {
    Harness h;
    h.set(open(1, 7, 1));
    h.post(1);
    EXPECT_EQ(h.sequence(packet(1, 7, opcode, 0x10000)), hw::kInOrder) << int(opcode);
    EXPECT_EQ(h.sequence(packet(1, 8)), hw::kInOrder) << int(opcode);
  }
}

TEST(QpState, WithoutAReceiveOneRnrNakThenSilenceThenAllAgain) {
  Harness h;
  h.set(open(1, 0xffffff));
  const RxChecked refused = h.ask(packet(1, 0xffffff, kSendOnly));
  EXPECT_EQ(refused.sequence.u64(), hw::kInOrder);
  EXPECT_EQ(refused.nak.u64(), 0x20u | 10) << "the timer of the QP";
  EXPECT_EQ(refused.expected.v.u64(), 0xffffffu);
  for (uint32_t i = 0; i < 3; i++) EXPECT_EQ(h.sequence(packet(1, i, kSendOnly)), hw::kIgnore);
  EXPECT_EQ(h.sequence(packet(1, 0xfffffe)), hw::kDuplicate) << "answered meanwhile";
  EXPECT_EQ(h.ask(packet(1, 0xffffff, kSendOnly)).nak.u64(), 0x20u | 10) << "still none";
  EXPECT_EQ(h.sequence(packet(1, 0, kSendOnly)), hw::kIgnore);

  h.post(1);
  EXPECT_EQ(h.sequence(packet(1, 0, kSendOnly)), hw::kIgnore) << "not before the PSN that was refused";
  EXPECT_EQ(h.ask(packet(1, 0xffffff, kSendOnly)).nak.u64(), 0u);
  EXPECT_EQ(h.ask(packet(1, 0, kSendOnly)).nak.u64(), 0x20u | 10) << "the next one finds none";
  h.post(1);
  EXPECT_EQ(h.ask(packet(1, 0, kSendOnly)).nak.u64(), 0u);
  EXPECT_EQ(h.sequence(packet(1, 2, kSendOnly)), hw::kGap) << "a gap is told again";
  EXPECT_EQ(h.stage.rnr_naks.v.u64(), 3u);
}

TEST(QpState, TheFirstOfASendAndTheLastOfAWriteWithImmediateTakeAReceive) {
  struct {
    uint8_t opcode;
    bool takes;
  } const table[] = {{0x00, true},  {0x01, false}, {0x02, false}, {0x03, false}, {0x04, true},
                     {0x05, true},  {0x06, false}, {0x07, false}, {0x08, false}, {0x09, true},
                     {0x0a, false}, {0x0b, true},  {0x0c, false}};
  for (const auto& row : table) {
    Harness h;
    h.set(open(1, 0));
    EXPECT_EQ(h.ask(packet(1, 0, row.opcode)).nak.u64(), row.takes ? 0x2au : 0u) << int(row.opcode);
    h.post(1);
    h.set(open(1, 0));
    EXPECT_EQ(h.ask(packet(1, 0, row.opcode)).nak.u64(), 0u) << int(row.opcode);
    EXPECT_EQ(h.ask(packet(1, 1, kSendOnly)).nak.u64(), row.takes ? 0x2au : 0u) << int(row.opcode);
  }
}

TEST(QpState, ReceivesMayBePostedBeforeTheQpReceivesAndGoWithIt) {
  Harness h;
  h.post(1);
  h.post(1);
  h.set(open(1, 0));
  EXPECT_EQ(h.ask(packet(1, 0, kSendOnly)).nak.u64(), 0u);
  QpStateControl stop;
  stop.qpn = hw::Qpn(1);
  h.set(stop);
  h.set(open(1, 0));
  EXPECT_EQ(h.ask(packet(1, 0, kSendOnly)).nak.u64(), 0x2au);
}

TEST(QpState, RightsAreRefusedInOrderAndADuplicateReadIsAskedForThemAgain) {
  struct {
    bool write, read;
    uint8_t opcode;
    uint32_t psn;
    uint64_t nak;
  } const table[] = {
      {true, false, kWriteOnly, 5, 0},    {false, true, kWriteOnly, 5, 0x61}, {false, true, kWriteLastImm, 5, 0x61},
      {true, false, kRead, 5, 0x61},      {false, true, kRead, 5, 0},         {true, false, kRead, 4, 0x61},
      {false, true, kRead, 4, 0},         {false, true, kWriteOnly, 4, 0},    {false, false, kRead, 6, 0},
      {false, false, kSendOnly, 5, 0x2a}, {false, false, 0x01, 5, 0},         {false, true, kWriteLast, 5, 0x61},
  };
  for (const auto& row : table) {
    Harness h;
    QpStateControl c = open(1, 5);
    c.remote_write = Bits<1>(row.write);
    c.remote_read = Bits<1>(row.read);
    h.set(c);
    EXPECT_EQ(h.ask(packet(1, row.psn, row.opcode, 8)).nak.u64(), row.nak) << int(row.opcode) << " at " << row.psn;
  }
}

TEST(QpState, AnswersPassAndOtherOpcodesEnd) {
  for (unsigned opcode = 0x0d; opcode < 0x20; opcode++) {
    for (uint32_t qpn : {1u, 2u}) {
      Harness h;
      h.set(open(1, 5));
      const RxChecked x = h.ask(packet(qpn, 5, uint8_t(opcode)));
      EXPECT_EQ(x.sequence.u64(), hw::kIgnore);
      EXPECT_EQ(x.packet.drop.u64(), qpn == 1 && opcode <= kAck ? hw::kKeep : hw::kDropTransport) << opcode;
      EXPECT_EQ(h.sequence(packet(1, 5)), hw::kInOrder) << "the PSN is still expected";
    }
  }
}

TEST(QpState, OnePacketACycleOfOneQpTwoCyclesAfterItWasOffered) {
  std::vector<RxTransport> packets;
  uint32_t psn = 0xffff00;
  for (uint32_t i = 0; i < 100; i++) {  // READs, WRITEs and SENDs, each behind the other
    packets.push_back(packet(3, psn, i % 3 == 0 ? kRead : i % 3 == 1 ? kWriteOnly : kSendOnly, i * 300));
    psn += i % 3 == 0 ? psns_of(i * 300, 2) : 1;
  }
  ASSERT_GT(psn, 0x1000000u);
  Harness h;
  h.set(open(3, 0xffff00, 2));
  for (int i = 0; i < 40; i++) h.post(3);

  test::Source<RxTransport> source(h.bench, h.in, packets);
  test::Sink<RxChecked> sink(h.bench, h.out);
  h.run(110);
  ASSERT_EQ(sink.tokens.size(), packets.size());
  for (size_t i = 0; i < packets.size(); i++) {
    EXPECT_EQ(sink.tokens[i].sequence.u64(), uint64_t(hw::kInOrder));
    EXPECT_EQ(sink.tokens[i].nak.u64(), 0u);
    EXPECT_EQ(source.cycles[i], source.cycles[0] + i);
    EXPECT_EQ(sink.cycles[i], source.cycles[i] + 3);  // offered, taken, judged, read
  }
}

TEST(QpState, PacketsControlAndPostedReceivesTakeTurnsWhenTheyPress) {
  struct {
    size_t controls, posts;
    hw::Cycles period;
  } const table[] = {{0, 0, 1}, {50, 0, 2}, {0, 50, 2}, {50, 50, 3}};
  for (const auto& row : table) {
    Table::Pace pace;
    pace.events = 100;
    Table t(1, pace, std::vector<RxTransport>(50, packet(1, 7)), std::vector<QpStateControl>(row.controls, open(2, 0)),
            std::vector<ReceivePosted>(row.posts, posted(1)));
    hls::stream<RxChecked> out;
    test::configure(out, "out", 4);
    test::Sink<RxChecked> sink(t.bench, out);
    hw::tables::QpState stage;
    Model model;
    for (int i = 0; i < 160; i++) t.tick(model, [&] { stage.step(t.in, t.control, t.event, out); });
    ASSERT_EQ(sink.cycles.size(), 50u);
    for (size_t i = 2; i < 50; i++) EXPECT_EQ(sink.cycles[i], sink.cycles[1] + row.period * (i - 1));
    EXPECT_EQ(t.longest_control_wait, row.controls > 0 ? 1u : 0u);
  }
}

}  // namespace
