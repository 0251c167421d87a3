#include <map>

#include "hw/tables/msn.hpp"
#include "table_bench.hpp"

namespace {

using hw::AckToSend;
using hw::Bits;
using hw::MsnControl;
using hw::Placement;
using hw::Psn;
using hw::RxChecked;
using Table = test::TableBench<RxChecked, MsnControl>;

MsnControl open(uint32_t qpn, uint32_t msn, unsigned pmtu_code) {
  MsnControl c;
  c.qpn = hw::Qpn(qpn);
  c.msn = Bits<24>(msn);
  c.pmtu = hw::PmtuCode(pmtu_code);
  return c;
}

RxChecked packet(uint32_t qpn, uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t dma_length = 0,
                 uint64_t address = 0, bool ack_request = false) {
  RxChecked x;
  x.request.qpn = hw::Qpn(qpn);
  x.request.opcode = Bits<8>(opcode);
  x.request.psn = Psn(psn);
  x.request.payload = hw::PacketBytes(payload);
  x.request.body = Bits<1>(payload > 0);
  x.request.dma_length = Bits<32>(dma_length);
  x.request.ack_request = Bits<1>(ack_request);
  x.address = Bits<64>(address);
  x.expected = Psn(psn);
  return x;
}

// A message is its bytes still to come, or none; everything in plain integers.
struct Model {
  struct Qp {
    uint64_t msn = 0, pmtu = 128, address = 0;
    int64_t left = 0;
    bool inside = false, dead = false;
  };
  bool every_packet = false;
  std::map<uint64_t, Qp> rows;
  std::vector<Placement> placements;
  std::vector<AckToSend> acks;
  std::map<std::string, uint64_t> seen;

  void control(const MsnControl& c) {
    Qp qp;
    qp.msn = c.msn.u64();
    qp.pmtu = uint64_t(128) << c.pmtu.u64();
    rows[c.qpn.u64() % hw::kMaxQps] = qp;
  }

  void packet(const RxChecked& x) {
    Qp& qp = rows[x.request.qpn.u64() % hw::kMaxQps];
    Placement p;
    p.body = x.request.body;
    p.bytes = x.request.payload;
    const uint64_t op = x.request.opcode.u64();
    const bool starts = op == 0x06 || op == 0x0a;
    p.address = starts ? x.address : Bits<64>(qp.address);
    if (x.sequence.u64() == hw::kIgnore) {
      seen["ignored"]++;
    } else if (qp.dead) {
      seen["dead"]++;
    } else if (x.sequence.u64() == hw::kDuplicate) {
      seen["duplicate"]++;
      answer(x, x.expected.v.u64() - 1, 0x1f, qp.msn);
    } else if (x.sequence.u64() == hw::kGap) {
      seen["gap"]++;
      answer(x, x.expected.v.u64(), 0x60, qp.msn);
    } else {
      in_order(x, qp, p);
    }
    // What a refused packet names is not compared: nobody reads it.
    if (!bool(p.keep)) p.address = Bits<64>(0);
    placements.push_back(p);
  }

  void in_order(const RxChecked& x, Qp& qp, Placement& p) {
    const uint64_t op = x.request.opcode.u64(), bytes = x.request.payload.u64();
    const bool starts = op == 0x06 || op == 0x0a, ends = op == 0x08 || op == 0x0a;
    const int64_t total = starts ? int64_t(x.request.dma_length.u64()) : qp.left;
    bool good = (starts || op == 0x07 || op == 0x08) && starts == !qp.inside;
    good = good && (ends ? bytes <= qp.pmtu && int64_t(bytes) == total : bytes == qp.pmtu && int64_t(bytes) < total);
    const uint64_t nak = x.nak.u64() != 0 ? x.nak.u64() : good ? 0 : 0x61;
    if (starts && nak != 0x61) seen["begun"]++;
    if (nak != 0) {
      qp.dead = true;
      seen[nak == 0x61 ? "invalid request" : "remote access"]++;
      answer(x, x.request.psn.v.u64(), nak, qp.msn);
      return;
    }
    p.keep = Bits<1>(1);
    qp.address = p.address.u64() + bytes;
    qp.left = total - int64_t(bytes);
    qp.inside = !ends;
    if (ends) qp.msn = (qp.msn + 1) & 0xffffff;
    if (ends && qp.msn == 0) seen["wrap"]++;
    seen["accepted"]++;
    if (ends) seen["messages"]++;
    if (bool(x.request.ack_request) || every_packet) answer(x, x.request.psn.v.u64(), 0x1f, qp.msn);
  }

  void answer(const RxChecked& x, uint64_t psn, uint64_t syndrome, uint64_t msn) {
    AckToSend a;
    a.qpn = x.request.qpn;
    a.psn = Psn(psn);
    a.syndrome = Bits<8>(syndrome);
    a.msn = Bits<24>(msn);
    acks.push_back(a);
  }
};

// Messages of 0 to 5 packets on 24 QPs, interleaved; one packet in 60 is spoilt in one field.
std::vector<RxChecked> random_messages(std::mt19937_64& random, size_t count) {
  struct Qp {
    uint32_t psn = 0xfffff0, left = 0;
    bool inside = false;
  };
  std::map<uint32_t, Qp> qps;
  std::vector<RxChecked> packets;
  while (packets.size() < count) {
    const uint32_t qpn = uint32_t(random() % 24), pmtu = 128u << (1 + qpn % 5);
    Qp& qp = qps[qpn];
    const bool starts = !qp.inside;
    const uint32_t length = uint32_t(random() % (5 * pmtu));
    if (starts) qp.left = random() % 8 == 0 ? 0 : random() % 4 == 0 ? pmtu * uint32_t(random() % 4) : length;
    const uint32_t bytes = std::min(qp.left, pmtu);
    const bool ends = bytes == qp.left;
    RxChecked x = packet(qpn, uint8_t(starts ? (ends ? 0x0a : 0x06) : (ends ? 0x08 : 0x07)), qp.psn, bytes,
                         starts ? qp.left : uint32_t(random()), random(), random() % 3 == 0);
    qp.left -= bytes;
    qp.inside = !ends;
    switch (random() % 40 == 0 ? random() % 5 : random() % 30 == 0 ? 5 : 6) {
      case 0:
        x.request.opcode = Bits<8>(random() % 2 ? 0x06 + random() % 5 : random());
        break;
      case 1:
        x.request.payload = hw::PacketBytes(bytes + 1);
        break;
      case 2:
        x.request.payload = hw::PacketBytes(random() % 4097);
        break;
      case 3:
        x.request.dma_length = Bits<32>(x.request.dma_length.u64() + random() % 3 - 1);
        break;
      case 4:
        x.nak = Bits<8>(random() % 4 ? 0x62 : 0x61);
        break;
      case 5:
        x.sequence = Bits<2>(1 + random() % 3);
        break;
      default:
        break;
    }
    if (x.sequence.u64() == hw::kInOrder) qp.psn = (qp.psn + 1) & 0xffffff;
    packets.push_back(x);
  }
  return packets;
}

TEST(Msn, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      std::mt19937_64 random(seed);
      std::vector<MsnControl> controls;
      for (uint32_t i = 0; i < 900; i++) {
        const uint32_t qpn = i < 24 ? i : uint32_t(random() % 24);
        controls.push_back(open(qpn, 0xffffff - uint32_t(random() % 4), 1 + qpn % 5));
      }
      Table t(seed, pace, random_messages(random, 6000), controls);
      hls::stream<Placement> placement;
      hls::stream<AckToSend> ack;
      test::configure(placement, "placement", 4);
      test::configure(ack, "ack", 4);
      test::Sink<Placement> placements(t.bench, placement, pace.sink);
      test::Sink<AckToSend> acks(t.bench, ack, pace.sink);
      hw::tables::Msn stage;
      Model model;
      stage.params.ack_every_packet = seed % 2;
      model.every_packet = seed % 2 != 0;
      t.run(model, [&] { stage.step(t.in, t.control, placement, ack); });

      for (Placement& p : placements.tokens)
        if (!bool(p.keep)) p.address = Bits<64>(0);
      test::expect_equal(placements.tokens, model.placements);
      test::expect_equal(acks.tokens, model.acks);
      EXPECT_LE(t.longest_control_wait, 1u);
      EXPECT_EQ(stage.packets.v.u64(), model.seen["accepted"]);
      EXPECT_EQ(stage.messages.v.u64(), model.seen["messages"]);
      EXPECT_EQ(stage.rx_write_requests.v.u64(), model.seen["begun"]);
      EXPECT_EQ(stage.invalid_request.v.u64(), model.seen["invalid request"]);
      EXPECT_EQ(stage.dead_drops.v.u64(), model.seen["dead"]);
      for (const auto& s : model.seen) seen[s.first] += s.second;
    }
  }
  for (const char* what :
       {"ignored", "dead", "duplicate", "gap", "accepted", "messages", "invalid request", "remote access", "wrap"})
    EXPECT_GT(seen[what], 100u) << what;
}

TEST(Msn, OnePacketACycleOfOneQpTwoCyclesAfterItWasOffered) {
  std::vector<RxChecked> packets;
  packets.push_back(packet(3, 0x06, 0, 256, 100 * 256, 0x4000, true));
  for (uint32_t i = 1; i < 99; i++) packets.push_back(packet(3, 0x07, i, 256, 0, 0, true));
  packets.push_back(packet(3, 0x08, 99, 256, 0, 0, true));
  test::Bench bench;
  hls::stream<RxChecked> in;
  hls::stream<MsnControl> control;
  hls::stream<Placement> placement;
  hls::stream<AckToSend> ack;
  test::configure(in, "in", 4);
  test::configure(control, "control", 2);
  test::configure(placement, "placement", 4);
  test::configure(ack, "ack", 4);
  hw::tables::Msn stage;
  control.write(open(3, 9, 1));
  bench.run(4, [&] { stage.step(in, control, placement, ack); });

  test::Source<RxChecked> source(bench, in, packets);
  test::Sink<Placement> placements(bench, placement);
  test::Sink<AckToSend> acks(bench, ack);
  bench.run(110, [&] { stage.step(in, control, placement, ack); });
  ASSERT_EQ(placements.tokens.size(), packets.size());
  ASSERT_EQ(acks.tokens.size(), packets.size());
  for (size_t i = 0; i < packets.size(); i++) {
    EXPECT_TRUE(bool(placements.tokens[i].keep));
    EXPECT_EQ(placements.tokens[i].address.u64(), 0x4000 + 256 * i);
    EXPECT_EQ(acks.tokens[i].msn.u64(), i == 99 ? 10u : 9u);
    EXPECT_EQ(source.cycles[i], source.cycles[0] + i);
    EXPECT_EQ(placements.cycles[i], source.cycles[i] + 3);  // offered, taken, answered, read
    EXPECT_EQ(acks.cycles[i], source.cycles[i] + 3);
  }
}

}  // namespace
