// tables/retransmit against plain queues: order, completions, entries; and its exact cadence.
#include <deque>
#include <map>

#include "bench.hpp"
#include "hw/tables/retransmit.hpp"
#include "token_text.hpp"

namespace {

using hw::Bits;

hw::ListCommand command(hw::ListOp op, uint64_t qpn, uint64_t count = 0, uint64_t status = 0) {
  hw::ListCommand c;
  c.op = Bits<3>(op);
  c.packet.qpn = hw::Qpn(qpn);
  c.count = Bits<24>(count);
  c.status = Bits<4>(status);
  return c;
}
hw::ListCommand send(uint64_t qpn, uint64_t psn, bool last = true, uint64_t index = 0) {
  hw::ListCommand c = command(hw::kListSend, qpn);
  c.packet.psn = hw::Psn(psn);
  c.packet.opcode = Bits<8>(last ? hw::wire::kWriteLast : hw::wire::kWriteMiddle);
  c.packet.local_address = Bits<64>(psn * 0x100000001);
  c.packet.remote_address = Bits<64>(~psn);
  c.packet.rkey = Bits<32>(psn * 3);
  c.packet.dma_length = Bits<32>(psn * 5);
  c.packet.payload = hw::PacketBytes(psn % 4097);
  c.packet.last = Bits<1>(last);
  c.packet.index = Bits<16>(index);
  c.packet.tag.id = uint32_t(psn);
  return c;
}

std::string text(const hw::TxPacket& p) {
  return test::text(p) + "tag=" + std::to_string(p.tag.id);
}
std::string text(const hw::Completion& c) {
  return "qp " + std::to_string(c.qpn.u64()) + " index " + std::to_string(c.index.u64()) + " status " +
         std::to_string(c.status.u64());
}
template <class T>
std::vector<std::string> texts(const std::vector<T>& tokens) {
  std::vector<std::string> lines;
  for (const T& t : tokens) lines.push_back(text(t));
  return lines;
}

class RetransmitTest : public ::testing::Test {
 protected:
  void start(std::vector<hw::ListCommand> commands, unsigned in = 100, unsigned out = 100, unsigned cqe = 100) {
    test::configure(commands_, "commands", 4);
    test::configure(out_, "out", 4);
    test::configure(completions_, "completions", 4);
    source_.reset(new test::Source<hw::ListCommand>(bench_, commands_, std::move(commands), in));
    packets_.reset(new test::Sink<hw::TxPacket>(bench_, out_, out));
    cqes_.reset(new test::Sink<hw::Completion>(bench_, completions_, cqe));
  }
  void run(hw::Cycles cycles) {
    bench_.run(cycles, [this] { stage_.step(commands_, out_, completions_); });
  }
  void run_to_the_end() {
    for (int i = 0; i < 100000 && !(source_->done() && commands_.empty()); i++) run(100);
    run(2000);
  }

  test::Bench bench_{11};
  hw::tables::Retransmit stage_;
  hls::stream<hw::ListCommand> commands_;
  hls::stream<hw::TxPacket> out_;
  hls::stream<hw::Completion> completions_;
  std::unique_ptr<test::Source<hw::ListCommand>> source_;
  std::unique_ptr<test::Sink<hw::TxPacket>> packets_;
  std::unique_ptr<test::Sink<hw::Completion>> cqes_;
};

typedef std::vector<std::string> Lines;

TEST_F(RetransmitTest, OneSendACycleOnOneQp) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 9)};
  for (uint64_t i = 0; i < 50; i++) commands.push_back(send(9, i));
  start(commands);
  run(60);
  ASSERT_EQ(packets_->tokens.size(), 50u);
  // The open is written in 0; each send is taken one cycle after it is written, sent in the next, read in the one
  // after.
  for (uint64_t i = 0; i < 50; i++) ASSERT_EQ(packets_->cycles[i], 1 + i + 3);
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 51u);
}

// A release of one is done in two cycles, and a send passes in each of them.
void expect_cadence(const std::vector<hw::Cycles>& cycles, size_t from, hw::Cycles step) {
  for (size_t i = from; i + 1 < cycles.size(); i++) ASSERT_EQ(cycles[i + 1] - cycles[i], step) << i;
}

TEST_F(RetransmitTest, SendAndReleaseOfOneEveryTwoCycles) {
  for (const uint64_t qps : {1, 16}) {
    std::vector<hw::ListCommand> commands;
    for (uint64_t q = 0; q < qps; q++) commands.push_back(command(hw::kListOpen, q));
    for (uint64_t i = 0; i < 32; i++) commands.push_back(send(i % qps, i, true, i));
    for (uint64_t i = 0; i < 200; i++) {
      commands.push_back(command(hw::kListRelease, i % qps, 1));
      commands.push_back(send(i % qps, 32 + i, true, 32 + i));
    }
    bench_ = test::Bench();
    stage_ = hw::tables::Retransmit();
    start(commands);
    run(600);
    ASSERT_EQ(packets_->tokens.size(), 232u);
    ASSERT_EQ(cqes_->tokens.size(), 200u);
    expect_cadence(packets_->cycles, 33, 2);
    expect_cadence(cqes_->cycles, 0, 2);
    for (uint64_t i = 0; i < 200; i++) ASSERT_EQ(cqes_->tokens[i].index.u64(), i);
    EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 32 - qps);
  }
}

TEST_F(RetransmitTest, WalksTakeOneCycleAnEntry) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 1)};
  for (uint64_t i = 0; i < 40; i++) commands.push_back(send(1, i, true, i));
  hw::ListCommand replay = command(hw::kListReplay, 1, 40);
  commands.push_back(replay);
  commands.push_back(command(hw::kListRelease, 1, 40));
  start(commands);
  run(200);
  ASSERT_EQ(packets_->tokens.size(), 80u);
  // The replay is written in 41, taken in 42, walks from 43; its first packet comes of 44 and is read in 46.
  for (uint64_t i = 0; i < 40; i++) ASSERT_EQ(packets_->cycles[40 + i], 46 + i);
  // The last leaves in 84; the release starts in 85 and has its first link in 86.
  for (uint64_t i = 0; i < 40; i++) ASSERT_EQ(cqes_->cycles[i], 87 + i);
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

TEST_F(RetransmitTest, ReplayKeepsEverythingButAsksAtTheEnd) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 1)};
  for (uint64_t i = 0; i < 6; i++) commands.push_back(send(1, 0xfffffe + i, i == 5, 77));
  for (uint64_t i = 0; i < 6; i++) commands[1 + i].packet.ack_request = Bits<1>(i == 2);
  commands.push_back(command(hw::kListRelease, 1, 1));
  commands.push_back(command(hw::kListReplay, 1, 4));
  commands.back().packet.psn = hw::Psn(0xffffff);
  commands.push_back(send(1, 4, true, 78));
  start(commands);
  run(60);
  ASSERT_EQ(packets_->tokens.size(), 11u);
  for (uint64_t i = 0; i < 4; i++) {
    hw::TxPacket expected = commands[2 + i].packet;
    expected.psn = hw::Psn((0xffffff + i) & 0xffffff);
    if (i == 3) expected.ack_request = Bits<1>(1);
    EXPECT_EQ(text(packets_->tokens[6 + i]), text(expected));
  }
  EXPECT_EQ(text(packets_->tokens[10]), text(commands.back().packet));
}

TEST_F(RetransmitTest, TheErrorGoesToTheFirstMessageThatEnds) {
  const auto flush = [](uint64_t index, bool last) {
    hw::ListCommand c = send(3, 0, last, index);
    c.op = Bits<3>(hw::kListFlush);
    return c;
  };
  start({command(hw::kListOpen, 3), send(3, 0, true, 0), send(3, 1, false, 1), send(3, 2, true, 1), send(3, 3, true, 2),
         command(hw::kListRelease, 3, 1), command(hw::kListAbort, 3, 3, hw::kRemoteAccess), flush(3, false),
         flush(3, true)});
  run(100);
  EXPECT_EQ(texts(cqes_->tokens), Lines({"qp 3 index 0 status 0", "qp 3 index 1 status 10", "qp 3 index 2 status 5",
                                         "qp 3 index 3 status 5"}));
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

TEST_F(RetransmitTest, TheErrorWaitsForTheEndOfALongMessage) {
  hw::ListCommand tail = send(3, 0, false, 4), end = send(3, 0, true, 4), next = send(3, 0, true, 5);
  tail.op = end.op = next.op = Bits<3>(hw::kListFlush);
  start({command(hw::kListOpen, 3), send(3, 0, false, 4), send(3, 1, false, 4),
         command(hw::kListAbort, 3, 2, hw::kRetriesExceeded), tail, end, next, command(hw::kListOpen, 3),
         send(3, 9, true, 6), command(hw::kListRelease, 3, 1)});
  run(100);
  EXPECT_EQ(texts(cqes_->tokens), Lines({"qp 3 index 4 status 12", "qp 3 index 5 status 5", "qp 3 index 6 status 0"}));
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

TEST_F(RetransmitTest, FlushOnAQpThatWasNeverOpen) {
  hw::ListCommand c = send(8, 0, true, 1);
  c.op = Bits<3>(hw::kListFlush);
  start({c});
  run(20);
  EXPECT_EQ(texts(cqes_->tokens), Lines({"qp 8 index 1 status 5"}));
}

TEST_F(RetransmitTest, SendWithoutAFreeEntryWaitsForTheReleaseUnderWay) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 0)};
  const uint64_t all = hw::kListEntries - 1;
  for (uint64_t i = 0; i < all; i++) commands.push_back(send(0, i));
  commands.push_back(command(hw::kListRelease, 0, 3));
  for (uint64_t i = 0; i < 3; i++) commands.push_back(send(0, all + i));
  start(commands);
  run(all + 40);
  ASSERT_EQ(packets_->tokens.size(), all + 3);
  EXPECT_EQ(stage_.free_entries(), 0u);
}

// What the stage should do, with queues.
struct Model {
  struct Qp {
    bool open = false;
    uint64_t status = hw::kSuccess;
    std::deque<hw::TxPacket> packets;
  };
  std::map<uint64_t, Qp> qps;
  std::vector<std::string> out, completions;

  void complete(Qp& qp, const hw::TxPacket& p) {
    hw::Completion c;
    c.qpn = p.qpn;
    c.index = p.index;
    c.status = Bits<4>(qp.status);
    completions.push_back(text(c));
    if (qp.status != hw::kSuccess) qp.status = hw::kFlushed;
  }
  void run(const hw::ListCommand& c) {
    Qp& qp = qps[c.packet.qpn.u64()];
    const uint64_t count = c.count.u64();
    switch (c.op.u64()) {
      case hw::kListSend:
        qp.packets.push_back(c.packet);
        out.push_back(text(c.packet));
        break;
      case hw::kListAbort:
        qp.status = c.status.u64();
        // fall through
      case hw::kListRelease:
        for (uint64_t i = 0; i < count; i++) {
          if (bool(qp.packets.front().last)) complete(qp, qp.packets.front());
          qp.packets.pop_front();
        }
        break;
      case hw::kListReplay:
        for (uint64_t i = 0; i < count; i++) {
          hw::TxPacket p = qp.packets[i];
          if (i == count - 1) p.ack_request = Bits<1>(1);
          out.push_back(text(p));
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
    const uint64_t q = random() % qps, pending = model.qps[q].packets.size(), dice = random() % 100;
    const bool last = random() % 3 == 0;
    if (dead[q] && dice < 20) {
      give(command(hw::kListOpen, q));
      dead[q] = false;
    } else if (dead[q] || dice < 55) {
      hw::ListCommand c = send(q, psn[q], last, index[q]);
      c.packet.ack_request = Bits<1>(random() % 2);
      if (dead[q]) c.op = Bits<3>(hw::kListFlush);
      if (last) index[q]++;
      if (!dead[q]) psn[q] = (psn[q] + 1) & 0xffffff;
      give(c);
    } else if (pending > 0) {
      hw::ListCommand c = command(dice < 85   ? hw::kListRelease
                                  : dice < 96 ? hw::kListReplay
                                              : hw::kListAbort,
                                  q, 1 + random() % pending, hw::kRetriesExceeded);
      if (c.op.u64() == hw::kListAbort) c.count = Bits<24>(pending), dead[q] = true;
      c.packet.psn = model.qps[q].packets.front().psn;
      give(c);
    }
  }
  const unsigned percent[] = {100, 80, 40, 15};
  start(commands, percent[random() % 4], percent[random() % 4], percent[random() % 4]);
  run_to_the_end();
  EXPECT_EQ(texts(packets_->tokens), model.out);
  EXPECT_EQ(texts(cqes_->tokens), model.completions);
  uint64_t held = qps;
  for (const auto& qp : model.qps) held += qp.second.packets.size();
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - held);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RetransmitRandomTest, ::testing::Range(1, 41));

}  // namespace
