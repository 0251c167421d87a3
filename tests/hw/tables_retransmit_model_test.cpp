// tables/retransmit against plain queues: order, completions, entries.
#include <deque>
#include <map>

#include "retransmit_bench.hpp"

namespace test {
namespace {

// What the stage should do, with queues.
struct Model {
  struct Qp {
    bool open = false;
    uint64_t status = hw::kSuccess;
    std::deque<hw::TxPacket> psns;  // of each PSN in flight, what a replay that starts there sends
  };
  std::map<uint64_t, Qp> qps;
  std::vector<std::string> out, completions;

  void complete(Qp& qp, const hw::TxPacket& p) {
    hw::Completion c;
    c.qpn = p.qpn;
    c.index = p.index;
    c.status = Bits<4>(qp.status);
    completions.push_back(line(c));
    if (qp.status != hw::kSuccess) qp.status = hw::kFlushed;
  }
  void run(const hw::ListCommand& c) {
    Qp& qp = qps[c.packet.qpn.u64()];
    const uint64_t count = c.count.u64();
    switch (c.op.u64()) {
      case hw::kListSend:
        for (uint64_t i = 0; i < c.packet.psns.u64(); i++) qp.psns.push_back(rest_of(c.packet, i));
        out.push_back(line(c.packet));
        break;
      case hw::kListAbort:
        qp.status = c.status.u64();
        // fall through
      case hw::kListRelease:
        for (uint64_t i = 0; i < count; i++) {
          const hw::TxPacket& p = qp.psns.front();
          if (bool(p.last) && p.psns.u64() == 1) complete(qp, p);
          qp.psns.pop_front();
        }
        break;
      case hw::kListReplay:
        for (uint64_t i = 0; i < count; i += qp.psns[i].psns.u64()) {
          hw::TxPacket p = qp.psns[i];
          if (i == count - 1) p.ack_request = Bits<1>(1);
          out.push_back(line(p));
        }
        break;
      case hw::kListFlush:
        if (bool(c.packet.last)) complete(qp, c.packet);
        break;
      case hw::kListOpen:
        qp.status = hw::kSuccess;
        break;
    }
  }
};

class RetransmitRandomTest : public RetransmitTest, public ::testing::WithParamInterface<int> {};

TEST_P(RetransmitRandomTest, EqualsPlainQueues) {
  bench_.random().seed(uint64_t(GetParam()));
  std::mt19937_64& random = bench_.random();
  const uint64_t qps = 1 + random() % 8;
  Model model;
  std::vector<hw::ListCommand> commands;
  const auto give = [&](const hw::ListCommand& c) {
    commands.push_back(c);
    model.run(c);
  };
  std::vector<uint64_t> psn(qps), index(qps);
  std::vector<bool> dead(qps);
  for (uint64_t q = 0; q < qps; q++) give(command(hw::kListOpen, q)), psn[q] = 0xffff00 + q;
  for (int i = 0; i < 3000; i++) {
    const uint64_t q = random() % qps, pending = model.qps[q].psns.size(), dice = random() % 100;
    const bool last = random() % 3 == 0;
    if (dead[q] && dice < 20) {
      give(command(hw::kListOpen, q));
      dead[q] = false;
    } else if (dead[q] || dice < 55) {
      hw::ListCommand c =
          dice % 3 == 0 ? read(q, psn[q], 1 + random() % 16, last, index[q]) : send(q, psn[q], last, index[q]);
      c.packet.ack_request = Bits<1>(random() % 2);
      if (dead[q]) c.op = Bits<3>(hw::kListFlush);
      if (last) index[q]++;
      if (!dead[q]) psn[q] = (psn[q] + c.packet.psns.u64()) & 0xffffff;
      give(c);
    } else if (pending > 0) {
      hw::ListCommand c = command(dice < 85   ? hw::kListRelease
                                  : dice < 96 ? hw::kListReplay
                                              : hw::kListAbort,
                                  q, 1 + random() % pending, hw::kRetriesExceeded);
      if (c.op.u64() == hw::kListAbort) c.count = Bits<24>(pending), dead[q] = true;
      c.packet.psn = model.qps[q].psns.front().psn;
      give(c);
    }
  }
  const unsigned percent[] = {100, 80, 40, 15};
  start(commands, percent[random() % 4], percent[random() % 4], percent[random() % 4]);
  run_to_the_end();
  EXPECT_EQ(lines_of(packets_->tokens), model.out);
  EXPECT_EQ(lines_of(cqes_->tokens), model.completions);
  uint64_t held = qps;
  for (const auto& qp : model.qps) held += qp.second.psns.size();
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - held);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RetransmitRandomTest, ::testing::Range(1, 41));

}  // namespace
}  // namespace test
