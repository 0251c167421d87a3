// The MACs and the cable between them, against the arithmetic of the line.
#include "models/mac.hpp"

#include "models/link.hpp"
#include "tests/models/kernel.hpp"

using models::Frame;
using models::MacParams;

namespace {

const hw::Clock kClock(250000000);
const hw::Clock kMacClock(322265625);

struct Tape : models::FrameReceiver {
  std::vector<Frame> frames;
  void receive(Frame&& frame) override { frames.push_back(std::move(frame)); }
};

template <unsigned W>
struct TxRun {
  test::Bench bench;
  Tape tape;
  hls::stream<hw::Beat<W>> in;
  models::MacTx<W> model;
  test::Kernel kernel;
  test::Source<hw::Beat<W>> source;

  TxRun(const MacParams& p, test::Calling calling, std::vector<hw::Beat<W>> beats, unsigned percent = 100)
      : model(p, kClock, tape), kernel(calling), source(bench, in, std::move(beats), percent) {
    test::configure(in, "mac_tx", 16);
    in.connect_reader(kernel.end(kernel.add(model, in)));
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

template <unsigned W>
std::vector<hw::Beat<W>> beats_of(const std::vector<std::vector<uint8_t>>& frames) {
  std::vector<hw::Beat<W>> beats;
  for (uint32_t i = 0; i < frames.size(); i++)
    for (const auto& b : test::to_beats<W>(frames[i], i)) beats.push_back(b);
  return beats;
}

TEST(MacTx, AFrameLeavesWhenItIsWhole) {
  for (const test::Calling& calling : test::kCallings) {
    TxRun<512> r(MacParams(), calling, test::to_beats<512>(test::pattern(200, 1), 9));
    r.run(10);
    ASSERT_EQ(r.tape.frames.size(), 1u);
    EXPECT_EQ(r.tape.frames[0].start, 4u * 4000);  // the four beats are taken in cycles 1 to 4
    EXPECT_EQ(r.tape.frames[0].bytes, test::pattern(200, 1));
    EXPECT_EQ(r.tape.frames[0].tag, 9u);
  }
}

// Frame by frame the same bytes, whatever the width, and taken at a beat a cycle.
template <unsigned W>
void frames_leave_whole() {
  std::vector<std::vector<uint8_t>> frames;
  for (size_t size = 60; size < 300; size += 7) frames.push_back(test::pattern(size, size));
  TxRun<W> r(MacParams(), {true, false}, beats_of<W>(frames));
  r.run(2000);
  ASSERT_EQ(r.tape.frames.size(), frames.size());
  for (size_t i = 0; i < frames.size(); i++) EXPECT_EQ(r.tape.frames[i].bytes, frames[i]) << W << " bits, " << i;
  EXPECT_EQ(r.tape.frames[0].start, kClock.edge((frames[0].size() + W / 8 - 1) / (W / 8)));
}
TEST(MacTx, FramesLeaveWholeAtEveryWidth) {
  frames_leave_whole<64>();
  frames_leave_whole<128>();
  frames_leave_whole<256>();
  frames_leave_whole<512>();
  frames_leave_whole<1024>();
}

TEST(MacTx, ShortFramesArePaddedWithZeros) {
  for (size_t size : {1u, 42u, 59u, 60u, 61u}) {
    TxRun<512> r(MacParams(), {true, false}, test::to_beats<512>(test::pattern(size, 1)));
    r.run(10);
    std::vector<uint8_t> padded = test::pattern(size, 1);
    if (size < 60) padded.resize(60);
    ASSERT_EQ(r.tape.frames.size(), 1u);
    EXPECT_EQ(r.tape.frames[0].bytes, padded);
    EXPECT_EQ(r.model.bytes, padded.size() + 4);
  }
}

// A saturated line starts a frame every (frame + 24) * 80 ps, to the picosecond, at any mix of sizes; both callings
// agree to the picosecond as well.
TEST(MacTx, LineRateIsExact) {
  std::vector<std::vector<uint8_t>> frames;
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; i++) frames.push_back(test::pattern(42 + random() % 4100, uint64_t(i)));
  for (const test::Calling& calling : test::kCallings) {
    TxRun<512> r(MacParams(), calling, beats_of<512>(frames));
    r.run(30000);
    ASSERT_EQ(r.tape.frames.size(), frames.size());
    for (size_t i = 20; i < frames.size(); i++) {
      const hw::Picoseconds gap = r.tape.frames[i].start - r.tape.frames[i - 1].start;
      EXPECT_EQ(gap, (r.tape.frames[i - 1].bytes.size() + 24) * 80) << i;
    }
  }
}

// What waits for the line stays below transmit_bytes and one frame; the NIC is held up.
TEST(MacTx, TheFifoIsBounded) {
  MacParams p;
  p.gbps = 10;
  TxRun<512> r(p, {false, false}, beats_of<512>(std::vector<std::vector<uint8_t>>(50, test::pattern(1000, 2))));
  r.run(4000);
  const hw::Picoseconds now = kClock.edge(r.bench.now());
  ASSERT_FALSE(r.tape.frames.empty());
  EXPECT_LT(r.tape.frames.size(), 50u);
  const hw::Picoseconds end = r.tape.frames.back().start + models::frame_time(1000, 10);
  EXPECT_LE(end - now, models::line_time(8192 + 1024, 10));
  EXPECT_GE(end - now, models::line_time(8192 - 1024, 10));
  EXPECT_FALSE(r.source.done());
}

template <unsigned W>
struct RxRun {
  test::Bench bench;
  hls::stream<hw::Beat<W>> out;
  models::MacRx<W> model;
  test::Kernel kernel;
  test::Sink<hw::Beat<W>> sink;

  RxRun(const MacParams& p, const hw::Clock& clock, test::Calling calling, unsigned percent = 100)
      : model(p, clock), kernel(calling), sink(bench, out, percent) {
    test::configure(out, "mac_rx", 16);
    model.waker = kernel.add(model, out);
    out.connect_writer(kernel.end(model.waker), 1);
  }
  void receive(const std::vector<uint8_t>& bytes, hw::Picoseconds start, uint32_t tag = 0) {
    model.receive(Frame{bytes, tag, start});
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

template <unsigned W>
void beats_come_as_they_arrive(const hw::Clock& clock) {
  for (const test::Calling& calling : test::kCallings)
    for (hw::Picoseconds start : {1000u, 1003u, 777777u}) {
      RxRun<W> r(MacParams(), clock, calling);
      const std::vector<uint8_t> bytes = test::pattern(1001, 1);
      r.receive(bytes, start, 3);
      r.run(2500);
      const size_t beats = (bytes.size() + W / 8 - 1) / (W / 8);
      ASSERT_EQ(r.sink.tokens.size(), beats);
      EXPECT_EQ(test::to_packets<W>(r.sink.tokens)[0], bytes);
      hw::Cycles earliest = 0;  // a wide line delivers more than a beat a cycle; the stream takes one
      for (size_t k = 0; k < beats; k++) {
        const hw::Picoseconds end = start + (8 + std::min(bytes.size(), (k + 1) * W / 8)) * 80;
        earliest = std::max(clock.edge_at_or_after(end), earliest);
        EXPECT_EQ(r.sink.cycles[k], earliest + 1) << k;
        EXPECT_EQ(r.sink.tokens[k].tag.id, 3u);
        earliest++;
      }
    }
}
TEST(MacRx, BeatsComeAsTheyArrive64) {
  beats_come_as_they_arrive<64>(kMacClock);
}
TEST(MacRx, BeatsComeAsTheyArrive128) {
  beats_come_as_they_arrive<128>(kClock);
}
TEST(MacRx, BeatsComeAsTheyArrive256) {
  beats_come_as_they_arrive<256>(kClock);
}
TEST(MacRx, BeatsComeAsTheyArrive512) {
  beats_come_as_they_arrive<512>(kClock);
}
TEST(MacRx, BeatsComeAsTheyArrive512AtTheMacClock) {
  beats_come_as_they_arrive<512>(kMacClock);
}
TEST(MacRx, BeatsComeAsTheyArrive1024) {
  beats_come_as_they_arrive<1024>(kClock);
}

// A reader too slow for the line: frames vanish whole, are counted, and all callings lose the same ones.
TEST(MacRx, AFullBufferDropsWholeFrames) {
  MacParams p;
  p.receive_beats = 40;
  std::vector<hw::Cycles> first;
  for (const test::Calling& calling : test::kCallings) {
    RxRun<512> r(p, kClock, calling, 40);
    for (uint32_t i = 0; i < 200; i++) r.receive(test::pattern(1000, i), 1000 + i * 1024u * 80, i);
    r.run(12000);
    const auto packets = test::to_packets<512>(r.sink.tokens);
    EXPECT_GT(r.model.dropped, 10u);
    EXPECT_EQ(packets.size() + r.model.dropped, 200u);
    EXPECT_EQ(r.model.frames, 200u);
    size_t at = 0;
    for (const auto& packet : packets) {
      EXPECT_EQ(packet, test::pattern(1000, r.sink.tokens[at].tag.id));
      at += 16;
    }
    if (first.empty()) first = r.sink.cycles;
    EXPECT_EQ(r.sink.cycles, first);
    EXPECT_EQ(r.model.held(), 0u);
  }
}

// Nobody reads: the stream takes the first 16 beats, the buffer of 40 two more frames of 16, and no part of the others.
TEST(MacRx, TheBufferHoldsWhatItSays) {
  MacParams p;
  p.receive_beats = 40;
  RxRun<512> r(p, kClock, {false, false}, 0);
  for (uint32_t i = 0; i < 5; i++) r.receive(test::pattern(1000, i), 1000 + i * 1024u * 80);
  r.run(200);
  EXPECT_EQ(r.model.dropped, 2u);
  EXPECT_EQ(r.model.held(), 32u);
}

TEST(MacRx, AFrameWakesASleeper) {
  RxRun<512> r(MacParams(), kClock, {false, false});
  r.run(100);
  r.receive(test::pattern(64, 1), 1000000);
  r.run(200);
  EXPECT_EQ(r.sink.cycles, std::vector<hw::Cycles>{253});  // 1000 ns and 72 bytes: the edge of 1008 ns, and the stream
}

TEST(MacRx, SleepsBetweenFrames) {
  RxRun<512> r(MacParams(), kClock, {false, false});
  for (uint64_t i = 0; i < 10; i++) r.receive(test::pattern(64, i), 1000000 * (i + 1));
  r.run(3000);
  EXPECT_EQ(r.sink.tokens.size(), 10u);
  EXPECT_LT(r.kernel.calls(), 50u);
}

TEST(EdgeFinder, AgreesWithTheClock) {
  std::mt19937_64 random(3);
  for (uint64_t hertz : {250000000u, 322265625u, 333333333u, 1000000007u}) {
    const hw::Clock clock(hertz);
    models::EdgeFinder finder(clock);
    hw::Picoseconds t = 0;
    for (int i = 0; i < 20000; i++) {
      t = i % 100 == 99 ? random() % 1000000000000u : t + random() % (i % 10 == 9 ? 200000 : 9000);
      ASSERT_EQ(finder.at_or_after(t), clock.edge_at_or_after(t)) << hertz << " " << t;
    }
  }
}

TEST(Link, DelaysAndDropsByPlan) {
  Tape tape;
  models::Link link(7000, tape, models::FaultPlan().drop(2).drop(4));
  for (uint32_t i = 1; i <= 5; i++) link.receive(Frame{test::pattern(60, i), i, 1000 * i});
  ASSERT_EQ(tape.frames.size(), 3u);
  EXPECT_EQ(tape.frames[0].start, 8000u);
  EXPECT_EQ(tape.frames[1].tag, 3u);
  EXPECT_EQ(tape.frames[2].tag, 5u);
  EXPECT_EQ(link.frames, 5u);
  EXPECT_EQ(link.dropped, 2u);
}

// End to end: one frame, from the last beat into the MAC to the first beat out of the other.
TEST(Link, OneWayTimeIsTheSumOfItsParts) {
  test::Bench bench;
  hls::stream<hw::Beat<512>> in, out;
  test::configure(in, "mac_tx", 16);
  test::configure(out, "mac_rx", 16);
  models::MacRx<512> rx(MacParams(), kClock);
  models::Link link(100000, rx);
  models::MacTx<512> tx(MacParams(), kClock, link);
  test::Source<hw::Beat<512>> source(bench, in, test::to_beats<512>(test::pattern(70, 1)));
  test::Sink<hw::Beat<512>> sink(bench, out);
  bench.run(60, [&] {
    tx.step(in);
    rx.step(out);
  });
  // Second beat taken at 8 ns; 100 ns; the first beat ends after 72 bytes, 5.76 ns: edge 116 ns, stream 4 ns.
  ASSERT_EQ(sink.cycles.size(), 2u);
  EXPECT_EQ(sink.cycles[0], 30u);
  EXPECT_EQ(sink.cycles[1], 31u);
}

}  // namespace
