// Time of a beat through one data stage, its streams and a source and sink included: what a change of a stage costs in
// simulation. Compare within one run; `Copy` is the least that a stage can cost.
#include <benchmark/benchmark.h>

#include "hw/rx/ethernet.hpp"
#include "hw/rx/icrc_check.hpp"
#include "hw/rx/l3_length.hpp"
#include "hw/rx/packet_store.hpp"
#include "hw/tx/icrc_insert.hpp"

namespace {

using Beat = hw::Beat<512>;
using Beats = hls::stream<Beat>;

struct Copy {
  void step(Beats& in, Beats& out) {
    if (!in.empty() && !out.full()) out.write(in.read());
  }
};

// The beats of a WRITE_Middle of 4096 bytes whose lengths agree; its ICRC does not matter here.
std::vector<Beat> frame() {
  std::vector<Beat> beats(65);
  for (size_t i = 0; i < beats.size(); i++) {
    for (auto& word : beats[i].data.w) word = i * 0x9e3779b97f4a7c15u;
    beats[i].bytes = Beat::Count(64);
  }
  namespace wire = hw::wire;
  wire::store<wire::eth::Type>(beats[0].data, hw::Bits<16>(wire::eth::kIpv4));
  wire::store<wire::ip::VersionIhl>(beats[0].data, hw::Bits<8>(wire::ip::kVersion4Ihl5));
  wire::store<wire::ip::TotalLength>(beats[0].data, hw::Bits<16>(4096 + wire::kMinDatagramBytes));
  wire::store<wire::ip::FlagsFragment>(beats[0].data, hw::Bits<16>(0x4000));
  wire::store<wire::ip::Protocol>(beats[0].data, hw::Bits<8>(wire::ip::kUdp));
  wire::store<wire::udp::DestinationPort>(beats[0].data, hw::Bits<16>(wire::udp::kRocePort));
  wire::store<wire::udp::Length>(beats[0].data, hw::Bits<16>(4096 + wire::kMinDatagramBytes - wire::kIpBytes));
  wire::store<wire::bth::Opcode>(beats[0].data, hw::Bits<8>(wire::kWriteMiddle));
  wire::store<wire::bth::Flags>(beats[0].data, hw::Bits<8>(0));
  beats.back().bytes = Beat::Count(14 + 4096 + wire::kMinDatagramBytes - 64 * 64);
  beats.back().last = hw::Bits<1>(1);
  return beats;
}

template <class Step>
void beats_through(benchmark::State& state, Beats& in, Beats& out, Step step) {
  const std::vector<Beat> beats = frame();
  in.configure({"in", 8, hw::Kind::lutram});
  out.configure({"out", 8, hw::Kind::lutram});
  hw::reset_world(0);
  size_t next = 0;
  uint64_t sum = 0;
  for (auto _ : state) {
    if (!in.full()) {
      in.write(beats[next]);
      next = (next + 1) % beats.size();
    }
    step();
    if (!out.empty()) sum += out.read().data.w[0];
    hw::world().now++;
  }
  benchmark::DoNotOptimize(sum);
}

template <class Stage>
void through(benchmark::State& state) {
  Beats in, out;
  Stage stage;
  beats_through(state, in, out, [&] { stage.step(in, out); });
}

void through_ethernet(benchmark::State& state) {
  Beats in, out, host;
  hw::rx::Ethernet<512> stage;
  beats_through(state, in, out, [&] { stage.step(in, out, host); });
}

BENCHMARK(through<Copy>)->Name("Copy");
BENCHMARK(through_ethernet)->Name("rx.ethernet");
BENCHMARK(through<hw::rx::L3Length<512>>)->Name("rx.l3_length");
BENCHMARK(through<hw::rx::IcrcCheck<512>>)->Name("rx.icrc_check");
BENCHMARK(through<hw::rx::PacketStore<512>>)->Name("rx.packet_store");
BENCHMARK(through<hw::tx::IcrcInsert<512>>)->Name("tx.icrc_insert");

}  // namespace

BENCHMARK_MAIN();
