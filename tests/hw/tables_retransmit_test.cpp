// tables/retransmit: its commands one by one, with its exact cadence.
#include "retransmit_bench.hpp"

namespace test {
namespace {

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
    EXPECT_EQ(line(packets_->tokens[6 + i]), line(expected));
  }
  EXPECT_EQ(line(packets_->tokens[10]), line(commands.back().packet));
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
  EXPECT_EQ(lines_of(cqes_->tokens), Lines({"qp 3 index 0 status 0", "qp 3 index 1 status 10", "qp 3 index 2 status 5",
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
  EXPECT_EQ(lines_of(cqes_->tokens),
            Lines({"qp 3 index 4 status 12", "qp 3 index 5 status 5", "qp 3 index 6 status 0"}));
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

TEST_F(RetransmitTest, FlushOnAQpThatWasNeverOpen) {
  hw::ListCommand c = send(8, 0, true, 1);
  c.op = Bits<3>(hw::kListFlush);
  start({c});
  run(20);
  EXPECT_EQ(lines_of(cqes_->tokens), Lines({"qp 8 index 1 status 5"}));
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

// A READ takes an entry and a cycle for each of its PSNs, and leaves at once; what follows waits for the last entry.
TEST_F(RetransmitTest, ReadIsOnePacketAndOneEntryAPsn) {
  for (uint64_t psns = 1; psns <= 16; psns++) {
    SCOPED_TRACE(psns);
    bench_ = test::Bench();
    stage_ = hw::tables::Retransmit();
    const hw::ListCommand first = read(2, 0xfffffa, psns), second = send(2, (0xfffffa + psns) & 0xffffff);
    start({command(hw::kListOpen, 2), first, second});
    run(40);
    EXPECT_EQ(lines_of(packets_->tokens), Lines({line(first.packet), line(second.packet)}));
    EXPECT_EQ(packets_->cycles, std::vector<hw::Cycles>({4, 4 + psns}));
    EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 2 - psns);
    EXPECT_EQ(stage_.held(), psns + 1);
  }
}

// Released PSN by PSN; the message is complete with the last one, and in between a replay asks for what is left.
TEST_F(RetransmitTest, ReplayAsksForTheRestOfARead) {
  for (uint64_t psns = 1; psns <= 16; psns++) {
    for (uint64_t done = 0; done < psns; done++) {
      SCOPED_TRACE(testing::Message() << done << " of " << psns);
      bench_ = test::Bench();
      stage_ = hw::tables::Retransmit();
      const hw::TxPacket before = send(5, 40, true, 1).packet, request = read(5, 41, psns, true, 2).packet;
      hw::TxPacket after = send(5, 41 + psns, true, 3).packet;
      std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 5), send(5, 40, true, 1),
                                               read(5, 41, psns, true, 2), send(5, 41 + psns, true, 3),
                                               command(hw::kListRelease, 5, 1)};
      for (uint64_t i = 0; i < done; i++) commands.push_back(command(hw::kListRelease, 5, 1));
      commands.push_back(command(hw::kListReplay, 5, psns - done + 1));
      commands.back().packet.psn = hw::Psn(41 + done);
      start(commands);
      run(200);
      const hw::TxPacket first = after;
      after.ack_request = Bits<1>(1);
      EXPECT_EQ(lines_of(packets_->tokens),
                Lines({line(before), line(request), line(first), line(rest_of(request, done)), line(after)}));
      EXPECT_EQ(lines_of(cqes_->tokens), Lines({"qp 5 index 1 status 0"})) << "not before the last response";
      source_->add(command(hw::kListRelease, 5, psns - done));
      run(100);
      EXPECT_EQ(cqes_->tokens.size(), 2u);
      EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 2u);
    }
  }
}

// A long READ is cut into requests; only the last of them ends the message.
TEST_F(RetransmitTest, RequestsOfALongReadAreReplayedOneByOne) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 1), read(1, 0, 4, false, 6),
                                           read(1, 4, 4, false, 6),   read(1, 8, 2, true, 6),
                                           read(1, 10, 1, true, 7),   command(hw::kListRelease, 1, 6)};
  commands.push_back(command(hw::kListReplay, 1, 5));
  commands.back().packet.psn = hw::Psn(6);
  commands.push_back(command(hw::kListRelease, 1, 5));
  start(commands);
  run(100);
  hw::TxPacket last = commands[4].packet;
  last.ack_request = Bits<1>(1);
  EXPECT_EQ(lines_of(std::vector<hw::TxPacket>(packets_->tokens.begin() + 4, packets_->tokens.end())),
            Lines({line(rest_of(commands[2].packet, 2)), line(commands[3].packet), line(last)}));
  EXPECT_EQ(lines_of(cqes_->tokens), Lines({"qp 1 index 6 status 0", "qp 1 index 7 status 0"}));
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

// A walk over a READ costs a cycle a PSN, sent or passed over.
TEST_F(RetransmitTest, ReplayTakesOneCycleAPsn) {
  start({command(hw::kListOpen, 1), read(1, 0, 7), send(1, 7), read(1, 8, 3), send(1, 11),
         command(hw::kListReplay, 1, 12)});
  run(60);
  // The entries are written by 13, the replay is taken then and walks from 15; its first packet is read in 17.
  EXPECT_EQ(packets_->cycles, std::vector<hw::Cycles>({4, 11, 12, 15, 18, 25, 26, 29}));
}

TEST_F(RetransmitTest, ReadsAreAbortedWhole) {
  start({command(hw::kListOpen, 3), read(3, 0, 5, false, 0), read(3, 5, 3, true, 0), read(3, 8, 16, true, 1),
         command(hw::kListRelease, 3, 2), command(hw::kListAbort, 3, 22, hw::kRetriesExceeded)});
  hw::ListCommand c = read(3, 24, 4, true, 2);
  c.op = Bits<3>(hw::kListFlush);
  source_->add(c);
  run(100);
  EXPECT_EQ(lines_of(cqes_->tokens),
            Lines({"qp 3 index 0 status 12", "qp 3 index 1 status 5", "qp 3 index 2 status 5"}));
  EXPECT_EQ(packets_->tokens.size(), 3u);
  EXPECT_EQ(stage_.free_entries(), hw::kListEntries - 1u);
}

// In the middle of a READ, too.
TEST_F(RetransmitTest, ReadWithoutFreeEntriesWaitsForTheReleaseUnderWay) {
  std::vector<hw::ListCommand> commands = {command(hw::kListOpen, 0)};
  const uint64_t all = hw::kListEntries - 5;
  for (uint64_t i = 0; i < all; i++) commands.push_back(send(0, i));
  commands.push_back(command(hw::kListRelease, 0, 12));
  commands.push_back(read(0, all, 16));
  start(commands, 100, 100, 10);
  run(all + 400);
  ASSERT_EQ(packets_->tokens.size(), all + 1);
  EXPECT_EQ(stage_.free_entries(), 0u);
}

}  // namespace
}  // namespace test
