// tx/work_queue: the packets of a message against IBTA's opcode table, exact cadence, and random messages against a
// plain splitter.
#include "bench.hpp"
#include "hw/tx/work_queue.hpp"

namespace {

using hw::Bits;

hw::Wqe wqe(uint64_t qpn, uint64_t length, uint64_t index = 0) {
  hw::Wqe w;
  w.qpn = hw::Qpn(qpn);
  w.local_address = Bits<64>(0x1000000000 + index * 0x1000000);
  w.remote_address = Bits<64>(0x7f0000000000 + index);
  w.rkey = Bits<32>(0xabcd0000 + index);
  w.length = Bits<32>(length);
  w.index = Bits<16>(index);
  return w;
}
hw::WorkQueueControl pmtu(uint64_t qpn, uint64_t code) {
  hw::WorkQueueControl c;
  c.qpn = hw::Qpn(qpn);
  c.pmtu = hw::PmtuCode(code);
  return c;
}

class WorkQueueTest : public ::testing::Test {
 protected:
  void start(std::vector<hw::WorkQueueControl> settings, std::vector<hw::Wqe> requests, unsigned percent = 100) {
    test::configure(in_, "in", 4);
    test::configure(control_, "control", 2);
    test::configure(out_, "out", 4);
    for (const hw::WorkQueueControl& c : settings) {
      control_.write(c);
      run(2);
    }
    began_ = bench_.now();
    source_.reset(new test::Source<hw::Wqe>(bench_, in_, std::move(requests), percent));
    sink_.reset(new test::Sink<hw::TxPacket>(bench_, out_, percent));
  }
  void run(hw::Cycles cycles) {
    bench_.run(cycles, [this] { stage_.step(in_, control_, out_); });
  }
  const std::vector<hw::TxPacket>& packets() const { return sink_->tokens; }

  test::Bench bench_{7};
  hw::tx::WorkQueue stage_;
  hls::stream<hw::Wqe> in_;
  hls::stream<hw::WorkQueueControl> control_;
  hls::stream<hw::TxPacket> out_;
  std::unique_ptr<test::Source<hw::Wqe>> source_;
  std::unique_ptr<test::Sink<hw::TxPacket>> sink_;
  hw::Cycles began_ = 0;
};

struct Piece {
  uint64_t opcode, payload;
  bool ack;
};
struct Case {
  uint64_t length;
  std::vector<Piece> pieces;
};

TEST_F(WorkQueueTest, OpcodesAndSizesAtTheEdgesOfThePmtu) {
  const Case cases[] = {
      {0, {{0x0a, 0, true}}},
      {1, {{0x0a, 1, true}}},
      {1024, {{0x0a, 1024, true}}},
      {1025, {{0x06, 1024, false}, {0x08, 1, true}}},
      {2048, {{0x06, 1024, false}, {0x08, 1024, true}}},
      {3071, {{0x06, 1024, false}, {0x07, 1024, false}, {0x08, 1023, true}}},
      {4097, {{0x06, 1024, false}, {0x07, 1024, false}, {0x07, 1024, true}, {0x07, 1024, false}, {0x08, 1, true}}},
  };
  stage_.params.ack_interval = 3;
  std::vector<hw::Wqe> requests;
  for (const Case& c : cases) requests.push_back(wqe(5, c.length, requests.size()));
  start({pmtu(5, 3)}, requests);
  run(60);
  size_t at = 0;
  for (size_t m = 0; m < requests.size(); m++) {
    uint64_t offset = 0;
    for (const Piece& piece : cases[m].pieces) {
      SCOPED_TRACE(testing::Message() << "message of " << cases[m].length << " bytes at " << offset);
      ASSERT_LT(at, packets().size());
      const hw::TxPacket& p = packets()[at++];
      EXPECT_EQ(p.opcode.u64(), piece.opcode);
      EXPECT_EQ(p.payload.u64(), piece.payload);
      EXPECT_EQ(bool(p.ack_request), piece.ack);
      EXPECT_EQ(p.local_address.u64(), requests[m].local_address.u64() + offset);
      EXPECT_EQ(p.remote_address.u64(), requests[m].remote_address.u64());
      EXPECT_EQ(p.rkey.u64(), requests[m].rkey.u64());
      EXPECT_EQ(p.dma_length.u64(), cases[m].length);
      EXPECT_EQ(p.index.u64(), m);
      EXPECT_EQ(p.qpn.u64(), 5u);
      EXPECT_EQ(bool(p.last), &piece == &cases[m].pieces.back());
      offset += piece.payload;
    }
  }
  EXPECT_EQ(at, packets().size());
  EXPECT_EQ(stage_.work_requests.v.u64(), requests.size());
}

TEST_F(WorkQueueTest, OnePacketACycleWithinMessagesAndBetweenThem) {
  std::vector<hw::Wqe> requests;
  for (int i = 0; i < 40; i++) requests.push_back(wqe(i % 2, i < 20 ? 64 : 700, i));
  start({pmtu(0, 1), pmtu(1, 1)}, requests);
  run(130);
  ASSERT_EQ(packets().size(), 20u + 20 * 3);
  // Written in 0, taken in 1, sent in 2, read in 3.
  for (size_t i = 0; i < packets().size(); i++) ASSERT_EQ(sink_->cycles[i] - began_, 3 + i);
}

TEST_F(WorkQueueTest, PmtuSetWithinAMessageCountsFromTheNextOn) {
  start({pmtu(3, 5)}, {wqe(3, 3 * 4096), wqe(3, 512)});
  run(2);
  control_.write(pmtu(3, 1));
  run(20);
  ASSERT_EQ(packets().size(), 5u);
  EXPECT_EQ(packets()[2].payload.u64(), 4096u);
  EXPECT_EQ(packets()[3].payload.u64(), 256u);
  EXPECT_EQ(packets()[4].payload.u64(), 256u);
}

TEST_F(WorkQueueTest, RandomMessagesUnderStalls) {
  std::vector<hw::WorkQueueControl> settings;
  for (uint64_t qpn = 0; qpn < 5; qpn++) settings.push_back(pmtu(qpn, qpn + 1));
  std::vector<hw::Wqe> requests;
  for (int i = 0; i < 400; i++) {
    const uint64_t qpn = bench_.random()() % 5, size = 256u << qpn;
    requests.push_back(wqe(qpn, (bench_.random()() % 20) * size + bench_.random()() % 3 * (size / 2 - 1), i));
  }
  start(settings, requests, 60);
  run(15000);
  ASSERT_TRUE(source_->done());
  size_t at = 0;
  for (const hw::Wqe& w : requests) {
    const uint64_t size = 256u << w.qpn.u64(), length = w.length.u64();
    const uint64_t count = length == 0 ? 1 : (length + size - 1) / size;
    for (uint64_t k = 0; k < count; k++) {
      ASSERT_LT(at, packets().size());
      const hw::TxPacket& p = packets()[at++];
      const bool first = k == 0, last = k == count - 1;
      ASSERT_EQ(p.opcode.u64(), first && last ? 0x0au : first ? 0x06u : last ? 0x08u : 0x07u);
      ASSERT_EQ(p.payload.u64(), last ? length - k * size : size);
      ASSERT_EQ(p.local_address.u64(), w.local_address.u64() + k * size);
      ASSERT_EQ(p.index.u64(), w.index.u64());
      ASSERT_EQ(bool(p.ack_request), last || k % 16 == 15);
    }
  }
  EXPECT_EQ(at, packets().size());
}

}  // namespace
