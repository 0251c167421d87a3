// The requester as a whole - work_queue, flow_control, retransmit, timer - closed over a lossy channel and a plain
// responder. Whatever is lost, doubled or late, each message completes once, in order, and nothing is left behind.
#include <deque>
#include <map>
#include <memory>

#include "bench.hpp"
#include "hw/tables/retransmit.hpp"
#include "hw/tables/timer.hpp"
#include "hw/tx/flow_control.hpp"
#include "hw/tx/work_queue.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;
using hw::Cycles;

constexpr uint64_t kPsnMask = 0xffffff, kPmtu = 256;

template <class Stage>
auto quiet_of(const Stage& s, int) -> decltype(s.quiet()) {
  return s.quiet();
}
template <class Stage>
Cycles quiet_of(const Stage&, long) {
  return hw::kForever;
}
template <class Stage>
auto skip_of(Stage& s, Cycles n, int) -> decltype(s.skip(n)) {
  s.skip(n);
}
template <class Stage>
void skip_of(Stage&, Cycles, long) {}

// Calls stages when they are due (rule 5 of the stage contract), or in every cycle.
class Domain {
 public:
  explicit Domain(bool every_cycle) : every_cycle_(every_cycle) {}

  template <class Stage>
  int add(Stage& stage, std::function<void()> step) {
    shells_.push_back(Shell{std::move(step), [&stage] { return quiet_of(stage, 0); },
                            [&stage](Cycles n) { skip_of(stage, n, 0); }, 0});
    scheduler_.wake(int(shells_.size()) - 1, 0);
    return int(shells_.size()) - 1;
  }
  template <class T>
  void connect(hls::stream<T>& s, const char* name, unsigned capacity, unsigned depth, int writer, int reader) {
    s.configure(hw::StreamSpec{name, capacity, hw::Kind::lutram});
    s.connect_writer(end(writer), depth);
    s.connect_reader(end(reader));
  }
  void step() {
    const Cycles now = hw::world().now;
    const hw::Scheduler::Mask due = scheduler_.advance(now);
    for (size_t i = 0; i < shells_.size(); i++) {
      Shell& shell = shells_[i];
      if (!every_cycle_ && !(due.w[i / 64] >> (i % 64) & 1)) continue;
      if (now > shell.next) shell.skip(now - shell.next);
      hw::world().acted = false;
      shell.step();
      shell.next = now + 1;
      const Cycles quiet = hw::world().acted ? 0 : shell.quiet();
      if (quiet != hw::kForever) scheduler_.wake(int(i), now + 1 + quiet);
    }
  }

 private:
  struct Shell {
    std::function<void()> step;
    std::function<Cycles()> quiet;
    std::function<void(Cycles)> skip;
    Cycles next;
  };
  hw::StreamBase::End end(int stage) {
    hw::StreamBase::End e;
    if (stage >= 0) e.scheduler = &scheduler_;
    e.stage = stage;
    return e;
  }

  bool every_cycle_;
  hw::Scheduler scheduler_;
  std::vector<Shell> shells_;
};

struct Scenario {
  uint64_t seed = 1;
  bool every_cycle = true;
  unsigned qps = 1, messages = 40;  // messages per QP
  uint64_t longest = 6 * kPmtu;     // bytes
  uint32_t window = 16, entries = 64, ack_interval = 4;
  unsigned depth = 2;
  unsigned retry_count = 7;
  // The channel. Percentages; delays in cycles.
  unsigned packet_loss = 0, ack_loss = 0, ack_double = 0, out_room = 100, cqe_room = 100;
  Cycles packet_delay = 10, ack_delay = 10, ack_jitter = 0;
  // The first `broken` QPs have a peer that answers packet `break_at` with NAK `syndrome`, or with silence (0), and
  // everything after it with silence.
  unsigned broken = 0;
  uint64_t break_at = 0, syndrome = 0;
};

// A responder by the rules of IBTA 9.7.5.1, in plain integers.
class Peer {
 public:
  Peer(uint64_t first_psn, uint64_t break_at, uint64_t syndrome)
      : expected_(first_psn), break_at_(break_at), syndrome_(syndrome) {}

  // The answer to a packet; false: none.
  bool receive(const hw::TxPacket& p, hw::RxAck& answer) {
    answer.qpn = p.qpn;
    if (broken_) return false;
    const uint64_t ahead = (p.psn.v.u64() - expected_) & kPsnMask;
    if (ahead >= 1 << 23) return reply(answer, expected_ - 1, 0x1f);
    if (ahead > 0) {
      if (nak_sent_) return false;
      nak_sent_ = true;
      return reply(answer, expected_, 0x60);
    }
    if (accepted_ == break_at_) {
      broken_ = true;
      return syndrome_ != 0 && reply(answer, expected_, syndrome_);
    }
    accepted_++;
    expected_ = (expected_ + 1) & kPsnMask;
    nak_sent_ = false;
    return bool(p.ack_request) && reply(answer, expected_ - 1, 0x1f);
  }
  uint64_t accepted() const { return accepted_; }

 private:
  static bool reply(hw::RxAck& answer, uint64_t psn, uint64_t syndrome) {
    answer.psn = hw::Psn(psn & kPsnMask);
    answer.syndrome = Bits<8>(syndrome);
    return true;
  }
  uint64_t expected_, break_at_, syndrome_;
  bool nak_sent_ = false, broken_ = false;
  uint64_t accepted_ = 0;
};

// Equal but for the request of an acknowledgement.
bool same(const hw::TxPacket& a, const hw::TxPacket& b) {
  return a.opcode == b.opcode && a.qpn == b.qpn && a.psn == b.psn && a.local_address == b.local_address &&
         a.remote_address == b.remote_address && a.rkey == b.rkey && a.dma_length == b.dma_length &&
         a.payload == b.payload && a.last == b.last && a.index == b.index;
}

// One QP as the test knows it: its messages, the packets that they must become, and what was seen of it.
struct Qp {
  uint64_t first_psn;
  std::vector<hw::Wqe> messages;
  std::vector<hw::TxPacket> packets;
  std::unique_ptr<Peer> peer;
  uint64_t sent = 0, released = 0;  // packets
  std::vector<uint64_t> statuses;   // of the completions, in order
};

class Requester {
 public:
  explicit Requester(const Scenario& scenario) : s_(scenario), bench_(scenario.seed), domain_(scenario.every_cycle) {
    build_stages();
    build_traffic();
    bench_.add_port([this] { watch_commands(); });
    bench_.add_port([this] { take_packet(); });
    bench_.add_port([this] { deliver(); });
    bench_.add_port([this] { take_completion(); });
  }

  void run(Cycles limit = 3000000) {
    open_all();
    test::Source<hw::Wqe> source(bench_, send_queue_, order_);
    for (Cycles i = 0; i < limit && completed_ < uint64_t(s_.qps) * s_.messages; i++) tick();
    for (int i = 0; i < 6000; i++) tick();  // what is late must not matter
  }

  // Every message completed once and nothing is held. That they completed in order was checked on the way.
  void expect_clean_end() {
    for (const Qp& qp : qps) EXPECT_EQ(qp.statuses.size(), s_.messages);
    EXPECT_EQ(retransmit->free_entries(), uint64_t(hw::kListEntries) - s_.qps);
    EXPECT_EQ(flow_control.in_flight(), 0u);
    EXPECT_FALSE(flow_control.holds_packet());
    for (const hw::StreamBase* s : {static_cast<hw::StreamBase*>(&new_packet_), static_cast<hw::StreamBase*>(&list_),
                                    static_cast<hw::StreamBase*>(&timer_in_), static_cast<hw::StreamBase*>(&expired_),
                                    static_cast<hw::StreamBase*>(&out_), static_cast<hw::StreamBase*>(&completions_)})
      EXPECT_EQ(s->fill(), 0u) << s->spec().name;
  }

  std::vector<Qp> qps;
  hw::tx::FlowControl flow_control;
  std::unique_ptr<hw::tables::Retransmit> retransmit{new hw::tables::Retransmit};
  std::vector<std::string> trace;     // every packet and completion with its cycle
  std::vector<Cycles> packet_cycles;  // in which each packet left
  uint64_t most_in_flight = 0;

 private:
  void build_stages() {
    work_queue_.params.ack_interval = s_.ack_interval;
    flow_control.params.window_packets = s_.window;
    flow_control.params.entries = s_.entries;
    timer_.params.unit_cycles = 64;
    timer_.params.qps = s_.qps;
    const int wq = domain_.add(work_queue_, [this] { work_queue_.step(send_queue_, wq_control_, new_packet_); });
    const int fc = domain_.add(
        flow_control, [this] { flow_control.step(new_packet_, acks_, expired_, fc_control_, list_, timer_in_); });
    const int rt = domain_.add(*retransmit, [this] { retransmit->step(list_, out_, completions_); });
    const int tm = domain_.add(timer_, [this] { timer_.step(timer_in_, expired_); });
    domain_.connect(send_queue_, "send_queue", 16, 1, -1, wq);
    domain_.connect(wq_control_, "work_queue_control", 2, 1, -1, wq);
    domain_.connect(fc_control_, "flow_control_control", 2, 1, -1, fc);
    domain_.connect(acks_, "acks", 8, 1, -1, fc);
    domain_.connect(new_packet_, "new_packet", 8, s_.depth, wq, fc);
    domain_.connect(list_, "list", 8, s_.depth, fc, rt);
    domain_.connect(timer_in_, "timer_in", 8, s_.depth, fc, tm);
    domain_.connect(expired_, "expired", 2, s_.depth, tm, fc);
    domain_.connect(out_, "out", 8, s_.depth, rt, -1);
    domain_.connect(completions_, "completions", 8, s_.depth, rt, -1);
  }

  // Messages of random length in random order over the QPs, and the packets that they must become.
  void build_traffic() {
    std::mt19937_64& random = bench_.random();
    for (unsigned q = 0; q < s_.qps; q++) {
      Qp qp;
      qp.first_psn = q % 2 == 0 ? (kPsnMask - random() % 100) : random() & kPsnMask;
      const bool broken = q < s_.broken;
      qp.peer.reset(new Peer(qp.first_psn, broken ? s_.break_at : ~uint64_t(0), s_.syndrome));
      qps.push_back(std::move(qp));
    }
    for (unsigned n = 0; n < s_.qps * s_.messages; n++) {
      unsigned q = s_.seed == 0 ? n % s_.qps : unsigned(random() % s_.qps);
      while (qps[q].messages.size() == s_.messages) q = (q + 1) % s_.qps;
      add_message(q, random() % 4 == 0 ? random() % 2 : random() % (s_.longest + 1));
    }
  }
  void add_message(unsigned q, uint64_t length) {
    Qp& qp = qps[q];
    hw::Wqe w;
    w.qpn = hw::Qpn(q);
    w.index = Bits<16>(qp.messages.size());
    w.length = Bits<32>(length);
    w.local_address = Bits<64>((uint64_t(q) << 40) + (qp.messages.size() << 20));
    w.remote_address = Bits<64>(~w.local_address.u64());
    w.rkey = Bits<32>(q * 1000 + 7);
    for (uint64_t at = 0; at == 0 || at < length; at += kPmtu) {
      const bool first = at == 0, last = length - at <= kPmtu;
      hw::TxPacket p;
      p.opcode = Bits<8>(first ? (last ? 0x0a : 0x06) : (last ? 0x08 : 0x07));
      p.qpn = w.qpn;
      p.psn = hw::Psn((qp.first_psn + qp.packets.size()) & kPsnMask);
      p.local_address = Bits<64>(w.local_address.u64() + at);
      p.remote_address = w.remote_address;
      p.rkey = w.rkey;
      p.dma_length = w.length;
      p.payload = hw::PacketBytes(last ? length - at : kPmtu);
      p.last = Bits<1>(last);
      p.index = w.index;
      qp.packets.push_back(p);
    }
    qp.messages.push_back(w);
    order_.push_back(w);
  }

  void tick() {
    bench_.tick([this] { domain_.step(); });
  }
  void open_all() {
    for (unsigned q = 0; q < s_.qps; q++) {
      hw::WorkQueueControl w;
      w.qpn = hw::Qpn(q);
      w.pmtu = hw::PmtuCode(1);
      wq_control_.write(w);
      hw::FlowControlControl f;
      f.qpn = hw::Qpn(q);
      f.psn = hw::Psn(qps[q].first_psn);
      f.timeout = Bits<5>(4);
      f.retry_count = Bits<3>(s_.retry_count);
      fc_control_.write(f);
      for (int i = 0; i < 4; i++) tick();
    }
  }

  // What flow_control promises to the list.
  void watch_commands() {
    if (list_.written() == commands_seen_) return;
    commands_seen_ = list_.written();
    const hw::ListCommand& c = list_.newest();
    Qp& qp = qps[c.packet.qpn.u64()];
    if (c.op.u64() == hw::kListSend) {
      ASSERT_EQ(c.packet.psn.v.u64(), (qp.first_psn + qp.sent) & kPsnMask) << "PSNs follow each other";
      qp.sent++, total_++;
    } else if (c.op.u64() == hw::kListRelease || c.op.u64() == hw::kListAbort) {
      qp.released += c.count.u64(), total_ -= c.count.u64();
      const bool acknowledged = c.op.u64() == hw::kListAbort || qp.released <= qp.peer->accepted();
      ASSERT_TRUE(acknowledged) << "released what the peer did not take";
    } else if (c.op.u64() == hw::kListReplay) {
      ASSERT_EQ(c.packet.psn.v.u64(), (qp.first_psn + qp.released) & kPsnMask) << "from the oldest on";
      ASSERT_EQ(c.count.u64(), qp.sent - qp.released);
    }
    ASSERT_LE(qp.released, qp.sent);
    ASSERT_LE(qp.sent - qp.released, s_.window);
    ASSERT_LE(total_, s_.entries);
    most_in_flight = std::max(most_in_flight, total_);
  }

  void take_packet() {
    if (!bench_.chance(s_.out_room) || out_.empty()) return;
    const hw::TxPacket p = out_.read();
    const Qp& qp = qps[p.qpn.u64()];
    const uint64_t n = (p.psn.v.u64() - qp.first_psn) & kPsnMask;
    ASSERT_LT(n, qp.packets.size());
    ASSERT_TRUE(same(p, qp.packets[n])) << "new or sent again, a packet is what it was: " << test::text(p)
                                        << "\ninstead of " << test::text(qp.packets[n]);
    note("packet " + std::to_string(p.qpn.u64()) + " " + std::to_string(p.psn.v.u64()));
    packet_cycles.push_back(bench_.now());
    if (!bench_.chance(s_.packet_loss)) packets_under_way_.push_back({bench_.now() + s_.packet_delay, p});
  }

  // Packets arrive in order, answers overtake each other.
  void deliver() {
    if (!packets_under_way_.empty() && packets_under_way_.front().first <= bench_.now()) {
      const hw::TxPacket p = packets_under_way_.front().second;
      packets_under_way_.pop_front();
      hw::RxAck answer;
      if (qps[p.qpn.u64()].peer->receive(p, answer)) {
        const int copies = bench_.chance(s_.ack_loss) ? 0 : bench_.chance(s_.ack_double) ? 2 : 1;
        for (int i = 0; i < copies; i++)
          answers_.insert({bench_.now() + s_.ack_delay + bench_.random()() % (s_.ack_jitter + 1), answer});
      }
    }
    if (answers_.empty() || answers_.begin()->first > bench_.now() || acks_.full()) return;
    acks_.write(answers_.begin()->second);
    answers_.erase(answers_.begin());
  }

  void take_completion() {
    if (!bench_.chance(s_.cqe_room) || completions_.empty()) return;
    const hw::Completion c = completions_.read();
    Qp& qp = qps[c.qpn.u64()];
    ASSERT_EQ(c.index.u64(), qp.statuses.size()) << "in order, each once";
    qp.statuses.push_back(c.status.u64());
    completed_++;
    note("completion " + std::to_string(c.qpn.u64()) + " " + std::to_string(c.index.u64()));
  }

  void note(const std::string& what) { trace.push_back(std::to_string(bench_.now()) + " " + what); }

  Scenario s_;
  test::Bench bench_;
  Domain domain_;
  hw::tx::WorkQueue work_queue_;
  hw::tables::Timer timer_;
  hls::stream<hw::Wqe> send_queue_;
  hls::stream<hw::WorkQueueControl> wq_control_;
  hls::stream<hw::FlowControlControl> fc_control_;
  hls::stream<hw::TxPacket> new_packet_, out_;
  hls::stream<hw::RxAck> acks_;
  hls::stream<hw::TimerExpired> expired_;
  hls::stream<hw::ListCommand> list_;
  hls::stream<hw::TimerCommand> timer_in_;
  hls::stream<hw::Completion> completions_;

  std::vector<hw::Wqe> order_;
  std::deque<std::pair<Cycles, hw::TxPacket>> packets_under_way_;
  std::multimap<Cycles, hw::RxAck> answers_;
  uint64_t commands_seen_ = 0, total_ = 0, completed_ = 0;
};

// A scenario for each seed: sizes, loads and faults all over their ranges.
Scenario lossy(uint64_t seed) {
  std::mt19937_64 random(seed * 7919);
  const auto pick = [&random](std::initializer_list<unsigned> values) {
    return *(values.begin() + random() % values.size());
  };
  Scenario s;
  s.seed = seed;
  s.qps = pick({1, 2, 5, 16});
  s.messages = s.qps == 1 ? 150 : 30;
  s.longest = pick({1, 3, 12, 40}) * kPmtu;
  s.window = pick({1, 2, 7, 16, 64});
  s.entries = pick({1, 3, 16, 100});
  s.ack_interval = pick({1, 4, 16});
  s.depth = pick({1, 2});
  s.packet_loss = pick({0, 1, 5, 10});
  s.ack_loss = pick({0, 1, 5, 10});
  s.ack_double = pick({0, 5, 30});
  s.ack_jitter = pick({0, 30, 200});
  s.out_room = pick({100, 70, 30});
  s.cqe_room = pick({100, 50});
  return s;
}

class RequesterSeeds : public ::testing::TestWithParam<int> {};

TEST_P(RequesterSeeds, EveryMessageCompletesOnceAndInOrder) {
  Scenario s = lossy(uint64_t(GetParam()));
  Requester every_cycle(s);
  every_cycle.run();
  every_cycle.expect_clean_end();
  for (const Qp& qp : every_cycle.qps) {
    EXPECT_EQ(qp.statuses, std::vector<uint64_t>(s.messages, hw::kSuccess));
    EXPECT_EQ(qp.sent, qp.packets.size());
    EXPECT_EQ(qp.peer->accepted(), qp.packets.size());
  }
  // The same cycles when the stages sleep.
  s.every_cycle = false;
  Requester asleep(s);
  asleep.run();
  EXPECT_EQ(asleep.trace, every_cycle.trace);
}

// Some peers fall silent or refuse a packet; the QPs beside them do not notice.
TEST_P(RequesterSeeds, BrokenPeersEndTheirQpOnly) {
  Scenario s = lossy(uint64_t(GetParam()));
  std::mt19937_64 random(s.seed);
  s.qps += 1;
  s.broken = 1 + unsigned(random() % s.qps);
  s.break_at = random() % 20;
  s.retry_count = 7;
  const uint64_t syndromes[] = {0, 0x61, 0x62, 0x63};
  s.syndrome = syndromes[random() % 4];
  Requester requester(s);
  requester.run();
  requester.expect_clean_end();
  for (unsigned q = 0; q < s.qps; q++) {
    SCOPED_TRACE(q);
    const Qp& qp = requester.qps[q];
    size_t good = 0;
    while (good < qp.statuses.size() && qp.statuses[good] == hw::kSuccess) good++;
    if (q >= s.broken || s.break_at >= qp.packets.size()) {
      EXPECT_EQ(good, s.messages);
      continue;
    }
    const uint64_t failed_message = qp.packets[s.break_at].index.u64();
    EXPECT_LE(good, failed_message);
    ASSERT_LT(good, qp.statuses.size());
    // A lost NAK ends like silence.
    if (qp.statuses[good] != hw::kRetriesExceeded) {
      EXPECT_EQ(qp.statuses[good], s.syndrome - 0x61 + hw::kRemoteInvalid);
      EXPECT_EQ(good, failed_message) << "a NAK acknowledges what lies before it";
    } else {
      EXPECT_TRUE(s.syndrome == 0 || s.ack_loss > 0);
    }
    for (size_t i = good + 1; i < qp.statuses.size(); i++) EXPECT_EQ(qp.statuses[i], hw::kFlushed);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RequesterSeeds, ::testing::Range(1, 201));

TEST(Requester, DeadPeerSeesTheOldestPacketOnceAndOncePerRetry) {
  Scenario s;
  s.messages = 3;
  s.longest = 0;
  s.broken = 1;
  s.break_at = 0;
  s.retry_count = 5;
  Requester requester(s);
  requester.run();
  requester.expect_clean_end();
  EXPECT_EQ(requester.qps[0].statuses, std::vector<uint64_t>({hw::kRetriesExceeded, hw::kFlushed, hw::kFlushed}));
  EXPECT_EQ(requester.packet_cycles.size(), 3u * 6);
  EXPECT_EQ(requester.flow_control.local_ack_timeout_err.v.u64(), 6u);
  EXPECT_EQ(requester.flow_control.req_transport_retries_exceeded.v.u64(), 1u);
}

// One packet a message and one acknowledgement a packet: a job of one cycle and one of two.
TEST(Requester, PacketAndReleaseEveryThreeCycles) {
  for (const unsigned qps : {1u, 16u}) {
    Scenario s;
    s.seed = 0;
    s.qps = qps;
    s.messages = 800 / qps;
    s.longest = 0;
    s.window = 64;
    s.entries = 64 * qps;
    Requester requester(s);
    requester.run();
    requester.expect_clean_end();
    ASSERT_EQ(requester.packet_cycles.size(), 800u);
    for (size_t i = 100; i < 799; i++)
      ASSERT_EQ(requester.packet_cycles[i + 1] - requester.packet_cycles[i], 3u) << qps << " QPs, packet " << i;
  }
}

}  // namespace
