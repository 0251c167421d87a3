#include "bench.hpp"
#include "hw/rx/echo.hpp"
#include "packet.hpp"
#include "stage_domain.hpp"
#include "widths.hpp"

namespace {

using hw::Beat;
using test::Bytes;
using test::RoceFrame;

constexpr uint64_t kMac = 0x021122334455, kPeerMac = 0x0abbccddeef1, kBroadcast = 0xffffffffffff;
constexpr uint32_t kIp = 0xc0a8c809, kPeerIp = 0x0a010203;

hw::AddressControl address(uint64_t mac = kMac, uint32_t ip = kIp) {
  hw::AddressControl a;
  a.mac = hw::Bits<48>(mac);
  a.ip = hw::Bits<32>(ip);
  return a;
}

Bytes from_hex(const std::string& text) {
  Bytes b;
  for (size_t i = 0; i < text.size(); i += 2) b.push_back(uint8_t(std::stoul(text.substr(i, 2), nullptr, 16)));
  return b;
}

// What scapy 2.5 makes of a ping with DF, TOS 0x10 and TTL 17, of its reply with TTL 64, of an ARP request and reply.
const Bytes kPing = from_hex(
    "0211223344550abbccddeef1080045100025123440001101c2de0a010203c0a8c809"
    "0800ba4143210007616263646566676869");
const Bytes kPong = from_hex(
    "0abbccddeef102112233445508004510002512344000400193dec0a8c8090a010203"
    "0000c24143210007616263646566676869");
const Bytes kWhoHas = from_hex("ffffffffffff0abbccddeef1080600010800060400010abbccddeef10a010203000000000000c0a8c809");
const Bytes kIsAt = from_hex("0abbccddeef102112233445508060001080006040002021122334455c0a8c8090abbccddeef10a010203");

Bytes with(Bytes frame, size_t at, unsigned size, uint64_t value) {
  RoceFrame::put(frame, at, size, value);
  return frame;
}
// The same with the checksum of its IP header right.
Bytes with_ip(const Bytes& frame, size_t at, unsigned size, uint64_t value) {
  Bytes f = with(frame, at, size, value);
  test::Packet::put_checksum(f);
  return f;
}

// The sum over an ICMP message of `bytes`, 0xffff when its checksum is right.
uint32_t icmp_sum(const Bytes& f, size_t bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes; i++) sum += uint32_t(f[34 + i]) << (i % 2 == 0 ? 8 : 0);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

struct Ping {
  unsigned payload = 0, trailer = 0;
  bool random = true;  // identifier, sequence number, payload; else zeros
  uint8_t ttl = 17;

  size_t message() const { return 8 + payload; }
  Bytes frame(uint8_t type, std::mt19937_64& r) const {
    Bytes f(34 + message() + trailer);
    RoceFrame::put(f, 0, 6, kMac);
    RoceFrame::put(f, 6, 6, kPeerMac);
    RoceFrame::put(f, 12, 2, 0x0800);
    f[14] = 0x45;
    RoceFrame::put(f, 16, 2, 20 + message());
    RoceFrame::put(f, 18, 2, random ? r() : 0);
    f[22] = ttl;
    f[23] = 1;
    RoceFrame::put(f, 26, 4, kPeerIp);
    RoceFrame::put(f, 30, 4, kIp);
    test::Packet::put_checksum(f);
    f[34] = type;
    for (size_t i = 38; random && i < f.size(); i++) f[i] = uint8_t(r());
    RoceFrame::put(f, 36, 2, ~icmp_sum(f, message()) & 0xffff);
    return f;
  }
};

// The reply to a ping, its checksums summed up afresh. Of the two zeros of an ICMP checksum it has the second one.
Bytes pong(const Bytes& ping) {
  Bytes f = ping;
  RoceFrame::put(f, 0, 6, kPeerMac);
  RoceFrame::put(f, 6, 6, kMac);
  RoceFrame::put(f, 26, 4, kIp);
  RoceFrame::put(f, 30, 4, kPeerIp);
  f[22] = 64;
  test::Packet::put_checksum(f);
  f[34] = 0;
  RoceFrame::put(f, 36, 2, 0);
  const uint32_t checksum = ~icmp_sum(f, size_t(f[16] << 8 | f[17]) - 20) & 0xffff;
  RoceFrame::put(f, 36, 2, checksum == 0 ? 0xffff : checksum);
  return f;
}

template <unsigned W>
struct Harness {
  test::Bench bench;
  hls::stream<Beat<W>> in, host, replies;
  hls::stream<hw::AddressControl> control;
  hw::rx::Echo<W> stage;

  explicit Harness(bool has_address = true, uint64_t seed = 1, unsigned capacity = 2) : bench(seed) {
    test::configure(in, "in", capacity);
    test::configure(host, "host", capacity);
    test::configure(replies, "replies", capacity);
    test::configure(control, "control", 2);
    if (!has_address) return;
    control.write(address());
    run(2);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { stage.step(in, control, host, replies); });
  }
};

template <unsigned W>
struct Outcome {
  std::vector<Bytes> host, replies;
  bool bad;  // the last beat of the last reply
  uint64_t arp_replies, echo_replies;
};

template <unsigned W>
Outcome<W> one(const Bytes& frame, bool has_address = true) {
  Harness<W> h(has_address);
  test::Source<Beat<W>> source(h.bench, h.in, test::to_beats<W>(frame));
  test::Sink<Beat<W>> host(h.bench, h.host), replies(h.bench, h.replies);
  h.run(frame.size() * 8 / W + 20);
  return {test::to_packets<W>(host.tokens), test::to_packets<W>(replies.tokens),
          !replies.tokens.empty() && bool(replies.tokens.back().bad), h.stage.arp_replies.v.u64(),
          h.stage.echo_replies.v.u64()};
}

template <unsigned W>
void expect_answer(const Bytes& request, const Bytes& reply) {
  const auto outcome = one<W>(request);
  EXPECT_EQ(outcome.replies, std::vector<Bytes>{reply});
  EXPECT_TRUE(outcome.host.empty());
  EXPECT_FALSE(outcome.bad);
  EXPECT_EQ(outcome.arp_replies, request[13] == 0x06 ? 1u : 0u);
  EXPECT_EQ(outcome.echo_replies, request[13] == 0x00 ? 1u : 0u);
}

template <unsigned W>
void expect_passed(const Bytes& frame, const char* what, bool has_address = true) {
  const auto outcome = one<W>(frame, has_address);
  EXPECT_EQ(outcome.host, std::vector<Bytes>{frame}) << what;
  EXPECT_TRUE(outcome.replies.empty()) << what;
  EXPECT_EQ(outcome.arp_replies + outcome.echo_replies, 0u) << what;
}

template <class T>
class RxEcho : public ::testing::Test {};
TYPED_TEST_SUITE(RxEcho, test::Widths, test::WidthNames);

TYPED_TEST(RxEcho, AnswersAnArpRequest) {
  constexpr unsigned W = TypeParam::value;
  expect_answer<W>(kWhoHas, kIsAt);
  expect_answer<W>(with(kWhoHas, 0, 6, kMac), kIsAt);
  expect_answer<W>(with(kWhoHas, 32, 6, 0x123456789abc), kIsAt);
  expect_answer<W>(with(kWhoHas, 28, 4, 0), with(kIsAt, 38, 4, 0));
  expect_answer<W>(with(kWhoHas, 6, 6, 0x123456789abc), kIsAt);  // to the sender that the request names
  Bytes padded = kWhoHas, reply = kIsAt;
  padded.resize(60);
  reply.resize(60);
  expect_answer<W>(padded, reply);
}

TYPED_TEST(RxEcho, AnswersAPing) {
  constexpr unsigned W = TypeParam::value;
  expect_answer<W>(kPing, kPong);
  EXPECT_EQ(pong(kPing), kPong);
}

TYPED_TEST(RxEcho, AnswersPingsOfAnySize) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  for (unsigned payload = 0; payload < 300; payload++) {
    const Bytes ping = Ping{payload, unsigned(random() % 40), true, uint8_t(random())}.frame(8, random);
    expect_answer<W>(ping, pong(ping));
  }
  for (unsigned payload : {1472u, 8972u}) {
    const Bytes ping = Ping{payload}.frame(8, random);
    expect_answer<W>(ping, pong(ping));
  }
}

// The one message in which a checksum of 0 is wrong, since its sum then is no 0xffff.
TYPED_TEST(RxEcho, AnEchoOfNothingButZerosGetsARightChecksum) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  for (unsigned payload : {0u, 1u, 56u}) {
    const Bytes ping = Ping{payload, 0, false}.frame(8, random);
    const auto outcome = one<W>(ping);
    ASSERT_EQ(outcome.replies.size(), 1u);
    EXPECT_EQ(icmp_sum(outcome.replies[0], 8 + payload), 0xffffu);
  }
}

TYPED_TEST(RxEcho, AnyChecksumIsAdjustedToARightOneAndAWrongOneStaysAsWrong) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  const Bytes ping = Ping{}.frame(8, random);
  Harness<W> h;
  test::Source<Beat<W>> source(h.bench, h.in, {});
  test::Sink<Beat<W>> replies(h.bench, h.replies);
  for (unsigned i = 0; i < 0x10000; i += 11) {
    Bytes f = with(ping, 38, 2, i);
    RoceFrame::put(f, 36, 2, 0);
    RoceFrame::put(f, 36, 2, ~icmp_sum(f, 8) & 0xffff);
    if (i % 2) f[41] ^= 0x55;
    for (const auto& b : test::to_beats<W>(f)) source.add(b);
    replies.tokens.clear();
    h.run(2 * 42 * 8 / W + 6);
    const auto packets = test::to_packets<W>(replies.tokens);
    ASSERT_EQ(packets.size(), 1u);
    ASSERT_EQ(icmp_sum(packets[0], 8) == 0xffff, i % 2 == 0) << i;
    ASSERT_EQ(icmp_sum(packets[0], 8) % 0xffff, icmp_sum(f, 8) % 0xffff) << i;
  }
}

TYPED_TEST(RxEcho, PassesAllOtherArp) {
  constexpr unsigned W = TypeParam::value;
  expect_passed<W>(with(kWhoHas, 20, 2, 2), "a reply");
  expect_passed<W>(with(kWhoHas, 38, 4, kIp ^ 1), "another host's address");
  expect_passed<W>(with(kWhoHas, 0, 6, kMac ^ 1), "to another MAC address");
  expect_passed<W>(with(kWhoHas, 14, 2, 6), "hardware space");
  expect_passed<W>(with(kWhoHas, 16, 2, 0x86dd), "protocol space");
  expect_passed<W>(with(kWhoHas, 18, 1, 8), "length of the hardware address");
  expect_passed<W>(with(kWhoHas, 19, 1, 16), "length of the protocol address");
  expect_passed<W>(with(kWhoHas, 12, 2, 0x8035), "reverse ARP");
  expect_passed<W>(Bytes(kWhoHas.begin(), kWhoHas.end() - 1), "cut short");
  expect_passed<W>(kWhoHas, "no address yet", false);
  expect_passed<W>(with(with(kWhoHas, 38, 4, 0), 0, 6, 0), "no address yet", false);
}

TYPED_TEST(RxEcho, PassesAllOtherIp) {
  constexpr unsigned W = TypeParam::value;
  expect_passed<W>(with(kPing, 34, 1, 0), "echo reply");
  expect_passed<W>(with(kPing, 35, 1, 1), "code");
  expect_passed<W>(with_ip(kPing, 30, 4, kIp ^ 0x100), "to another host");
  expect_passed<W>(with(kPing, 0, 6, kMac ^ 1), "to another MAC address");
  expect_passed<W>(with(kPing, 0, 6, kBroadcast), "to all");
  expect_passed<W>(with_ip(kPing, 26, 4, 0xe0000001), "from a group");
  expect_passed<W>(with_ip(kPing, 26, 4, 0xffffffff), "from all");
  expect_passed<W>(with_ip(kPing, 14, 1, 0x46), "options");
  expect_passed<W>(with_ip(kPing, 14, 1, 0x65), "version");
  expect_passed<W>(with_ip(kPing, 20, 2, 0x2000), "first fragment");
  expect_passed<W>(with_ip(kPing, 20, 2, 0x0001), "last fragment");
  expect_passed<W>(with_ip(kPing, 23, 1, 17), "UDP");
  expect_passed<W>(with_ip(kPing, 16, 2, 27), "no room for the ICMP header");
  expect_passed<W>(with(kPing, 12, 2, 0x86dd), "IPv6");
  for (size_t size = 1; size < 42; size++) expect_passed<W>(Bytes(kPing.begin(), kPing.begin() + long(size)), "runt");
  expect_passed<W>(kPing, "no address yet", false);
}

TYPED_TEST(RxEcho, APingWithAWrongHeaderChecksumIsBad) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  for (const Bytes& ping : {kPing, Ping{1000}.frame(8, random)}) {
    for (size_t at : {15, 18, 19, 22, 24, 25, 26, 27, 28, 29}) {
      for (unsigned bit = 0; bit < 7; bit++) {
        const auto outcome = one<W>(with(ping, at, 1, ping[at] ^ 1u << bit));
        EXPECT_EQ(outcome.replies.size(), 1u);
        EXPECT_TRUE(outcome.bad) << at;
        EXPECT_TRUE(outcome.host.empty());
      }
    }
  }
}

TYPED_TEST(RxEcho, APingThatEndsEarlyIsBad) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  for (unsigned payload : {1u, 22u, 23u, 100u, 500u}) {
    const Bytes ping = Ping{payload}.frame(8, random);
    for (size_t size = 42; size <= ping.size() + 2; size++) {
      Bytes cut = ping;
      cut.resize(size);
      const auto outcome = one<W>(cut);
      ASSERT_EQ(outcome.replies.size(), 1u);
      EXPECT_EQ(outcome.bad, size < ping.size()) << size;
    }
  }
}

TYPED_TEST(RxEcho, MovesABeatEveryCycle) {
  constexpr unsigned W = TypeParam::value;
  std::mt19937_64 random(1);
  Harness<W> h;
  std::vector<Beat<W>> beats;
  std::vector<Bytes> expected;
  for (unsigned i = 0; i < 40; i++) {
    const Bytes ping = Ping{i * 9}.frame(8, random);
    expected.push_back(pong(ping));
    for (const auto& b : test::to_beats<W>(ping, i)) beats.push_back(b);
  }
  test::Source<Beat<W>> source(h.bench, h.in, beats);
  test::Sink<Beat<W>> replies(h.bench, h.replies);
  const size_t held = test::beats_of<W>(42) - 1;  // until the beat that decides is there
  const hw::Cycles start = h.bench.now();
  h.run(beats.size() + held + 3);
  ASSERT_EQ(replies.tokens.size(), beats.size());
  for (size_t i = 0; i < beats.size(); i++) {
    EXPECT_EQ(replies.cycles[i], start + i + held + 3);  // a cycle in each stream, one in the stage
    EXPECT_EQ(replies.tokens[i].tag.id, beats[i].tag.id);
  }
  EXPECT_EQ(test::to_packets<W>(replies.tokens), expected);
}

TYPED_TEST(RxEcho, ANewAddressTakesThePlaceOfTheOld) {
  constexpr unsigned W = TypeParam::value;
  Harness<W> h;
  test::Source<Beat<W>> source(h.bench, h.in, test::to_beats<W>(kWhoHas));
  test::Sink<Beat<W>> host(h.bench, h.host), replies(h.bench, h.replies);
  h.run(20);
  h.control.write(address(0x020000000001, kIp + 1));
  h.run(5);
  for (const Bytes& f : {kWhoHas, with(kWhoHas, 38, 4, kIp + 1)})
    for (const auto& b : test::to_beats<W>(f)) source.add(b);
  h.run(40);
  const Bytes second = with(with(with(kIsAt, 6, 6, 0x020000000001), 22, 6, 0x020000000001), 28, 4, kIp + 1);
  EXPECT_EQ(test::to_packets<W>(replies.tokens), (std::vector<Bytes>{kIsAt, second}));
  EXPECT_EQ(test::to_packets<W>(host.tokens), std::vector<Bytes>{kWhoHas});
}

// Requests among others' frames and runts, of which several may be in sight at once.
struct Mix {
  std::vector<Bytes> frames, host, replies;

  explicit Mix(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < 80; i++) {
      const Bytes ping = Ping{unsigned(random() % 400), unsigned(random() % 20)}.frame(8, random);
      const unsigned kind = random() % 4;
      if (kind == 0) add(ping, pong(ping), replies);
      if (kind == 1) add(kWhoHas, kIsAt, replies);
      if (kind == 2) add(with(ping, 33, 1, random() % 9), host);
      if (kind == 3) add(Bytes(ping.begin(), ping.begin() + long(1 + random() % 41)), host);
    }
  }

 private:
  void add(const Bytes& frame, const Bytes& result, std::vector<Bytes>& where) {
    frames.push_back(frame);
    where.push_back(result);
  }
  void add(const Bytes& frame, std::vector<Bytes>& where) { add(frame, frame, where); }
};

template <unsigned W>
std::vector<Beat<W>> beats_of(const std::vector<Bytes>& frames) {
  std::vector<Beat<W>> beats;
  for (const Bytes& f : frames)
    for (const auto& b : test::to_beats<W>(f)) beats.push_back(b);
  return beats;
}

TYPED_TEST(RxEcho, SortsAndAnswersUnderRandomStalls) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const Mix mix(seed);
    Harness<W> h(true, seed, 1 + seed % 3);
    test::Source<Beat<W>> source(h.bench, h.in, beats_of<W>(mix.frames), 70);
    test::Sink<Beat<W>> host(h.bench, h.host, 60), replies(h.bench, h.replies, 50);
    h.run(500000 / W + 6000);
    EXPECT_EQ(test::to_packets<W>(host.tokens), mix.host);
    EXPECT_EQ(test::to_packets<W>(replies.tokens), mix.replies);
    EXPECT_EQ(h.stage.arp_replies.v.u64() + h.stage.echo_replies.v.u64(), mix.replies.size());
  }
}

// The cycles in which beats leave.
template <unsigned W>
std::vector<hw::Cycles> cycles_of(uint64_t seed, bool every_cycle) {
  const Mix mix(seed);
  test::Bench bench(seed);
  test::StageDomain domain(every_cycle);
  hw::rx::Echo<W> stage;
  hls::stream<Beat<W>> in, host, replies;
  hls::stream<hw::AddressControl> control;
  const int id = domain.add(stage, [&] { stage.step(in, control, host, replies); });
  domain.connect(in, "in", 4, 1, -1, id);
  domain.connect(control, "control", 4, 1, -1, id);
  domain.connect(host, "host", 2, 1, id, -1);
  domain.connect(replies, "replies", 2, 1, id, -1);
  control.write(address());
  test::Source<Beat<W>> source(bench, in, beats_of<W>(mix.frames), 30);
  test::Sink<Beat<W>> host_sink(bench, host, 60), reply_sink(bench, replies, 60);
  bench.run(1000000 / W + 6000, [&] { domain.step(); });
  std::vector<hw::Cycles> all = host_sink.cycles;
  all.insert(all.end(), reply_sink.cycles.begin(), reply_sink.cycles.end());
  EXPECT_EQ(all.size(), beats_of<W>(mix.frames).size());
  return all;
}

TYPED_TEST(RxEcho, SleepingChangesNothing) {
  constexpr unsigned W = TypeParam::value;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    EXPECT_EQ(cycles_of<W>(seed, false), cycles_of<W>(seed, true)) << "seed " << seed;
  }
}

}  // namespace
