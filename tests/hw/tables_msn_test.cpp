#include <map>

#include "hw/tables/msn.hpp"
#include "table_bench.hpp"

namespace {

using hw::Bits;
using hw::MsnControl;
using hw::Psn;
using hw::ReadServed;
using hw::Response;
using hw::RxChecked;
using hw::RxVerdict;
using Table = test::TableBench<RxChecked, MsnControl>;

MsnControl open(uint32_t qpn, uint32_t msn, unsigned pmtu_code, unsigned max_reads = 4) {
  MsnControl c;
  c.qpn = hw::Qpn(qpn);
  c.msn = Bits<24>(msn);
  c.pmtu = hw::PmtuCode(pmtu_code);
  c.max_reads = Bits<5>(max_reads);
  return c;
}

// `length`: of the message that starts, the RETH's or the room of a SEND.
RxChecked packet(uint32_t qpn, uint8_t opcode, uint32_t psn, uint32_t payload, uint32_t length = 0,
                 uint64_t address = 0, bool ack_request = false) {
  RxChecked x;
  x.packet.qpn = hw::Qpn(qpn);
  x.packet.opcode = Bits<8>(opcode);
  x.packet.psn = Psn(psn);
  x.packet.payload = hw::PacketBytes(payload);
  x.packet.body = Bits<1>(payload > 0);
  x.packet.dma_length = Bits<32>(opcode < 6 ? 0 : length);
  x.packet.ack_request = Bits<1>(ack_request);
  x.address = Bits<64>(address);
  x.room = Bits<32>(opcode < 6 ? length : 0);
  x.expected = Psn(psn);
  return x;
}

// Opcodes by their place in a message (IBTA table 38).
bool is_one_of(uint64_t opcode, std::initializer_list<int> list) {
  return std::find(list.begin(), list.end(), int(opcode)) != list.end();
}
bool starts(uint64_t o) {
  return is_one_of(o, {0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c});
}
bool ends(uint64_t o) {
  return is_one_of(o, {0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, 0x0c});
}
bool immediate(uint64_t o) {
  return is_one_of(o, {0x03, 0x05, 0x09, 0x0b});
}

// What of a verdict is of no meaning is zero.
RxVerdict meant(RxVerdict v) {
  if (!bool(v.placement.keep) || !bool(v.placement.body)) v.placement.address = Bits<64>(0);
  if (!bool(v.placement.completes)) v.placement.completion = hw::ReceiveCompletion();
  if (!bool(v.answer)) v.placement.ack = hw::RxAck();
  return v;
}
// An acknowledgement has no READ's fields, a READ no syndrome.
Response meant(Response r) {
  if (bool(r.read)) {
    r.syndrome = Bits<8>(0);
  } else {
    r.pmtu = hw::PmtuCode(0);
    r.address = Bits<64>(0);
    r.bytes = Bits<32>(0);
  }
  return r;
}

// A message is its bytes still to come, or none; everything in plain integers.
struct Model {
  struct Qp {
    uint64_t msn = 0, pmtu = 128, pmtu_code = 0, address = 0, done = 0;
    int64_t left = 0;
    bool inside = false, sends = false, dead = true;  // until control sets it
    unsigned reads = 0, max_reads = 0;
  };
  bool every_packet = false;
  std::map<uint64_t, Qp> rows;
  std::vector<RxVerdict> verdicts;
  std::vector<Response> responses;
  std::map<std::string, uint64_t> seen;

  void control(const MsnControl& c) {
    Qp qp;
    qp.dead = false;
    qp.msn = c.msn.u64();
    qp.pmtu_code = c.pmtu.u64();
    qp.pmtu = uint64_t(128) << qp.pmtu_code;
    qp.max_reads = unsigned(c.max_reads.u64());
    rows[c.qpn.u64() % hw::kMaxQps] = qp;
  }
  void served(const ReadServed& s) {
    Qp& qp = rows[s.qpn.u64() % hw::kMaxQps];
    if (qp.reads > 0) qp.reads--;
    seen["served"]++;
  }

  void packet(const RxChecked& x) {
    Qp& qp = rows[x.packet.qpn.u64() % hw::kMaxQps];
    const uint64_t op = x.packet.opcode.u64();
    RxVerdict v;
    v.opcode = x.packet.opcode;
    v.placement.body = x.packet.body;
    v.placement.bytes = x.packet.payload;
    if (x.sequence.u64() == hw::kIgnore) {
      seen["ignored"]++;
      pass_answer(x, op, v);
    } else if (qp.dead) {
      seen["dead"]++;
    } else if (x.sequence.u64() == hw::kDuplicate) {
      seen["duplicate"]++;
      if (op == 0x0c)
        read_again(x, qp);
      else
        acknowledge(x, x.expected.v.u64() - 1, 0x1f, qp.msn);
    } else if (x.sequence.u64() == hw::kGap) {
      seen["gap"]++;
      acknowledge(x, x.expected.v.u64(), 0x60, qp.msn);
    } else {
      in_order(x, qp, v);
    }
    verdicts.push_back(meant(v));
  }

  void pass_answer(const RxChecked& x, uint64_t op, RxVerdict& v) {
    if (op < 0x0d || op > 0x11 || x.packet.drop.u64() != 0) return;
    seen["answer"]++;
    v.answer = Bits<1>(1);
    v.placement.ack.qpn = x.packet.qpn;
    v.placement.ack.psn = x.packet.psn;
    v.placement.ack.syndrome = x.packet.syndrome;
    v.placement.ack.msn = x.packet.msn;
  }

  void read_again(const RxChecked& x, Qp& qp) {
    if (x.nak.u64() != 0) {
      seen["duplicate READ refused"]++;
      acknowledge(x, x.packet.psn.v.u64(), x.nak.u64(), qp.msn);
    } else if (qp.reads == qp.max_reads) {
      seen["duplicate READ dropped"]++;
    } else {
      seen["duplicate READ"]++;
      serve(x, qp);
    }
  }

  static bool shaped(const RxChecked& x, const Qp& qp) {
    const uint64_t op = x.packet.opcode.u64();
    const int64_t bytes = int64_t(x.packet.payload.u64()), pmtu = int64_t(qp.pmtu);
    if (op == 0x0c) return !qp.inside && bytes == 0 && qp.reads < qp.max_reads;
    const bool send = op < 6;
    if (starts(op) == qp.inside || (qp.inside && send != qp.sends)) return false;
    const int64_t total = starts(op) ? int64_t(send ? x.room.u64() : x.packet.dma_length.u64()) : qp.left;
    if (!ends(op)) return bytes == pmtu && (send ? bytes <= total : bytes < total);
    if (!starts(op) && bytes == 0) return false;
    return bytes <= pmtu && (send ? bytes <= total : bytes == total);
  }

  void in_order(const RxChecked& x, Qp& qp, RxVerdict& v) {
    const uint64_t op = x.packet.opcode.u64(), bytes = x.packet.payload.u64();
    const bool send = op < 6, good = shaped(x, qp);
    const uint64_t nak = x.nak.u64() != 0 ? x.nak.u64() : good ? 0 : 0x61;
    const bool not_ready = nak >> 5 == 1;
    if (starts(op) && nak != 0x61 && !not_ready && !send) seen[op == 0x0c ? "reads begun" : "writes begun"]++;
    if (nak != 0) {
      if (!not_ready) qp.dead = true;
      if (nak == 0x61 && op == 0x0c && !qp.inside && qp.reads == qp.max_reads) seen["one READ too many"]++;
      if (x.nak.u64() == 0 && send && qp.inside && qp.sends && int64_t(bytes) > qp.left) seen["SEND too long"]++;
      seen[not_ready ? "not ready" : nak == 0x61 ? "invalid request" : "remote access"]++;
      acknowledge(x, x.packet.psn.v.u64(), nak, qp.msn);
      return;
    }
    if (starts(op)) {
      qp.address = x.address.u64();
      qp.done = 0;
      qp.left = int64_t(send ? x.room.u64() : x.packet.dma_length.u64());
      qp.sends = send;
    }
    v.placement.keep = Bits<1>(1);
    v.placement.address = Bits<64>(qp.address + qp.done);
    qp.done += bytes;
    qp.left -= int64_t(bytes);
    qp.inside = !ends(op);
    if (ends(op)) qp.msn = (qp.msn + 1) & 0xffffff;
    if (ends(op) && qp.msn == 0) seen["wrap"]++;
    if ((send && ends(op)) || immediate(op)) complete(x, qp, v);
    seen["accepted"]++;
    if (ends(op)) seen["messages"]++;
    if (op == 0x0c) {
      serve(x, qp);
    } else if (bool(x.packet.ack_request) || every_packet) {
      acknowledge(x, x.packet.psn.v.u64(), 0x1f, qp.msn);
    }
  }

  void complete(const RxChecked& x, const Qp& qp, RxVerdict& v) {
    const uint64_t op = x.packet.opcode.u64();
    v.placement.completes = Bits<1>(1);
    hw::ReceiveCompletion& c = v.placement.completion;
    c.qpn = x.packet.qpn;
    c.index = x.receive;
    c.bytes = Bits<32>(qp.done);
    c.immediate = x.packet.immediate;
    c.has_immediate = Bits<1>(immediate(op));
    c.is_write = Bits<1>(op >= 6);
    c.solicited = x.packet.solicited;
    seen[op >= 6 ? (qp.done == 0 ? "empty WRITE with immediate" : "WRITE with immediate") : "SEND"]++;
  }

  void serve(const RxChecked& x, Qp& qp) {
    qp.reads++;
    Response r;
    r.read = Bits<1>(1);
    r.qpn = x.packet.qpn;
    r.psn = x.packet.psn;
    r.msn = Bits<24>(qp.msn);
    r.pmtu = hw::PmtuCode(qp.pmtu_code);
    r.address = x.address;
    r.bytes = x.packet.dma_length;
    responses.push_back(r);
  }
  void acknowledge(const RxChecked& x, uint64_t psn, uint64_t syndrome, uint64_t msn) {
    Response r;
    r.qpn = x.packet.qpn;
    r.psn = Psn(psn);
    r.syndrome = Bits<8>(syndrome);
    r.msn = Bits<24>(msn);
    responses.push_back(r);
  }
};

// Messages of 0 to 5 packets of every operation on 24 QPs, interleaved with answers; one packet in 60 is spoilt in one
// field, some come before their time, again, or before there is a receive work request.
class Messages {
 public:
  explicit Messages(std::mt19937_64& random) : random_(random) {}

  std::vector<RxChecked> make(size_t count) {
    while (packets_.size() < count) {
      if (one_in(20)) answer();
      step(uint32_t(random_() % 24));
    }
    return std::move(packets_);
  }

 private:
  enum Operation { kSend, kWrite, kRead };
  struct Qp {
    uint32_t psn = 0xfffff0, left = 0;
    bool inside = false;
    Operation operation = kSend;
  };
  std::mt19937_64& random_;
  std::map<uint32_t, Qp> qps_;
  std::vector<RxChecked> packets_;

  bool one_in(unsigned n) { return random_() % n == 0; }

  void step(uint32_t qpn) {
    const uint32_t pmtu = 128u << (1 + qpn % 5);
    Qp& qp = qps_[qpn];
    const bool begins = !qp.inside;
    if (begins) {
      qp.operation = Operation(random_() % 3);
      qp.left = one_in(8) ? 0 : one_in(4) ? pmtu * uint32_t(random_() % 4) : uint32_t(random_() % (5 * pmtu));
    }
    const uint32_t length = qp.operation != kSend || one_in(2) ? qp.left : room_for(qp.left);
    const uint32_t bytes = qp.operation == kRead ? 0 : std::min(qp.left, pmtu);
    const bool over = qp.operation == kRead || bytes == qp.left;
    RxChecked x =
        packet(qpn, opcode(qp.operation, begins, over), qp.psn, bytes, begins ? length : 0, random_(), one_in(3));
    x.packet.solicited = Bits<1>(random_());
    x.packet.immediate = Bits<32>(random_());
    x.receive = Bits<16>(random_());
    qp.left -= bytes;
    qp.inside = !over;
    if (one_in(qp.operation == kRead ? 4 : 20)) copy_of(x);
    if (one_in(60)) spoil(x);
    qp.psn = (qp.psn + 1) & 0xffffff;
    packets_.push_back(x);
  }

  // Too little at times.
  uint32_t room_for(uint32_t bytes) { return one_in(20) ? bytes - bytes / 4 : bytes + uint32_t(random_() % 5000); }

  uint8_t opcode(Operation operation, bool begins, bool over) {
    if (operation == kRead) return 0x0c;
    const unsigned place = begins ? (over ? 4 : 0) : over ? 2 : 1;
    return uint8_t((operation == kSend ? 0 : 6) + place + (over ? random_() % 2 : 0));
  }

  // The packet once more, or too early, or refused because nothing is there to receive it: it changes nothing.
  void copy_of(RxChecked x) {
    if (one_in(3)) {
      x.nak = Bits<8>(0x20 + random_() % 32);
    } else {
      x.sequence = Bits<2>(1 + random_() % 3);
      if (x.packet.opcode.u64() == 0x0c && one_in(4)) x.nak = Bits<8>(0x62);
    }
    packets_.push_back(x);
  }

  void spoil(RxChecked& x) {
    switch (random_() % 5) {
      case 0:
        x.packet.opcode = Bits<8>(random_() % 13);
        break;
      case 1:
        x.packet.payload = hw::PacketBytes(x.packet.payload.u64() + 1);
        break;
      case 2:
        x.packet.payload = hw::PacketBytes(random_() % 4097);
        break;
      case 3:
        x.packet.dma_length = Bits<32>(x.packet.dma_length.u64() + random_() % 3 - 1);
        break;
      default:
        x.nak = Bits<8>(one_in(4) ? 0x61 : 0x62);
    }
  }

  void answer() {
    RxChecked x = packet(uint32_t(random_() % 24), uint8_t(0x0d + random_() % 5), uint32_t(random_() & 0xffffff),
                         uint32_t(random_() % 4097));
    x.packet.syndrome = Bits<8>(random_());
    x.packet.msn = Bits<24>(random_());
    x.sequence = Bits<2>(hw::kIgnore);
    x.packet.drop = hw::DropCode(one_in(3) ? 3 : 0);
    packets_.push_back(x);
  }
};

// The stage with its outputs, and the READs that it lets through given back after a while.
struct Outputs {
  hls::stream<RxVerdict> out;
  hls::stream<Response> response;
  hls::stream<ReadServed> served;
  test::Sink<RxVerdict> verdicts;
  test::Sink<Response> responses;
  hw::tables::Msn stage;
  std::vector<ReadServed> given_back;
  size_t given_back_taken = 0, looked_at = 0;

  // `percent`: how often a READ that waits to be served is, in a cycle.
  Outputs(test::Bench& bench, unsigned sink, unsigned percent)
      : verdicts(bench, out, sink), responses(bench, response, sink) {
    test::configure(out, "out", 4);
    test::configure(response, "response", 4);
    test::configure(served, "served", 2);
    bench.add_port([this, &bench, percent] {
      while (looked_at < responses.tokens.size() && !bool(responses.tokens[looked_at].read)) looked_at++;
      if (looked_at == responses.tokens.size() || served.full() || !bench.chance(percent)) return;
      ReadServed s;
      s.qpn = responses.tokens[looked_at++].qpn;
      served.write(s);
      given_back.push_back(s);
    });
  }
};

TEST(Msn, FollowsTheModelUnderRandomTrafficAndStalls) {
  std::map<std::string, uint64_t> seen;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    for (const Table::Pace& pace : test::paces<Table>()) {
      std::mt19937_64 random(seed);
      std::vector<MsnControl> controls;
      for (uint32_t i = 0; i < 900; i++) {
        const uint32_t qpn = i < 24 ? i : uint32_t(random() % 24);
        controls.push_back(
            open(qpn, 0xffffff - uint32_t(random() % 4), 1 + qpn % 5, unsigned(random() % 4 ? random() % 3 : 16)));
      }
      Table t(seed, pace, Messages(random).make(6000), controls);
      Outputs o(t.bench, pace.sink, unsigned(seed * seed));
      Model model;
      o.stage.params.ack_every_packet = seed % 2;
      model.every_packet = seed % 2 != 0;
      t.run(model, [&] {
        o.stage.step(t.in, t.control, o.served, o.out, o.response);
        if (o.served.last_read() == t.bench.now()) model.served(o.given_back[o.given_back_taken++]);
      });

      for (RxVerdict& v : o.verdicts.tokens) v = meant(v);
      for (Response& r : o.responses.tokens) r = meant(r);
      test::expect_equal(o.verdicts.tokens, model.verdicts);
      test::expect_equal(o.responses.tokens, model.responses);
      EXPECT_LE(t.longest_control_wait, 1u);
      EXPECT_EQ(o.stage.packets.v.u64(), model.seen["accepted"]);
      EXPECT_EQ(o.stage.messages.v.u64(), model.seen["messages"]);
      EXPECT_EQ(o.stage.rx_write_requests.v.u64(), model.seen["writes begun"]);
      EXPECT_EQ(o.stage.rx_read_requests.v.u64(), model.seen["reads begun"]);
      EXPECT_EQ(o.stage.invalid_request.v.u64(), model.seen["invalid request"]);
      EXPECT_EQ(o.stage.dead_drops.v.u64(), model.seen["dead"]);
      for (const auto& s : model.seen) seen[s.first] += s.second;
    }
  }
  for (const char* what : {"ignored",
                           "answer",
                           "dead",
                           "duplicate",
                           "gap",
                           "accepted",
                           "messages",
                           "invalid request",
                           "remote access",
                           "wrap",
                           "not ready",
                           "SEND",
                           "WRITE with immediate",
                           "empty WRITE with immediate",
                           "one READ too many",
                           "duplicate READ",
                           "duplicate READ dropped",
                           "duplicate READ refused",
                           "served",
                           "SEND too long"})
    EXPECT_GT(seen[what], 20u) << what;
}

// Offers `packets` to QP 3 of PMTU 256 as fast as they are taken; READs are given back as soon as they come out.
struct Unhindered {
  test::Bench bench;
  hls::stream<RxChecked> in;
  hls::stream<MsnControl> control;
  Outputs outputs{bench, 100, 100};
  std::unique_ptr<test::Source<RxChecked>> source;

  Unhindered(const std::vector<RxChecked>& packets, hw::Cycles cycles) {
    test::configure(in, "in", 4);
    test::configure(control, "control", 2);
    control.write(open(3, 9, 1, 16));
    const auto step = [this] { outputs.stage.step(in, control, outputs.served, outputs.out, outputs.response); };
    bench.run(4, step);
    source = std::make_unique<test::Source<RxChecked>>(bench, in, packets);
    bench.run(cycles, step);
    EXPECT_EQ(outputs.verdicts.tokens.size(), packets.size());
    EXPECT_EQ(outputs.responses.tokens.size(), packets.size());
  }
};

TEST(Msn, OnePacketACycleOfOneQpThreeCyclesFromOfferToOffer) {
  for (const uint8_t first : {0x00, 0x06}) {  // SEND, WRITE
    std::vector<RxChecked> packets;
    packets.push_back(packet(3, first, 0, 256, 100 * 256, 0x4000, true));
    for (uint32_t i = 1; i < 99; i++) packets.push_back(packet(3, uint8_t(first + 1), i, 256, 0, 0, true));
    packets.push_back(packet(3, uint8_t(first + 2), 99, 256, 0, 0, true));
    const Unhindered run(packets, 110);
    const auto& verdicts = run.outputs.verdicts;
    const auto& responses = run.outputs.responses;
    for (size_t i = 0; i < packets.size(); i++) {
      EXPECT_TRUE(bool(verdicts.tokens[i].placement.keep));
      EXPECT_EQ(verdicts.tokens[i].placement.address.u64(), 0x4000 + 256 * i);
      EXPECT_EQ(responses.tokens[i].msn.u64(), i == 99 ? 10u : 9u);
      EXPECT_EQ(run.source->cycles[i], run.source->cycles[0] + i);
      EXPECT_EQ(verdicts.cycles[i], run.source->cycles[i] + 3);
      EXPECT_EQ(responses.cycles[i], run.source->cycles[i] + 3);
    }
  }
}

// A READ that has been served takes a cycle of its own.
TEST(Msn, AReadEverySecondCycleWhenEachIsGivenBackAtOnce) {
  std::vector<RxChecked> packets;
  for (uint32_t i = 0; i < 100; i++) packets.push_back(packet(3, 0x0c, i, 0, 64, 0x1000 + i));
  const Unhindered run(packets, 230);
  const auto& responses = run.outputs.responses;
  for (size_t i = 0; i < packets.size(); i++) {
    EXPECT_TRUE(bool(responses.tokens[i].read));
    EXPECT_EQ(responses.tokens[i].msn.u64(), 10u + i);
    if (i >= 20) {
      EXPECT_EQ(responses.cycles[i], responses.cycles[i - 1] + 2);
    }
  }
}

}  // namespace
