// The work queue between a host that never posts more than it may, and a far side that gives back credits and answers
// READs after a while. Each packet is compared with what a plain splitter makes of the QP's work requests.
#pragma once
#include <deque>
#include <map>
#include <memory>

#include "hw/tx/work_queue.hpp"
#include "stage_domain.hpp"
#include "token_text.hpp"

namespace test {

inline hw::Wqe work_request(uint64_t qpn, hw::Operation operation, uint64_t length, uint64_t index = 0) {
  hw::Wqe w;
  w.qpn = hw::Qpn(qpn);
  w.operation = hw::Bits<2>(operation);
  w.local_address = hw::Bits<64>(0x1000000000 + index * 0x1000003);
  w.remote_address = hw::Bits<64>(0x7f0000000000 + index * 0x2000001);
  w.rkey = hw::Bits<32>(0xabcd0000 + index);
  w.length = hw::Bits<32>(length);
  w.immediate = hw::Bits<32>(0x11110000 + index);
  w.index = hw::Bits<16>(index);
  return w;
}

// What the message must become; ack_request only where it has to be set in any case.
inline std::vector<hw::TxPacket> cut(const hw::Wqe& w, unsigned pmtu_code, uint64_t read_psns) {
  const uint64_t length = w.length.u64(), pmtu = 128u << pmtu_code, imm = w.has_immediate.u64();
  const bool read = w.operation.u64() == hw::kOpRead, send = w.operation.u64() == hw::kOpSend;
  const uint64_t piece = read ? pmtu * read_psns : pmtu;
  std::vector<hw::TxPacket> packets;
  for (uint64_t at = 0; at == 0 || at < length; at += piece) {
    const bool first = at == 0, last = length - at <= piece;
    const uint64_t bytes = last ? length - at : piece;
    const uint64_t write = first ? (last ? 0x0a + imm : 0x06) : (last ? 0x08 + imm : 0x07);
    hw::TxPacket p;
    p.opcode = hw::Bits<8>(read ? 0x0c : send ? write - 6 : write);
    p.qpn = w.qpn;
    p.ack_request = hw::Bits<1>(last || read);
    p.solicited = hw::Bits<1>(last && !read && bool(w.solicited));
    p.local_address = hw::Bits<64>(w.local_address.u64() + at);
    p.remote_address = hw::Bits<64>(w.remote_address.u64() + (read ? at : 0));
    p.rkey = w.rkey;
    p.dma_length = hw::Bits<32>(read ? bytes : length);
    p.immediate = w.immediate;
    p.payload = hw::PacketBytes(read ? 0 : bytes);
    p.pmtu = hw::PmtuCode(pmtu_code);
    p.psns = hw::Bits<5>(read ? std::max<uint64_t>(1, (bytes + pmtu - 1) / pmtu) : 1);
    p.last = hw::Bits<1>(last);
    p.index = w.index;
    packets.push_back(p);
  }
  return packets;
}

class WorkQueueBench {
 public:
  explicit WorkQueueBench(uint64_t seed = 1, bool every_cycle = true) : bench(seed), domain_(every_cycle) {
    const int stage = domain_.add(queue, [this] { queue.step(in, control, credits, answered, out); });
    domain_.connect(in, "in", 4, 1, -1, stage);
    domain_.connect(control, "control", 4, 1, -1, stage);
    domain_.connect(credits, "credits", 8, 1, -1, stage);
    domain_.connect(answered, "answered", 4, 1, -1, stage);
    domain_.connect(out, "out", 4, 1, stage, -1);
    bench.add_port([this] { post_next(); });
    bench.add_port([this] { take_packet(); });
    bench.add_port([this] { give_back(); });
  }

  // A new life of a QP, for which nothing of an earlier one is waited for any longer.
  void open(uint64_t qpn, unsigned pmtu_code, unsigned max_reads = 16) {
    hw::WorkQueueControl c;
    c.qpn = hw::Qpn(qpn);
    c.pmtu = hw::PmtuCode(pmtu_code);
    c.max_reads = hw::Bits<5>(max_reads);
    control.write(c);
    qps[qpn] = Qp();
    qps[qpn].pmtu_code = pmtu_code;
    qps[qpn].max_reads = max_reads;
  }
  void open_and_wait(uint64_t qpn, unsigned pmtu_code, unsigned max_reads = 16) {
    open(qpn, pmtu_code, max_reads);
    run(4);
  }
  void post(const hw::Wqe& w) { to_post.push_back(w); }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { domain_.step(); });
  }
  void run_until_done(hw::Cycles limit) {
    const hw::Cycles end = bench.now() + limit;
    while (bench.now() < end && !done()) run(1);
    EXPECT_TRUE(done()) << "not everything left";
    run(200);
    EXPECT_EQ(queue.held(), 0u);
    EXPECT_EQ(queue.in_flight(), 0u);
  }
  bool done() const {
    if (!to_post.empty()) return false;
    for (const auto& qp : qps)
      if (!qp.second.expected.empty()) return false;
    return true;
  }
  void give_credit(uint64_t qpn, uint64_t psns, bool dead = false) {
    hw::Credit c;
    c.qpn = hw::Qpn(qpn);
    c.psns = hw::Bits<24>(psns);
    c.dead = hw::Bits<1>(dead);
    credits.write(c);
  }
  void answer_read(uint64_t qpn) {
    hw::ReadAnswered a;
    a.qpn = hw::Qpn(qpn);
    answered.write(a);
  }

  struct Qp {
    unsigned pmtu_code = 0, max_reads = 0;
    uint64_t held = 0, in_flight = 0, reads = 0;
    bool dead = false;
    std::deque<hw::TxPacket> expected;
  };

  test::Bench bench;
  hw::tx::WorkQueue queue;
  hls::stream<hw::Wqe> in;
  hls::stream<hw::WorkQueueControl> control;
  hls::stream<hw::Credit> credits;
  hls::stream<hw::ReadAnswered> answered;
  hls::stream<hw::TxPacket> out;

  unsigned post_percent = 100, out_percent = 100, back_percent = 100;
  bool gives_back = true;      // credits and answers
  hw::Cycles delay = 20;       // of what is given back
  hw::Cycles delay_range = 0;  // random cycles more
  std::deque<hw::Wqe> to_post;
  std::map<uint64_t, Qp> qps;
  std::vector<hw::TxPacket> packets;
  std::vector<hw::Cycles> cycles, posted;  // in which each packet was read, each work request written
  uint64_t total = 0;                      // PSNs in flight

 private:
  struct Return {
    hw::Cycles due;
    uint64_t qpn, psns;
  };

  uint64_t read_psns() const {
    const auto& p = queue.params;
    return std::min(p.read_psns, std::min(p.window_packets, p.entries));
  }

  void post_next() {
    if (to_post.empty() || in.full() || !bench.chance(post_percent)) return;
    const hw::Wqe& w = to_post.front();
    Qp& qp = qps[w.qpn.u64()];
    if (qp.held == hw::kSendWqes) return;
    in.write(w);
    posted.push_back(bench.now());
    qp.held++;
    for (const hw::TxPacket& p : cut(w, qp.pmtu_code, read_psns())) qp.expected.push_back(p);
    to_post.pop_front();
  }

  void take_packet() {
    if (out.empty() || !bench.chance(out_percent)) return;
    const hw::TxPacket p = out.read();
    packets.push_back(p);
    cycles.push_back(bench.now());
    Qp& qp = qps[p.qpn.u64()];
    if (bool(p.last)) qp.held--;
    if (qp.dead) return;
    ASSERT_FALSE(qp.expected.empty()) << text(p);
    hw::TxPacket want = qp.expected.front();
    if (!bool(want.ack_request)) want.ack_request = p.ack_request;
    ASSERT_EQ(text(p), text(want));
    qp.expected.pop_front();
    count(qp, p);
  }

  void count(Qp& qp, const hw::TxPacket& p) {
    const uint64_t psns = p.psns.u64();
    const bool read = p.opcode.u64() == 0x0c;
    total += psns;
    EXPECT_LE(qp.in_flight += psns, queue.params.window_packets);
    EXPECT_LE(total, queue.params.entries);
    EXPECT_LE(qp.reads += read, qp.max_reads);
    if (!gives_back) return;
    const hw::Cycles due = bench.now() + delay + (delay_range ? bench.random()() % delay_range : 0);
    to_credit_.push_back({due, p.qpn.u64(), psns});
    if (read) to_answer_.push_back({due, p.qpn.u64(), 0});
  }

  void give_back() {
    if (!to_credit_.empty() && to_credit_.front().due <= bench.now() && !credits.full() && bench.chance(back_percent)) {
      const Return r = to_credit_.front();
      to_credit_.pop_front();
      total -= r.psns;
      qps[r.qpn].in_flight -= r.psns;
      give_credit(r.qpn, r.psns);
    }
    if (!to_answer_.empty() && to_answer_.front().due <= bench.now() && !answered.full() &&
        bench.chance(back_percent)) {
      qps[to_answer_.front().qpn].reads--;
      answer_read(to_answer_.front().qpn);
      to_answer_.pop_front();
    }
  }

  StageDomain domain_;
  std::deque<Return> to_credit_, to_answer_;
};

}  // namespace test
