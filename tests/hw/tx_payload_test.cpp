#include "hw/tx/payload.hpp"
#include "packet.hpp"

namespace {

using hw::DmaCommand;
using hw::TxRouted;

struct Harness {
  test::Bench bench;
  hls::stream<TxRouted> in, out;
  hls::stream<DmaCommand> command;
  hw::tx::Payload stage;

  Harness() {
    test::configure(in, "in", 2);
    test::configure(out, "out", 2);
    test::configure(command, "command", 2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, out, command); });
  }
};

std::vector<TxRouted> routed(const std::vector<unsigned>& payloads) {
  std::vector<TxRouted> v(payloads.size());
  for (size_t i = 0; i < v.size(); i++) {
    v[i].packet.payload = hw::PacketBytes(payloads[i]);
    v[i].packet.local_address = hw::Bits<64>(0x123456789a000000 + i);
    v[i].packet.psn = hw::Psn(i);
    v[i].packet.tag.id = uint32_t(i);
  }
  return v;
}

TEST(TxPayload, AsksForPayloadWhereThereIsSome) {
  std::vector<unsigned> payloads;
  for (unsigned i = 0; i < 200; i++) payloads.push_back(i % 3 == 0 ? 0 : i * 20 + 1);
  for (unsigned percent : {100u, 50u}) {
    Harness h;
    test::Source<TxRouted> source(h.bench, h.in, routed(payloads), percent);
    test::Sink<TxRouted> out(h.bench, h.out, percent);
    test::Sink<DmaCommand> commands(h.bench, h.command, percent);
    h.run(percent == 100 ? 202 : 2000);
    ASSERT_EQ(out.tokens.size(), 200u);
    size_t next = 0;
    for (size_t i = 0; i < 200; i++) {
      EXPECT_EQ(out.tokens[i].packet.psn.v.u64(), i);
      if (payloads[i] == 0) continue;
      const DmaCommand& c = commands.tokens.at(next++);
      EXPECT_EQ(c.address.u64(), 0x123456789a000000 + i);
      EXPECT_EQ(c.bytes.u64(), payloads[i]);
      EXPECT_EQ(c.tag.id, i);
    }
    EXPECT_EQ(next, commands.tokens.size());
  }
}

TEST(TxPayload, TokenAndCommandLeaveInTheSameCycle) {
  Harness h;
  test::Source<TxRouted> source(h.bench, h.in, routed({64, 64, 64, 64, 64}));
  test::Sink<TxRouted> out(h.bench, h.out);
  h.run(20);
  EXPECT_EQ(out.tokens.size(), 2u) << "two commands fit";
  test::Sink<DmaCommand> commands(h.bench, h.command);
  h.run(20);
  EXPECT_EQ(out.tokens.size(), 5u);
  EXPECT_EQ(std::vector<hw::Cycles>(out.cycles.begin() + 3, out.cycles.end()),
            std::vector<hw::Cycles>(commands.cycles.begin() + 3, commands.cycles.end()));
}

}  // namespace
