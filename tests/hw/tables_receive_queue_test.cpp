#include <deque>
#include <map>

#include "bench.hpp"
#include "hw/tables/receive_queue.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::ReceivePosted;
using hw::ReceiveQueueControl;
using hw::ReceiveWqe;
using hw::RxChecked;

enum : uint8_t { kSendFirst = 0, kSendMiddle = 1, kSendLast = 2, kSendOnly = 4, kWriteLast = 8, kWriteLastImm = 9 };

RxChecked packet(uint32_t qpn, uint8_t opcode, uint64_t nak = 0, uint64_t sequence = hw::kInOrder) {
  RxChecked x;
  x.packet.qpn = hw::Qpn(qpn);
  x.packet.opcode = Bits<8>(opcode);
  x.nak = Bits<8>(nak);
  x.sequence = Bits<2>(sequence);
  return x;
}

ReceiveWqe wqe(uint32_t qpn, uint32_t number) {
  ReceiveWqe w;
  w.qpn = hw::Qpn(qpn);
  w.address = Bits<64>(0x100000000u + uint64_t(qpn) * 0x1000000 + number * 16);
  w.length = Bits<32>(100 + number);
  w.index = Bits<16>(number);
  return w;
}

ReceiveQueueControl restart(uint32_t qpn) {
  ReceiveQueueControl c;
  c.qpn = hw::Qpn(qpn);
  return c;
}

// Queues in plain containers: Sends begin at opcodes 0, 4, 5; of the WRITEs those with immediate take a work request.
struct Model {
  std::map<uint64_t, std::deque<ReceiveWqe>> queues;
  std::map<uint64_t, ReceiveWqe> running;

  static bool takes(const RxChecked& p) {
    const uint64_t op = p.packet.opcode.u64();
    return p.sequence.u64() == hw::kInOrder && p.nak.u64() == 0 &&
           (op == 0x00 || op == 0x04 || op == 0x05 || op == 0x09 || op == 0x0b);
  }
  RxChecked packet(const RxChecked& p) {
    RxChecked x = p;
    const uint64_t qpn = p.packet.qpn.u64();
    const bool send = p.packet.opcode.u64() <= 0x05;
    if (takes(p)) {
      running[qpn] = queues[qpn].front();
      queues[qpn].pop_front();
      x.receive = running[qpn].index;
      if (send) {
        x.address = running[qpn].address;
        x.room = running[qpn].length;
      }
    } else if (send && p.sequence.u64() == hw::kInOrder && p.nak.u64() == 0) {
      x.receive = running[qpn].index;
    }
    return x;
  }
};

struct Harness {
  test::Bench bench;
  hls::stream<RxChecked> in, out;
  hls::stream<ReceiveWqe> wqes;
  hls::stream<ReceiveQueueControl> control;
  hls::stream<ReceivePosted> posted;
  hw::tables::ReceiveQueue stage;

  explicit Harness(uint64_t seed = 1) : bench(seed) {
    test::configure(in, "in", 4);
    test::configure(wqes, "wqes", 4);
    test::configure(control, "control", 4);
    test::configure(out, "out", 4);
    test::configure(posted, "posted", 4);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, wqes, control, out, posted); });
  }
};

// Offers packets as qp_state does: one that finds no work request told carries an RNR NAK. So what must come of it is
// known when it is offered, whatever the stage does meanwhile.
class Peer {
 public:
  Peer(Harness& h, std::vector<RxChecked> packets, unsigned percent) : packets_(std::move(packets)) {
    h.bench.add_port([this, &h, percent] {
      if (done() || !h.bench.chance(percent) || h.in.full()) return;
      RxChecked p = packets_[next_++];
      uint64_t& told = told_[p.packet.qpn.u64()];
      if (Model::takes(p) && told == 0) p.nak = Bits<8>(0x21);
      if (Model::takes(p)) {
        told--;
        open--;
        taken++;
      }
      expected.push_back(model.packet(p));
      h.in.write(p);
    });
  }
  void post(const ReceiveWqe& w) {
    model.queues[w.qpn.u64()].push_back(w);
    open++;
  }
  void told(const ReceivePosted& p) { told_[p.qpn.u64()]++; }
  bool done() const { return next_ == packets_.size(); }

  Model model;
  std::vector<RxChecked> expected;
  uint64_t open = 0, taken = 0;  // work requests

 private:
  std::vector<RxChecked> packets_;
  std::map<uint64_t, uint64_t> told_;
  size_t next_ = 0;
};

struct Pace {
  unsigned packets, wqes, control, posted, out;
};

void expect_the_model(uint64_t seed, const Pace& pace, size_t count) {
  Harness h(seed);
  std::mt19937_64 random(seed);
  const uint32_t qpns[] = {3, 4, hw::kMaxQps - 1};
  std::vector<RxChecked> packets;
  for (size_t i = 0; i < count; i++) {
    RxChecked p = packet(qpns[random() % 3], uint8_t(random() % 16), random() % 16 ? 0 : 0x61,
                         random() % 8 ? uint64_t(hw::kInOrder) : random() % 4);
    p.address = Bits<64>(random());
    p.expected = hw::Psn(random());
    packets.push_back(p);
  }
  Peer peer(h, packets, pace.packets);
  std::map<uint32_t, uint32_t> number;
  h.bench.add_port([&] {
    if (h.wqes.full() || !h.bench.chance(pace.wqes) || peer.open >= hw::kReceiveWqes / 2) return;
    const uint32_t qpn = qpns[h.bench.random()() % 3];
    peer.post(wqe(qpn, number[qpn]++));
    h.wqes.write(peer.model.queues[qpn].back());
  });
  h.bench.add_port([&] {  // of a QP without traffic
    if (!h.control.full() && h.bench.chance(pace.control)) h.control.write(restart(77));
  });
  h.bench.add_port([&] {
    if (!h.posted.empty() && h.bench.chance(pace.posted)) peer.told(h.posted.read());
  });
  test::Sink<RxChecked> sink(h.bench, h.out, pace.out);
  for (size_t limit = 0; !peer.done() && limit < 100 * count; limit++) h.run(1);
  ASSERT_TRUE(peer.done()) << "the stage has stopped taking";
  h.run(100);
  ASSERT_EQ(sink.tokens.size(), peer.expected.size());
  for (size_t i = 0; i < sink.tokens.size(); i++)
    ASSERT_EQ(test::text(sink.tokens[i]), test::text(peer.expected[i])) << "packet " << i;
  EXPECT_GT(peer.taken, 3u * hw::kReceiveWqes) << "no ring has been round";
}

TEST(ReceiveQueue, FollowsTheModelUnderRandomTrafficAndStalls) {
  const Pace paces[] = {{100, 100, 0, 100, 100}, {100, 50, 10, 100, 100}, {50, 100, 50, 30, 100},
                        {100, 60, 20, 50, 50},   {60, 60, 100, 100, 60},  {90, 100, 30, 20, 100}};
  uint64_t seed = 0;
  for (const Pace& pace : paces) expect_the_model(++seed, pace, 15000);
}

TEST(ReceiveQueue, OnePacketACycleOfOneQpThreeCyclesAfterItWasOffered) {
  Harness h;
  std::vector<ReceiveWqe> wqes;
  for (uint32_t i = 0; i < 60; i++) wqes.push_back(wqe(9, i));
  test::Source<ReceiveWqe> requests(h.bench, h.wqes, wqes);
  test::Sink<ReceivePosted> posted(h.bench, h.posted);
  h.run(70);
  ASSERT_EQ(posted.tokens.size(), 60u);
  for (size_t i = 0; i < 60; i++) {
    EXPECT_EQ(requests.cycles[i], i);
    EXPECT_EQ(posted.cycles[i], i + 2);  // offered, taken and told, read
  }
  test::Source<RxChecked> source(h.bench, h.in, std::vector<RxChecked>(60, packet(9, kSendOnly)));
  test::Sink<RxChecked> sink(h.bench, h.out);
  h.run(70);
  ASSERT_EQ(sink.tokens.size(), 60u);
  for (size_t i = 0; i < 60; i++) {
    EXPECT_EQ(source.cycles[i], source.cycles[0] + i);
    EXPECT_EQ(sink.cycles[i], source.cycles[i] + 4);  // offered, taken, fetched, filled, read
    EXPECT_EQ(sink.tokens[i].receive.u64(), i);
    EXPECT_EQ(sink.tokens[i].address.u64(), wqe(9, uint32_t(i)).address.u64());
    EXPECT_EQ(sink.tokens[i].room.u64(), 100 + i);
  }
}

TEST(ReceiveQueue, PacketsWorkRequestsAndControlTakeTurnsWhenAllPress) {
  Harness h;
  test::Source<RxChecked> source(h.bench, h.in, std::vector<RxChecked>(60, packet(9, kWriteLast)));
  test::Source<ReceiveWqe> requests(h.bench, h.wqes, std::vector<ReceiveWqe>(60, wqe(9, 1)));
  test::Source<ReceiveQueueControl> controls(h.bench, h.control, std::vector<ReceiveQueueControl>(60, restart(5)));
  test::Sink<RxChecked> sink(h.bench, h.out);
  test::Sink<ReceivePosted> posted(h.bench, h.posted);
  h.run(130);
  for (size_t i = 1; i < 40; i++) {
    EXPECT_EQ(sink.cycles.at(i), sink.cycles[0] + 3 * i);
    EXPECT_EQ(posted.cycles.at(i), posted.cycles[0] + 3 * i);
  }
}

TEST(ReceiveQueue, AWriteWithImmediateTakesItsWorkRequestAtItsLastPacketAndNotItsMemory) {
  Harness h;
  const uint8_t opcodes[] = {0x06, 0x07, kWriteLastImm, 0x0b, 0x0a, kSendOnly};
  for (uint32_t i = 0; i < 3; i++) h.wqes.write(wqe(2, 40 + i)), h.run(4);
  std::vector<RxChecked> packets;
  for (const uint8_t op : opcodes) {
    packets.push_back(packet(2, op));
    packets.back().address = Bits<64>(0xabc000);  // from the memory region
  }
  test::Source<RxChecked> source(h.bench, h.in, packets);
  test::Sink<RxChecked> sink(h.bench, h.out);
  h.run(20);
  const uint64_t receives[] = {0, 0, 40, 41, 0, 42};
  ASSERT_EQ(sink.tokens.size(), 6u);
  for (size_t i = 0; i < 6; i++) {
    EXPECT_EQ(sink.tokens[i].receive.u64(), receives[i]) << i;
    EXPECT_EQ(sink.tokens[i].address.u64(), i == 5 ? wqe(2, 42).address.u64() : 0xabc000u) << i;
    EXPECT_EQ(sink.tokens[i].room.u64(), i == 5 ? 142u : 0u) << i;
  }
}

TEST(ReceiveQueue, AFullRingKeepsTheWorkRequestOfTheRunningMessage) {
  Harness h;
  test::Sink<ReceivePosted> posted(h.bench, h.posted);
  test::Sink<RxChecked> sink(h.bench, h.out);
  std::vector<ReceiveWqe> wqes;
  for (uint32_t i = 0; i < hw::kReceiveWqes; i++) wqes.push_back(wqe(1, i));
  test::Source<ReceiveWqe> requests(h.bench, h.wqes, wqes);
  h.run(hw::kReceiveWqes + 10);
  ASSERT_EQ(posted.tokens.size(), wqes.size());
  std::vector<RxChecked> packets;
  for (uint32_t i = 0; i < hw::kReceiveWqes; i++)
    for (const uint8_t op : {kSendFirst, kSendMiddle, kSendLast}) packets.push_back(packet(1, op));
  test::Source<RxChecked> source(h.bench, h.in, packets);
  h.run(packets.size() + 10);
  ASSERT_EQ(sink.tokens.size(), packets.size());
  for (size_t i = 0; i < packets.size(); i++) ASSERT_EQ(sink.tokens[i].receive.u64(), i / 3) << i;
}

TEST(ReceiveQueue, NobodyWhoReadsWhatIsPostedHoldsAPacketUp) {
  Harness h;
  std::vector<ReceiveWqe> wqes;
  for (uint32_t i = 0; i < 10; i++) wqes.push_back(wqe(1, i));
  test::Source<ReceiveWqe> requests(h.bench, h.wqes, wqes);
  h.run(20);
  EXPECT_TRUE(h.posted.full());
  test::Source<RxChecked> source(h.bench, h.in, std::vector<RxChecked>(4, packet(1, kSendOnly)));
  test::Sink<RxChecked> sink(h.bench, h.out);
  h.run(8);
  ASSERT_EQ(sink.tokens.size(), 4u);
  test::Sink<ReceivePosted> posted(h.bench, h.posted);
  h.run(20);
  EXPECT_EQ(posted.tokens.size(), 10u);
}

TEST(ReceiveQueue, ControlStartsTheRingOfItsQpAfresh) {
  Harness h;
  test::Sink<ReceivePosted> posted(h.bench, h.posted);
  test::Sink<RxChecked> sink(h.bench, h.out);
  for (uint32_t i = 0; i < 3; i++) h.wqes.write(wqe(1, i)), h.run(4);
  h.wqes.write(wqe(2, 70));
  h.run(4);
  h.in.write(packet(1, kSendOnly));  // in the same cycle as control, which comes behind it
  h.control.write(restart(1));
  h.run(6);
  h.wqes.write(wqe(1, 50));
  h.run(4);
  h.in.write(packet(1, kSendOnly));
  h.run(1);
  h.in.write(packet(2, kSendOnly));
  h.run(6);
  ASSERT_EQ(sink.tokens.size(), 3u);
  EXPECT_EQ(sink.tokens[0].receive.u64(), 0u);
  EXPECT_EQ(sink.tokens[1].receive.u64(), 50u);
  EXPECT_EQ(sink.tokens[2].receive.u64(), 70u) << "of another QP";
}

// Called only when a stream or quiet() says so (rule 5), a packet still comes out.
TEST(ReceiveQueue, StaysAwakeWhileAPacketIsInside) {
  Harness h;
  EXPECT_EQ(h.stage.quiet(), hw::kForever);
  h.in.write(packet(1, kWriteLast));
  h.run(3);  // offered, taken, fetched
  EXPECT_EQ(h.stage.quiet(), 0u);
  h.run(1);
  EXPECT_EQ(h.stage.quiet(), hw::kForever);
  EXPECT_FALSE(h.out.empty());
}

}  // namespace
