// tx/flow_control: every event on every position of its PSN, in commands and in cycles.
#include <map>

#include "bench.hpp"
#include "hw/tx/flow_control.hpp"

namespace {

using hw::Bits;

constexpr uint64_t kAck = 0x1f, kRnr = 0x20, kNak = 0x60, kNakInvalid = 0x61, kNakAccess = 0x62, kNakOperation = 0x63;

hw::TxPacket packet(uint64_t qpn, uint64_t index = 0, bool ask = true) {
  hw::TxPacket p;
  p.qpn = hw::Qpn(qpn);
  p.opcode = Bits<8>(hw::wire::kWriteOnly);
  p.index = Bits<16>(index);
  p.last = Bits<1>(1);
  p.psns = Bits<5>(1);
  p.ack_request = Bits<1>(ask);
  return p;
}
// A READ request of `psns` responses at a PMTU of 256 bytes, the last of them with one byte.
hw::TxPacket read(uint64_t qpn, uint64_t psns) {
  hw::TxPacket p = packet(qpn);
  p.opcode = Bits<8>(hw::wire::kReadRequest);
  p.pmtu = hw::PmtuCode(1);
  p.psns = Bits<5>(psns);
  p.dma_length = Bits<32>(256 * (psns - 1) + 1);
  p.local_address = Bits<64>(qpn << 32 | psns);
  return p;
}
hw::RxAck ack(uint64_t qpn, uint64_t psn, uint64_t syndrome = kAck) {
  hw::RxAck a;
  a.qpn = hw::Qpn(qpn);
  a.psn = hw::Psn(psn);
  a.syndrome = Bits<8>(syndrome);
  return a;
}
hw::TimerExpired expired(uint64_t qpn) {
  hw::TimerExpired e;
  e.qpn = hw::Qpn(qpn);
  return e;
}
hw::FlowControlControl control(uint64_t qpn, uint64_t psn, uint64_t retries = 7) {
  hw::FlowControlControl c;
  c.qpn = hw::Qpn(qpn);
  c.psn = hw::Psn(psn);
  c.timeout = Bits<5>(14);
  c.retry_count = Bits<3>(retries);
  return c;
}

// What a job told the list and the timer, in one comparable line.
std::string text(const hw::ListCommand& c) {
  static const char* const names[] = {"send", "release", "replay", "abort", "flush", "open"};
  std::string s = names[c.op.u64()];
  s += " qp " + std::to_string(c.packet.qpn.u64());
  if (c.op.u64() == hw::kListSend || c.op.u64() == hw::kListReplay) s += " psn " + std::to_string(c.packet.psn.v.u64());
  if (c.op.u64() == hw::kListSend && bool(c.packet.ack_request)) s += " asks";
  if (c.op.u64() >= hw::kListRelease && c.op.u64() <= hw::kListAbort) s += " count " + std::to_string(c.count.u64());
  if (c.op.u64() == hw::kListAbort) s += " status " + std::to_string(c.status.u64());
  return s;
}
std::string text(const hw::ReadIssued& r) {
  return "qp " + std::to_string(r.qpn.u64()) + " psn " + std::to_string(r.psn.v.u64()) + " bytes " +
         std::to_string(r.bytes.u64()) + " to " + std::to_string(r.local_address.u64());
}
std::string text(const hw::Credit& c) {
  return "qp " + std::to_string(c.qpn.u64()) + " psns " + std::to_string(c.psns.u64()) + (bool(c.dead) ? " dead" : "");
}
std::string text(const hw::TimerCommand& c) {
  return std::string(bool(c.start) ? "start " : "stop ") + std::to_string(c.qpn.u64());
}

class FlowControlTest : public ::testing::Test {
 protected:
  FlowControlTest() {
    test::configure(packets_, "packets", 64, hw::Kind::lutram);
    test::configure(acks_, "acks", 64, hw::Kind::lutram);
    test::configure(expired_, "expired", 64, hw::Kind::lutram);
    test::configure(control_, "control", 64, hw::Kind::lutram);
    test::configure(list_, "list", 64, hw::Kind::lutram);
    test::configure(timer_, "timer", 64, hw::Kind::lutram);
    test::configure(reads_, "reads", 64, hw::Kind::lutram);
    test::configure(credits_, "credits", 64, hw::Kind::lutram);
  }
  void run(hw::Cycles cycles) {
    bench_.run(cycles, [this] { stage_.step(packets_, acks_, expired_, control_, list_, timer_, reads_, credits_); });
  }
  typedef std::vector<std::string> Lines;
  // Runs until all is done, then hands out what happened since the last call.
  Lines commands() {
    run(12);
    return take_lines(list_sink_);
  }
  Lines timers() {
    run(12);
    return take_lines(timer_sink_);
  }
  Lines credits() {
    run(12);
    return take_lines(credit_sink_);
  }
  template <class T>
  Lines take_lines(test::Sink<T>& sink) {
    Lines lines;
    for (const T& t : sink.tokens) lines.push_back(text(t));
    sink.tokens.clear();
    sink.cycles.clear();
    return lines;
  }
  void forget() {
    commands();
    timers();
    credits();
  }
  // A QP whose first PSN is `first` and that has `count` packets in flight.
  void open(uint64_t qpn, uint64_t first, int count, uint64_t retries = 7) {
    control_.write(control(qpn, first, retries));
    run(4);
    send(qpn, count);
    forget();
  }
  void send(uint64_t qpn, int count) {
    for (int i = 0; i < count; i++) {
      packets_.write(packet(qpn, uint64_t(i)));
      run(1);
    }
    run(4);
  }
  template <class T>
  void give(hls::stream<T>& s, const T& t) {
    s.write(t);
    run(1);
  }

  test::Bench bench_;
  hw::tx::FlowControl stage_;
  hls::stream<hw::TxPacket> packets_;
  hls::stream<hw::RxAck> acks_;
  hls::stream<hw::TimerExpired> expired_;
  hls::stream<hw::FlowControlControl> control_;
  hls::stream<hw::ListCommand> list_;
  hls::stream<hw::TimerCommand> timer_;
  hls::stream<hw::ReadIssued> reads_;
  hls::stream<hw::Credit> credits_;
  test::Sink<hw::ListCommand> list_sink_{bench_, list_};
  test::Sink<hw::TimerCommand> timer_sink_{bench_, timer_};
  test::Sink<hw::ReadIssued> read_sink_{bench_, reads_};
  test::Sink<hw::Credit> credit_sink_{bench_, credits_};
};

TEST_F(FlowControlTest, PsnsFollowEachOtherAcrossTheWrapEveryCycle) {
  open(3, 0xfffffe, 0);
  std::vector<hw::TxPacket> packets(40, packet(3));
  const hw::Cycles began = bench_.now();
  test::Source<hw::TxPacket> source(bench_, packets_, packets);
  run(100);
  ASSERT_EQ(list_sink_.tokens.size(), 40u);
  for (uint64_t i = 0; i < 40; i++) {
    EXPECT_EQ(list_sink_.tokens[i].packet.psn.v.u64(), (0xfffffe + i) & 0xffffff);
    EXPECT_EQ(list_sink_.cycles[i] - began, 3 + i);  // written in 0, taken in 1, done in 2, read in 3
  }
  EXPECT_EQ(timers(), Lines({"start 3"}));
  EXPECT_EQ(stage_.sent_packets.v.u64(), 40u);
}

// Six packets in flight, PSNs first .. first + 5, and an acknowledgement of each PSN around them.
class FlowControlAckTest : public FlowControlTest, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(FlowControlAckTest, Acknowledgement) {
  for (int offset = -4; offset < 10; offset++) {
    SCOPED_TRACE(offset);
    const uint64_t first = GetParam(), qpn = uint64_t(100) + uint64_t(offset);
    const bool inside = offset >= 0 && offset < 6;
    open(qpn, first, 6);
    const uint64_t ghosts = stage_.ghost_acks.v.u64();
    give(acks_, ack(qpn, first + uint64_t(offset)));
    EXPECT_EQ(commands(),
              inside ? Lines({"release qp " + std::to_string(qpn) + " count " + std::to_string(offset + 1)}) : Lines());
    EXPECT_EQ(timers(), inside ? Lines({(offset == 5 ? "stop " : "start ") + std::to_string(qpn)}) : Lines());
    EXPECT_EQ(stage_.ghost_acks.v.u64() - ghosts, inside || offset == -1 ? 0u : 1u);
  }
}

TEST_P(FlowControlAckTest, SequenceNak) {
  for (int offset = -4; offset < 10; offset++) {
    SCOPED_TRACE(offset);
    const uint64_t first = GetParam(), qpn = uint64_t(100) + uint64_t(offset);
    const bool inside = offset >= 0 && offset < 6;
    const std::string qp = " qp " + std::to_string(qpn);
    open(qpn, first, 6);
    const uint64_t ghosts = stage_.ghost_acks.v.u64(), errors = stage_.packet_seq_err.v.u64();
    give(acks_, ack(qpn, first + uint64_t(offset), kNak));
    Lines expected;
    if (inside && offset > 0) expected.push_back("release" + qp + " count " + std::to_string(offset));
    if (inside)
      expected.push_back("replay" + qp + " psn " + std::to_string((first + uint64_t(offset)) & 0xffffff) + " count " +
                         std::to_string(6 - offset));
    EXPECT_EQ(commands(), expected);
    EXPECT_EQ(timers(), Lines(expected.size(), "start " + std::to_string(qpn)));
    EXPECT_EQ(stage_.ghost_acks.v.u64() - ghosts, inside ? 0u : 1u);
    EXPECT_EQ(stage_.packet_seq_err.v.u64() - errors, inside ? 1u : 0u);
  }
}

TEST_P(FlowControlAckTest, FatalNak) {
  const std::map<uint64_t, uint64_t> status = {{kNakInvalid, 9}, {kNakAccess, 10}, {kNakOperation, 11}};
  for (const auto& [syndrome, wc_status] : status) {
    for (int offset = -2; offset < 8; offset++) {
      SCOPED_TRACE(testing::Message() << syndrome << " at " << offset);
      const uint64_t first = GetParam(), qpn = uint64_t(100) + uint64_t(offset) + syndrome * 256;
      const bool inside = offset >= 0 && offset < 6;
      const std::string qp = " qp " + std::to_string(qpn);
      open(qpn, first, 6);
      give(acks_, ack(qpn, first + uint64_t(offset), syndrome));
      Lines expected;
      if (inside && offset > 0) expected.push_back("release" + qp + " count " + std::to_string(offset));
      if (inside)
        expected.push_back("abort" + qp + " count " + std::to_string(6 - offset) + " status " +
                           std::to_string(wc_status));
      EXPECT_EQ(commands(), expected);
      forget();
      give(packets_, packet(qpn));
      EXPECT_EQ(commands(), Lines({inside ? "flush" + qp
                                          : "send" + qp + " psn " + std::to_string((first + 6) & 0xffffff) + " asks"}));
    }
  }
  EXPECT_EQ(stage_.req_remote_invalid_request.v.u64(), 6u);
  EXPECT_EQ(stage_.req_remote_access_errors.v.u64(), 6u);
}

INSTANTIATE_TEST_SUITE_P(AroundTheWrap, FlowControlAckTest, ::testing::Values(1000, 0, 0xfffffd, 0x7ffffe));

TEST_F(FlowControlTest, ANakIsComparedThenReleasesThenReplays) {
  open(1, 50, 6);
  const hw::Cycles began = bench_.now();
  acks_.write(ack(1, 53, kNak));
  run(6);
  ASSERT_EQ(list_sink_.cycles.size(), 2u);
  // Written in 0, taken in 1, compared in 2.
  EXPECT_EQ(list_sink_.cycles[0] - began, 4u);
  EXPECT_EQ(list_sink_.cycles[1] - began, 5u);
}

TEST_F(FlowControlTest, RnrNakAcknowledgesWhatLiesBeforeAndStartsTheTimer) {
  open(1, 50, 6);
  give(acks_, ack(1, 52, kRnr));
  EXPECT_EQ(commands(), Lines({"release qp 1 count 2"}));
  EXPECT_EQ(timers(), Lines({"start 1", "start 1"}));
  EXPECT_EQ(stage_.rnr_nak_retry_err.v.u64(), 1u);
}

TEST_F(FlowControlTest, ReservedNaksDoNothing) {
  open(1, 50, 6);
  for (const uint64_t syndrome : {0x40, 0x64, 0x65, 0x7f}) give(acks_, ack(1, 52, syndrome));
  EXPECT_EQ(commands(), Lines());
  EXPECT_EQ(stage_.ghost_acks.v.u64(), 4u);
}

TEST_F(FlowControlTest, TimeOutsReplayUntilTheRetriesAreGone) {
  open(2, 10, 3, 2);
  for (int i = 0; i < 2; i++) {
    give(expired_, expired(2));
    EXPECT_EQ(commands(), Lines({"replay qp 2 psn 10 count 3"}));
    EXPECT_EQ(timers(), Lines({"start 2"}));
  }
  give(expired_, expired(2));
  EXPECT_EQ(commands(), Lines({"abort qp 2 count 3 status 12"}));
  EXPECT_EQ(timers(), Lines({"stop 2"}));
  give(expired_, expired(2));
  give(acks_, ack(2, 11));
  give(packets_, packet(2));
  EXPECT_EQ(commands(), Lines({"flush qp 2"}));
  EXPECT_EQ(timers(), Lines());
  EXPECT_EQ(stage_.local_ack_timeout_err.v.u64(), 3u);
  EXPECT_EQ(stage_.req_transport_retries_exceeded.v.u64(), 1u);
  EXPECT_EQ(stage_.held(), 0u);
  EXPECT_EQ(credits(), Lines({"qp 2 psns 3 dead"}));
}

TEST_F(FlowControlTest, ProgressReloadsTheRetriesAndNaksDrawOnThem) {
  open(2, 10, 5, 2);
  give(expired_, expired(2));
  give(acks_, ack(2, 10, kNak));
  give(acks_, ack(2, 12, kNak));  // releases two and reloads, so it costs nothing
  for (int i = 0; i < 2; i++) give(acks_, ack(2, 12, kNak));
  EXPECT_EQ(commands(),
            Lines({"replay qp 2 psn 10 count 5", "replay qp 2 psn 10 count 5", "release qp 2 count 2",
                   "replay qp 2 psn 12 count 3", "replay qp 2 psn 12 count 3", "replay qp 2 psn 12 count 3"}));
  give(acks_, ack(2, 12, kNak));
  EXPECT_EQ(commands(), Lines({"abort qp 2 count 3 status 12"}));
}

TEST_F(FlowControlTest, TimeOutOfAnIdleQpDoesNothing) {
  open(2, 10, 1);
  give(acks_, ack(2, 10));
  forget();
  give(expired_, expired(2));
  EXPECT_EQ(commands(), Lines());
  EXPECT_EQ(stage_.local_ack_timeout_err.v.u64(), 0u);
}

// A READ request takes as many PSNs as it has responses and is told to those who will receive them.
TEST_F(FlowControlTest, ReadTakesAPsnForEachResponse) {
  for (uint64_t psns = 1; psns <= 16; psns++) {
    SCOPED_TRACE(psns);
    const uint64_t first = 0xfffff8, behind = (first + 1 + psns) & 0xffffff;
    const std::string qp = "qp " + std::to_string(psns), count = " count " + std::to_string(psns);
    open(psns, first, 0);
    give(packets_, packet(psns, 0, false));
    give(packets_, read(psns, psns));
    give(packets_, packet(psns, 0, false));
    EXPECT_EQ(commands(), Lines({"send " + qp + " psn " + std::to_string(first),
                                 "send " + qp + " psn " + std::to_string(first + 1) + " asks",
                                 "send " + qp + " psn " + std::to_string(behind)}));
    EXPECT_EQ(take_lines(read_sink_),
              Lines({qp + " psn " + std::to_string(first + 1) + " bytes " + std::to_string(256 * psns - 255) + " to " +
                     std::to_string(psns << 32 | psns)}));
    EXPECT_EQ(stage_.held(), psns + 2);
    give(acks_, ack(psns, behind, kNak));  // all but the last
    EXPECT_EQ(commands(), Lines({"release " + qp + " count " + std::to_string(psns + 1),
                                 "replay " + qp + " psn " + std::to_string(behind) + " count 1"}));
    EXPECT_EQ(credits(), Lines({qp + " psns " + std::to_string(psns + 1)}));
    give(acks_, ack(psns, behind));
    EXPECT_EQ(credits(), Lines({qp + " psns 1"}));
    EXPECT_EQ(stage_.held(), 0u);
  }
  EXPECT_EQ(stage_.sent_packets.v.u64(), 48u);
}

// Responses acknowledge one PSN each; a replay begins where they end.
TEST_F(FlowControlTest, ReadIsReleasedByResponsesAndReplayedFromItsMiddle) {
  open(4, 100, 0);
  give(packets_, read(4, 9));
  forget();
  for (uint64_t i = 0; i < 3; i++) give(acks_, ack(4, 100 + i));
  run(6);
  give(expired_, expired(4));
  give(acks_, ack(4, 106, kNak));
  EXPECT_EQ(commands(), Lines({"release qp 4 count 1", "release qp 4 count 1", "release qp 4 count 1",
                               "replay qp 4 psn 103 count 6", "release qp 4 count 3", "replay qp 4 psn 106 count 3"}));
  EXPECT_EQ(read_sink_.tokens.size(), 1u) << "issued once, however often it is sent";
  EXPECT_EQ(credits(), Lines({"qp 4 psns 1", "qp 4 psns 1", "qp 4 psns 1", "qp 4 psns 3"}));
}

TEST_F(FlowControlTest, DeadQpReturnsWhatItHasInFlightAndItsReadsAreNotIssued) {
  open(1, 20, 2);
  give(packets_, read(1, 5));
  forget();
  take_lines(read_sink_);
  give(acks_, ack(1, 21, kNakAccess));
  give(packets_, read(1, 3));
  give(packets_, packet(1));
  EXPECT_EQ(commands(), Lines({"release qp 1 count 1", "abort qp 1 count 6 status 10", "flush qp 1", "flush qp 1"}));
  EXPECT_EQ(credits(), Lines({"qp 1 psns 1", "qp 1 psns 6 dead"}));
  EXPECT_EQ(take_lines(read_sink_), Lines());
  EXPECT_EQ(stage_.held(), 0u);
}

TEST_F(FlowControlTest, PacketsOfAQpThatWasNeverOpenAreFlushed) {
  give(packets_, packet(3));
  EXPECT_EQ(commands(), Lines({"flush qp 3"}));
  EXPECT_EQ(credits(), Lines());
}

TEST_F(FlowControlTest, OpeningAgainFlushesTheLastLife) {
  open(1, 100, 3);
  give(control_, control(1, 5000));
  EXPECT_EQ(commands(), Lines({"abort qp 1 count 3 status 5", "open qp 1"}));
  EXPECT_EQ(timers(), Lines({"stop 1", "stop 1"}));
  EXPECT_EQ(credits(), Lines()) << "work_queue begins afresh by control of its own";
  give(acks_, ack(1, 102));
  give(packets_, packet(1));
  EXPECT_EQ(commands(), Lines({"send qp 1 psn 5000 asks"}));
  EXPECT_EQ(stage_.ghost_acks.v.u64(), 1u);
}

TEST_F(FlowControlTest, NobodyWaitsLongUnderLoad) {
  for (uint64_t qpn = 1; qpn <= 3; qpn++) open(qpn, 0, 0);
  for (int i = 0; i < 8; i++) packets_.write(packet(1)), acks_.write(ack(2, 500)), bench_.run(1, [] {});
  expired_.write(expired(3));
  control_.write(control(4, 7));
  bench_.run(1, [] {});
  // The last take was an event (control), so a packet is next; of the events an acknowledgement.
  std::string taken;
  for (hw::Cycles t = 0; t < 19; t++) {
    run(1);
    const hw::Cycles now = bench_.now() - 1;
    taken += packets_.last_read() == now   ? 'p'
             : acks_.last_read() == now    ? 'a'
             : expired_.last_read() == now ? 'e'
             : control_.last_read() == now ? 'c'
                                           : '-';
  }
  EXPECT_EQ(taken, "pa-pepa-pc-pa-pa-pa");
}

// Any of the four outputs may be the narrow one.
TEST_F(FlowControlTest, WaitsForRoomInEachOutputAndLosesNothing) {
  for (int narrow = 0; narrow < 4; narrow++) {
    SCOPED_TRACE(narrow);
    test::Bench bench;
    hw::tx::FlowControl stage;
    hls::stream<hw::TxPacket> packets;
    hls::stream<hw::RxAck> acks;
    hls::stream<hw::TimerExpired> expired;
    hls::stream<hw::FlowControlControl> opens;
    hls::stream<hw::ListCommand> list;
    hls::stream<hw::TimerCommand> timer;
    hls::stream<hw::ReadIssued> reads;
    hls::stream<hw::Credit> credits;
    const auto room = [narrow](int output) { return narrow == output ? 1u : 16u; };
    const auto percent = [narrow](int output) { return narrow == output ? 20u : 100u; };
    test::configure(packets, "packets", 16), test::configure(acks, "acks", 16);
    test::configure(expired, "expired", 16), test::configure(opens, "control", 16);
    test::configure(list, "list", room(0)), test::configure(timer, "timer", room(1));
    test::configure(reads, "reads", room(2)), test::configure(credits, "credits", room(3));
    test::Sink<hw::ListCommand> commands(bench, list, percent(0));
    test::Sink<hw::TimerCommand> timers(bench, timer, percent(1));
    test::Sink<hw::ReadIssued> issued(bench, reads, percent(2));
    test::Sink<hw::Credit> returned(bench, credits, percent(3));
    const auto step = [&] { stage.step(packets, acks, expired, opens, list, timer, reads, credits); };
    opens.write(control(1, 0));
    bench.run(8, step);
    for (uint64_t i = 0; i < 10; i++) {
      packets.write(read(1, 2));
      acks.write(ack(1, 2 * i + 1));
      bench.run(40, step);
    }
    bench.run(400, step);
    Lines expected = {"open qp 1"};
    for (uint64_t i = 0; i < 10; i++) {
      expected.push_back("send qp 1 psn " + std::to_string(2 * i) + " asks");
      expected.push_back("release qp 1 count 2");
    }
    EXPECT_EQ(take_lines(commands), expected);
    EXPECT_EQ(timers.tokens.size(), 21u);
    EXPECT_EQ(issued.tokens.size(), 10u);
    EXPECT_EQ(take_lines(returned), Lines(10, "qp 1 psns 2"));
  }
}

}  // namespace
