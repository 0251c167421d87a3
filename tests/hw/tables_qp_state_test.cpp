#include <map>

#include "hw/tables/qp_state.hpp"
#include "table_bench.hpp"

namespace {

using hw::Bits;
using hw::Psn;
using hw::QpStateControl;
using hw::RxChecked;
using hw::RxRequest;
using Table = test::TableBench<RxRequest, QpStateControl>;

RxRequest request(uint32_t qpn, uint32_t psn, uint8_t opcode = hw::wire::kWriteOnly, uint8_t drop = hw::kKeep) {
  RxRequest r;
  r.opcode = Bits<8>(opcode);
  r.qpn = hw::Qpn(qpn);
  r.psn = Psn(psn);
  r.drop = hw::DropCode(drop);
  return r;
}

QpStateControl open(uint32_t qpn, uint32_t expected, bool receive = true, bool remote_write = true) {
  QpStateControl c;
  c.qpn = hw::Qpn(qpn);
  c.expected = Psn(expected);
  c.receive = Bits<1>(receive);
  c.remote_write = Bits<1>(remote_write);
  return c;
}

// The rules in plain integers, PSNs compared by sign extension.
struct Model {
  struct Qp {
    uint64_t qpn = 0;
    uint32_t expected = 0;
    bool receive = false, remote_write = false, nak_sent = false;
  };
  std::map<uint64_t, Qp> rows;
  std::vector<RxChecked> out;
  std::map<std::string, uint64_t> seen;

  void control(const QpStateControl& c) {
    rows[c.qpn.u64() % hw::kMaxQps] =
        Qp{c.qpn.u64(), uint32_t(c.expected.v.u64()), bool(c.receive), bool(c.remote_write), false};
  }

  void packet(const RxRequest& r) {
    Qp& qp = rows[r.qpn.u64() % hw::kMaxQps];
    RxChecked x;
    x.request = r;
    x.expected = Psn(qp.expected);
    const int32_t ahead = int32_t(uint32_t(r.psn.v.u64() - qp.expected) << 8) >> 8;
    if (r.drop.u64() != hw::kKeep) {
      verdict(x, hw::kIgnore, r.drop.u64(), "dropped before");
    } else if (!qp.receive || qp.qpn != r.qpn.u64()) {
      verdict(x, hw::kIgnore, hw::kDropTransport, "no such QP");
    } else if (ahead == 0) {
      const uint64_t op = r.opcode.u64();
      const bool write = (op >= 0x06 && op <= 0x08) || op == 0x0a;
      if (write && !qp.remote_write) x.nak = Bits<8>(0x61);
      verdict(x, hw::kInOrder, hw::kKeep, write && !qp.remote_write ? "no right" : "in order");
      qp.expected = (qp.expected + 1) & 0xffffff;
      if (qp.expected == 0) seen["wrap"]++;
      qp.nak_sent = false;
    } else if (ahead < 0) {
      verdict(x, hw::kDuplicate, hw::kDropSequence, "duplicate");
    } else {
      verdict(x, qp.nak_sent ? hw::kIgnore : hw::kGap, hw::kDropSequence, qp.nak_sent ? "silent" : "gap");
      qp.nak_sent = true;
    }
  }
  void verdict(RxChecked& x, uint64_t sequence, uint64_t drop, const char* what) {
    x.sequence = Bits<2>(sequence);
    x.request.drop = hw::DropCode(drop);
    out.push_back(x);
    seen[what]++;
  }
};

// QPs 0, 5 and 9, each with a namesake of the same row; PSNs around the expected one and around half the circle.
struct Traffic {
  std::vector<RxRequest> packets;
  std::vector<QpStateControl> controls;

  Traffic(uint64_t seed, size_t count) {
    std::mt19937_64 random(seed);
    const uint32_t qpns[] = {0, 5, 9, 5 + hw::kMaxQps};
    const uint8_t opcodes[] = {0x06, 0x07, 0x08, 0x0a, 0x0a, 0x04, 0x0c, 0x1f};
    std::map<uint32_t, uint32_t> next;
    for (uint32_t qpn : qpns) controls.push_back(open(qpn, next[qpn] = 0xfffff0));
    const auto make_packet = [&] {
      const uint32_t qpn = random() % 20 == 0 ? qpns[3] : qpns[random() % 3];
      const uint32_t how = random() % 100;
      uint32_t& psn = next[qpn];
      uint32_t p = psn;
      if (how < 75) {
        psn++;
      } else if (how < 85) {
        p = psn - 1 - random() % 8;
      } else if (how < 90) {
        p = psn += 1 + random() % 2;  // a loss: ahead until control helps
      } else if (how < 97) {
        p = psn + 0x7ffffe + random() % 4;
      } else {
        p = uint32_t(random());
      }
      RxRequest r = request(qpn, p & 0xffffff, opcodes[random() % 8], random() % 20 == 0 ? 1 + random() % 5 : 0);
      r.va = Bits<64>(random());
      r.rkey = Bits<32>(random());
      r.dma_length = Bits<32>(random());
      r.payload = hw::PacketBytes(random());
      r.body = Bits<1>(random());
      r.ack_request = Bits<1>(random());
      packets.push_back(r);
    };
    for (size_t i = 0; i < count; i++) {
      make_packet();
      if (random() % 8 != 0) continue;
      const uint32_t qpn = random() % 10 == 0 ? qpns[3] : qpns[random() % 3];
      // Where the packets will stand when this request is taken is not known: aim a little ahead.
      if (random() % 3 == 0) next[qpn] = 0xfffff0 + random() % 16;
      controls.push_back(open(qpn, next[qpn] & 0xffffff, random() % 12 != 0, random() % 6 != 0));
    }
  }
};

TEST(QpState, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      Traffic traffic(seed, 4000);
      Table t(seed, pace, traffic.packets, traffic.controls);
      hls::stream<RxChecked> out;
      test::configure(out, "out", 4);
      test::Sink<RxChecked> sink(t.bench, out, pace.sink);
      hw::tables::QpState stage;
      Model model;
      t.run(model, [&] { stage.step(t.in, t.control, out); });
      test::expect_equal(sink.tokens, model.out);
      EXPECT_LE(t.longest_control_wait, 1u);
      EXPECT_EQ(stage.qp_errors.v.u64(), model.seen["no such QP"]);
      EXPECT_EQ(stage.duplicate_request.v.u64(), model.seen["duplicate"]);
      EXPECT_EQ(stage.out_of_sequence.v.u64(), model.seen["gap"] + model.seen["silent"]);
      for (const auto& s : model.seen) seen[s.first] += s.second;
    }
  }
  for (const char* what :
       {"dropped before", "no such QP", "in order", "no right", "duplicate", "gap", "silent", "wrap"})
    EXPECT_GT(seen[what], 50u) << what;
}

TEST(QpState, OnePacketACycleOfOneQpTwoCyclesAfterItWasOffered) {
  std::vector<RxRequest> packets;
  for (uint32_t i = 0; i < 100; i++) packets.push_back(request(3, (0xffffd0 + i) & 0xffffff));
  test::Bench bench;
  hls::stream<RxRequest> in;
  hls::stream<QpStateControl> control;
  hls::stream<RxChecked> out;
  test::configure(in, "in", 4);
  test::configure(control, "control", 2);
  test::configure(out, "out", 4);
  hw::tables::QpState stage;
  control.write(open(3, 0xffffd0));
  bench.run(4, [&] { stage.step(in, control, out); });

  test::Source<RxRequest> source(bench, in, packets);
  test::Sink<RxChecked> sink(bench, out);
  bench.run(110, [&] { stage.step(in, control, out); });
  ASSERT_EQ(sink.tokens.size(), packets.size());
  for (size_t i = 0; i < packets.size(); i++) {
    EXPECT_EQ(sink.tokens[i].sequence.u64(), uint64_t(hw::kInOrder));
    EXPECT_EQ(source.cycles[i], source.cycles[0] + i);
    EXPECT_EQ(sink.cycles[i], source.cycles[i] + 3);  // offered, taken, judged, read
  }
}

TEST(QpState, ControlTakesEverySecondTurnWhenItPresses) {
  std::vector<RxRequest> packets(50, request(1, 7));
  std::vector<QpStateControl> controls(50, open(2, 0));
  Table t(1, {}, packets, controls);
  hls::stream<RxChecked> out;
  test::configure(out, "out", 4);
  test::Sink<RxChecked> sink(t.bench, out);
  hw::tables::QpState stage;
  Model model;
  for (int i = 0; i < 110; i++) t.tick(model, [&] { stage.step(t.in, t.control, out); });
  ASSERT_EQ(sink.cycles.size(), 50u);
  for (size_t i = 1; i < 50; i++) EXPECT_EQ(sink.cycles[i], sink.cycles[0] + 2 * i);
  EXPECT_EQ(t.longest_control_wait, 1u);
}

}  // namespace
