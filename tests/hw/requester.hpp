// The requester as a whole - work_queue, flow_control, retransmit, timer - closed over a lossy channel and a plain
// responder. What each stage promises the next is checked on the way.
#pragma once
#include <map>

#include "hw/tables/retransmit.hpp"
#include "hw/tables/timer.hpp"
#include "hw/tx/flow_control.hpp"
#include "hw/tx/work_queue.hpp"
#include "requester_traffic.hpp"
#include "stage_domain.hpp"
#include "token_text.hpp"

namespace test {

class Requester {
 public:
  explicit Requester(const Scenario& scenario) : s_(scenario), bench_(scenario.seed), domain_(scenario.every_cycle) {
    build_stages();
    build_traffic();
    bench_.add_port([this] { watch_commands(); });
    bench_.add_port([this] { take_issue(); });
    bench_.add_port([this] { watch_credits(); });
    bench_.add_port([this] { take_packet(); });
    bench_.add_port([this] { deliver_packet(); });
    bench_.add_port([this] { deliver_answer(); });
    bench_.add_port([this] { take_completion(); });
  }

  void run(hw::Cycles limit = 3000000) {
    open_all();
    Source<hw::Wqe> source(bench_, send_queue_, order_);
    for (hw::Cycles i = 0; i < limit && completed_ < uint64_t(s_.qps) * s_.messages; i++) tick();
    for (int i = 0; i < 6000; i++) tick();  // what is late must not matter
  }

  // Every message completed once, every PSN gave its credit once, and nothing is held. That messages completed in order
  // was checked on the way.
  void expect_clean_end() {
    for (const Qp& qp : qps) {
      EXPECT_EQ(qp.statuses.size(), s_.messages);
      EXPECT_EQ(qp.released, qp.sent);
      EXPECT_EQ(qp.credited, qp.sent);
      EXPECT_TRUE(qp.to_issue.empty());
    }
    EXPECT_EQ(retransmit->free_entries(), uint64_t(hw::kListEntries) - s_.qps);
    EXPECT_EQ(retransmit->held(), 0u);
    EXPECT_EQ(flow_control->held(), 0u);
    EXPECT_EQ(work_queue->held(), 0u);
    EXPECT_EQ(work_queue->in_flight(), 0u);
    for (const hw::StreamBase* s : {static_cast<hw::StreamBase*>(&new_packet_), static_cast<hw::StreamBase*>(&list_),
                                    static_cast<hw::StreamBase*>(&timer_in_), static_cast<hw::StreamBase*>(&expired_),
                                    static_cast<hw::StreamBase*>(&reads_), static_cast<hw::StreamBase*>(&credits_),
                                    static_cast<hw::StreamBase*>(&out_), static_cast<hw::StreamBase*>(&completions_)})
      EXPECT_EQ(s->fill(), 0u) << s->spec().name;
  }

  std::vector<Qp> qps;
  std::unique_ptr<hw::tx::WorkQueue> work_queue{new hw::tx::WorkQueue};
  std::unique_ptr<hw::tx::FlowControl> flow_control{new hw::tx::FlowControl};
  std::unique_ptr<hw::tables::Retransmit> retransmit{new hw::tables::Retransmit};
  std::vector<std::string> trace;         // every packet and completion with its cycle
  std::vector<hw::Cycles> packet_cycles;  // in which each packet left

 private:
  void build_stages() {
    work_queue->params.ack_interval = s_.ack_interval;
    work_queue->params.window_packets = s_.window;
    work_queue->params.entries = s_.entries;
    work_queue->params.read_psns = s_.read_psns;
    timer_.params.unit_cycles = 64;
    timer_.params.qps = s_.qps;
    const int wq = domain_.add(
        *work_queue, [this] { work_queue->step(send_queue_, wq_control_, credits_, answered_, new_packet_); });
    const int fc = domain_.add(*flow_control, [this] {
      flow_control->step(new_packet_, acks_, expired_, fc_control_, list_, timer_in_, reads_, credits_);
    });
    const int rt = domain_.add(*retransmit, [this] { retransmit->step(list_, out_, completions_); });
    const int tm = domain_.add(timer_, [this] { timer_.step(timer_in_, expired_); });
    domain_.connect(send_queue_, "send_queue", 16, 1, -1, wq);
    domain_.connect(wq_control_, "work_queue_control", 2, 1, -1, wq);
    domain_.connect(answered_, "answered", 8, 1, -1, wq);
    domain_.connect(fc_control_, "flow_control_control", 2, 1, -1, fc);
    domain_.connect(acks_, "acks", 8, 1, -1, fc);
    domain_.connect(new_packet_, "new_packet", 8, s_.depth, wq, fc);
    domain_.connect(credits_, "credits", 8, s_.depth, fc, wq);
    domain_.connect(reads_, "reads", 8, s_.depth, fc, -1);
    domain_.connect(list_, "list", 8, s_.depth, fc, rt);
    domain_.connect(timer_in_, "timer_in", 8, s_.depth, fc, tm);
    domain_.connect(expired_, "expired", 2, s_.depth, tm, fc);
    domain_.connect(out_, "out", 8, s_.depth, rt, -1);
    domain_.connect(completions_, "completions", 8, s_.depth, rt, -1);
  }

  // Messages of random kind and length in random order over the QPs.
  void build_traffic() {
    std::mt19937_64& random = bench_.random();
    for (unsigned q = 0; q < s_.qps; q++) {
      Qp qp;
      qp.first_psn = q % 2 == 0 ? (kPsnMask - random() % 100) : random() & kPsnMask;
      qp.peer.reset(new Peer(qp.first_psn, q < s_.broken ? s_.break_at : ~uint64_t(0) >> 1, s_.syndrome));
      qps.push_back(std::move(qp));
    }
    for (unsigned n = 0; n < s_.qps * s_.messages; n++) {
      unsigned q = s_.seed == 0 ? n % s_.qps : unsigned(random() % s_.qps);
      while (qps[q].messages.size() == s_.messages) q = (q + 1) % s_.qps;
      add_message(q, random() % 4 == 0 ? random() % 2 : random() % (s_.longest + 1));
    }
    for (Qp& qp : qps) qp.answered.resize(qp.psns.size());
  }
  void add_message(unsigned q, uint64_t length) {
    Qp& qp = qps[q];
    hw::Wqe w;
    w.qpn = hw::Qpn(q);
    w.operation = hw::Bits<2>(pick_operation());
    const bool read = w.operation.u64() == hw::kOpRead;
    w.has_immediate = hw::Bits<1>(!read && bench_.chance(30));
    w.immediate = hw::Bits<32>(bool(w.has_immediate) ? bench_.random()() : 0);
    w.solicited = hw::Bits<1>(!read && bench_.chance(30));
    w.index = hw::Bits<16>(qp.messages.size());
    w.length = hw::Bits<32>(length);
    w.local_address = hw::Bits<64>((uint64_t(q) << 40) + (qp.messages.size() << 20));
    w.remote_address = hw::Bits<64>(w.local_address.u64() ^ 0x7ff0000000000000);
    w.rkey = hw::Bits<32>(q * 1000 + 7);
    cut(qp, w, std::min({s_.read_psns, s_.window, s_.entries}));
    order_.push_back(w);
  }
  uint64_t pick_operation() {
    uint64_t dice = bench_.random()() % (s_.operations[0] + s_.operations[1] + s_.operations[2]), operation = 0;
    while (dice >= s_.operations[operation]) dice -= s_.operations[operation++];
    return operation;
  }

  void tick() {
    bench_.tick([this] { domain_.step(); });
  }
  void open_all() {
    for (unsigned q = 0; q < s_.qps; q++) {
      hw::WorkQueueControl w;
      w.qpn = hw::Qpn(q);
      w.pmtu = hw::PmtuCode(1);
      w.max_reads = hw::Bits<5>(s_.max_reads);
      wq_control_.write(w);
      hw::FlowControlControl f;
      f.qpn = hw::Qpn(q);
      f.psn = hw::Psn(qps[q].first_psn);
      f.timeout = hw::Bits<5>(4);
      f.retry_count = hw::Bits<3>(s_.retry_count);
      fc_control_.write(f);
      for (int i = 0; i < 4; i++) tick();
    }
  }
  // How many PSNs `psn` lies behind the first of its QP, as an index into Qp::psns.
  static uint64_t number_of(const Qp& qp, uint64_t psn) {
    const uint64_t n = (psn - qp.first_psn) & kPsnMask;
    EXPECT_LT(n, qp.psns.size());
    return std::min<uint64_t>(n, qp.psns.size() - 1);
  }

  // What flow_control promises to the list.
  void watch_commands() {
    if (list_.written() == commands_seen_) return;
    commands_seen_ = list_.written();
    const hw::ListCommand& c = list_.newest();
    Qp& qp = qps[c.packet.qpn.u64()];
    if (c.op.u64() == hw::kListSend) {
      ASSERT_EQ(c.packet.psn.v.u64(), (qp.first_psn + qp.sent) & kPsnMask) << "PSNs follow each other";
      if (is_read(c.packet)) qp.to_issue.push_back(c.packet.psn.v.u64());
      qp.sent += c.packet.psns.u64(), total_ += c.packet.psns.u64();
    } else if (c.op.u64() == hw::kListRelease || c.op.u64() == hw::kListAbort) {
      for (uint64_t i = 0; i < c.count.u64(); i++, qp.released++)
        ASSERT_TRUE(c.op.u64() == hw::kListAbort || may_release(qp, qp.released)) << "PSN " << qp.released;
      total_ -= c.count.u64();
    } else if (c.op.u64() == hw::kListReplay) {
      ASSERT_EQ(c.packet.psn.v.u64(), (qp.first_psn + qp.released) & kPsnMask) << "from the oldest on";
      ASSERT_EQ(c.count.u64(), qp.sent - qp.released);
    }
    ASSERT_LE(qp.released, qp.sent);
    ASSERT_LE(qp.sent - qp.released, s_.window);
    ASSERT_LE(total_, s_.entries);
  }
  // The peer has taken it, and the response of a READ is here.
  static bool may_release(const Qp& qp, uint64_t n) {
    return n < qp.peer->accepted() && (!is_read(qp.psns[n]) || qp.answered[n]);
  }

  // Every READ that is sent is issued once, in order, as it is.
  void take_issue() {
    if (reads_.empty()) return;
    const hw::ReadIssued r = reads_.read();
    Qp& qp = qps[r.qpn.u64()];
    ASSERT_FALSE(qp.to_issue.empty());
    ASSERT_EQ(r.psn.v.u64(), qp.to_issue.front());
    qp.to_issue.pop_front();
    const hw::TxPacket& p = qp.psns[number_of(qp, r.psn.v.u64())];
    ASSERT_TRUE(is_read(p) && r.local_address == p.local_address && r.bytes == p.dma_length) << text(r);
    qp.reads.issue(r, p.psns.u64());
  }

  void watch_credits() {
    if (credits_.written() == credits_seen_) return;
    credits_seen_ = credits_.written();
    const hw::Credit& c = credits_.newest();
    Qp& qp = qps[c.qpn.u64()];
    qp.credited += c.psns.u64();
    ASSERT_EQ(qp.credited, qp.released) << "a credit for each PSN that is released, with its release";
  }

  void take_packet() {
    if (!bench_.chance(s_.out_room) || out_.empty()) return;
    const hw::TxPacket p = out_.read();
    const Qp& qp = qps[p.qpn.u64()];
    hw::TxPacket expected = qp.psns[number_of(qp, p.psn.v.u64())];
    expected.ack_request = p.ack_request;
    ASSERT_EQ(text(p), text(expected)) << "new or sent again, a packet is what it was";
    note("packet " + std::to_string(p.qpn.u64()) + " " + std::to_string(p.psn.v.u64()));
    packet_cycles.push_back(bench_.now());
    if (!bench_.chance(s_.packet_loss)) packets_under_way_.push_back({bench_.now() + s_.packet_delay, p});
  }

  // Packets arrive in order. Acknowledgements overtake each other and READ responses, but these not one another.
  void deliver_packet() {
    if (packets_under_way_.empty() || packets_under_way_.front().first > bench_.now()) return;
    const hw::TxPacket p = packets_under_way_.front().second;
    packets_under_way_.pop_front();
    Qp& qp = qps[p.qpn.u64()];
    for (const Answer& answer : qp.peer->receive(p)) {
      const int copies = bench_.chance(s_.answer_loss) ? 0 : bench_.chance(s_.answer_double) ? 2 : 1;
      for (int i = 0; i < copies; i++) {
        hw::Cycles arrival = bench_.now() + s_.answer_delay + bench_.random()() % (s_.answer_jitter + 1);
        if (answer.response) arrival = qp.last_response = std::max(arrival, qp.last_response);
        answers_.insert({arrival, answer});
      }
    }
  }
  void deliver_answer() {
    if (answers_.empty() || answers_.begin()->first > bench_.now() || acks_.full() || answered_.full()) return;
    Answer a = answers_.begin()->second;
    answers_.erase(answers_.begin());
    Qp& qp = qps[a.qpn];
    const bool goes_on = qp.reads.judge(
        a, [&](uint64_t psn) { qp.answered[number_of(qp, psn)] = true; },
        [&] {
          hw::ReadAnswered r;
          r.qpn = hw::Qpn(a.qpn);
          answered_.write(r);
        });
    if (!goes_on) return;
    hw::RxAck ack;
    ack.qpn = hw::Qpn(a.qpn);
    ack.psn = hw::Psn(a.psn);
    ack.syndrome = hw::Bits<8>(a.syndrome);
    acks_.write(ack);
  }

  void take_completion() {
    if (!bench_.chance(s_.cqe_room) || completions_.empty()) return;
    const hw::Completion c = completions_.read();
    Qp& qp = qps[c.qpn.u64()];
    ASSERT_EQ(c.index.u64(), qp.statuses.size()) << "in order, each once";
    ASSERT_TRUE(c.status.u64() != hw::kSuccess || qp.released >= qp.ends[c.index.u64()]) << "with its last PSN";
    qp.statuses.push_back(c.status.u64());
    completed_++;
    note("completion " + std::to_string(c.qpn.u64()) + " " + std::to_string(c.index.u64()));
  }

  void note(const std::string& what) { trace.push_back(std::to_string(bench_.now()) + " " + what); }

  Scenario s_;
  Bench bench_;
  StageDomain domain_;
  hw::tables::Timer timer_;
  hls::stream<hw::Wqe> send_queue_;
  hls::stream<hw::WorkQueueControl> wq_control_;
  hls::stream<hw::FlowControlControl> fc_control_;
  hls::stream<hw::TxPacket> new_packet_, out_;
  hls::stream<hw::Credit> credits_;
  hls::stream<hw::ReadIssued> reads_;
  hls::stream<hw::ReadAnswered> answered_;
  hls::stream<hw::RxAck> acks_;
  hls::stream<hw::TimerExpired> expired_;
  hls::stream<hw::ListCommand> list_;
  hls::stream<hw::TimerCommand> timer_in_;
  hls::stream<hw::Completion> completions_;

  std::vector<hw::Wqe> order_;
  std::deque<std::pair<hw::Cycles, hw::TxPacket>> packets_under_way_;
  std::multimap<hw::Cycles, Answer> answers_;
  uint64_t commands_seen_ = 0, credits_seen_ = 0, total_ = 0, completed_ = 0;
};

}  // namespace test
