// Prints what the vocabulary does: every operation of Bits, Psn, the two CRC functions, and stages fed token by token.
// Built once for each body of the vocabulary; the three outputs must be the same.
#include <inttypes.h>
#include <stdio.h>

#include "bits_driver.hpp"
#include "hw/bus/psn.hpp"
#include "hw/rx/ethernet.hpp"
#include "hw/rx/icrc_check.hpp"
#include "hw/rx/l3_length.hpp"
#include "hw/synth/tops.hpp"
#include "hw/tx/icrc_insert.hpp"
#include "pump.hpp"

namespace {

template <int N>
void print(const char* what, int width, hw::Bits<N> x) {
  printf("%d %s", width, what);
  for (int i = 0; i < (N + 63) / 64; i++) {
    printf(" %016" PRIx64, x.template to<64>().u64());
    x = x.template shr<64>();
  }
  printf("\n");
}

struct Transcript {
  template <int N, int M>
  void add(const char* what, const hw::Bits<M>& value) {
    print(what, N, value);
  }
};

template <int W>
hw::Bits<W> random_bits(std::mt19937_64& random) {
  hw::Bits<W> x;
  for (int i = 0; i < W / 64; i++) x = x.template shl<64>() | hw::Bits<W>(random());
  return x;
}

void print_psn(std::mt19937_64& random) {
  for (int i = 0; i < 1000; i++) {
    const hw::Psn a(random()), b(a.v + hw::Bits<24>(random() % 3 ? random() % 4 : random()));
    print("psn next", 24, a.next().v);
    print("psn previous", 24, a.previous().v);
    print("psn before", 24, hw::Bits<1>(a.before(b)));
    print("psn distance", 24, b.distance(a));
  }
}

template <unsigned W>
void print_crc(std::mt19937_64& random) {
  for (unsigned i = 0; i < W / 8; i++) {
    const hw::Bits<W> data = random_bits<W>(random);
    const hw::icrc::Register state(random());
    print("crc_beat", W, hw::icrc::crc_beat(state, data));
    print("take_back", W, hw::icrc::take_back(state, hw::Bits<hw::clog2(W / 8)>(i)));
  }
}

template <unsigned W>
using Beats = std::vector<hw::Beat<W>>;

template <unsigned W>
void print_beats(const char* what, const Beats<W>& beats) {
  for (const hw::Beat<W>& x : beats) {
    print(what, W, x.data);
    print(" bytes", W, x.bytes);
    print(" last", W, x.last);
    print(" bad", W, x.bad);
  }
}

// A first beat that is RoCE v2 but for an accident now and then, followed by beats of anything.
template <unsigned W>
hw::Beat<W> random_beat(std::mt19937_64& random, bool first) {
  namespace wire = hw::wire;
  hw::Beat<W> x;
  x.data = random_bits<W>(random);
  x.bytes = typename hw::Beat<W>::Count(W / 8);
  x.last = hw::Bits<1>(random() % 3 == 0);
  if (first) {
    const unsigned total = unsigned(60 + 4 * (random() % 40));
    wire::store<wire::eth::Type>(x.data, hw::Bits<16>(random() % 8 ? wire::eth::kIpv4 : random()));
    wire::store<wire::ip::VersionIhl>(x.data, hw::Bits<8>(wire::ip::kVersion4Ihl5));
    wire::store<wire::ip::Protocol>(x.data, hw::Bits<8>(wire::ip::kUdp));
    wire::store<wire::ip::FlagsFragment>(x.data, hw::Bits<16>(random() % 8 ? 0x4000 : random()));
    wire::store<wire::ip::TotalLength>(x.data, hw::Bits<16>(total));
    wire::store<wire::udp::Length>(x.data, hw::Bits<16>(total - (random() % 8 ? 20 : 21)));
    wire::store<wire::udp::DestinationPort>(x.data, hw::Bits<16>(wire::udp::kRocePort));
    wire::store<wire::bth::Opcode>(x.data, hw::Bits<8>(random() % 2 ? wire::kWriteOnly : wire::kWriteMiddle));
  }
  return x;
}

template <unsigned W, class Stage>
Beats<W> pass(Stage& stage, const Beats<W>& beats) {
  vocabulary::Feed<hw::Beat<W>> in;
  vocabulary::Drain<hw::Beat<W>> out;
  in.tokens.assign(beats.begin(), beats.end());
  for (size_t i = 0; i < 2 * beats.size(); i++) {
    vocabulary::step([&] { hw::synth::step(stage, in.stream, out.stream); }, in, out);
  }
  hw::synth::settle_counters(stage, 0);
  return out.tokens;
}

constexpr int kBeats = 150;

template <unsigned W>
void print_stages(std::mt19937_64& random) {
  vocabulary::Feed<hw::Beat<W>> in;
  vocabulary::Drain<hw::Beat<W>> roce, host;
  hw::rx::Ethernet<W> ethernet;
  for (int i = 0; i < kBeats; i++) {
    in.tokens.push_back(random_beat<W>(random, i == 0 || bool(in.tokens.back().last)));
  }
  for (int i = 0; i < kBeats; i++) {
    vocabulary::step([&] { hw::synth::step(ethernet, in.stream, roce.stream, host.stream); }, in, roce, host);
  }
  hw::synth::settle_counters(ethernet, 0);
  print_beats<W>("host", host.tokens);
  print("roce_frames", W, ethernet.roce_frames.v);

  hw::rx::L3Length<W> l3_length;
  const Beats<W> cut = pass<W>(l3_length, roce.tokens);
  print_beats<W>("l3_length", cut);
  print("length_errors", W, l3_length.length_errors.v);

  hw::rx::IcrcCheck<W> icrc_check;
  print_beats<W>("icrc_check", pass<W>(icrc_check, cut));
  print("icrc_errors", W, icrc_check.icrc_errors.v);

  hw::tx::IcrcInsert<W> icrc_insert;
  const Beats<W> sent = pass<W>(icrc_insert, cut);
  print_beats<W>("icrc_insert", sent);

  hw::rx::IcrcCheck<W> check_sent;
  pass<W>(check_sent, sent);
  print("icrc_errors of what was sent", W, check_sent.icrc_errors.v);
}

}  // namespace

int main() {
  Transcript out;
  vocabulary::exercise_all<hw::Bits>(out, 5);
  std::mt19937_64 random(7);
  print_psn(random);
  print_crc<512>(random);
  print_crc<1024>(random);
  print_stages<512>(random);
  print_stages<1024>(random);
}
