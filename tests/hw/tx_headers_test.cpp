// All header stages of the transmit path in a row: what goes in as tokens must come out as the bytes of the standards.
#include "packet.hpp"
#include "through.hpp"
#include "tx_chain.hpp"

namespace {

using test::Bytes;
using test::Packet;

template <unsigned W>
void check(const std::vector<Packet>& packets, unsigned percent, uint64_t seed = 1) {
  const std::vector<Bytes> frames = test::TxChain<W>(seed).run(packets, percent);
  ASSERT_EQ(frames.size(), packets.size());
  for (size_t i = 0; i < frames.size(); i++) {
    ASSERT_EQ(frames[i], packets[i].frame()) << "packet " << i << ", " << packets[i].payload.size() << " bytes";
  }
}

Bytes from_hex(const std::string& hex) {
  Bytes b;
  for (size_t i = 0; i < hex.size(); i += 2) b.push_back(uint8_t(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return b;
}

// Frames that scapy 2.5.0 (scapy.contrib.roce) made from the same fields.
TEST(TxHeaders, TheBytesOfScapy) {
  Packet write;
  write.opcode = test::kOnly;
  write.qpn = 0xabcdef;
  write.psn = 0xfffffe;
  write.ack_request = true;
  write.va = 0x1122334455667788;
  write.rkey = 0xdeadbe01;
  write.dma_length = 13;
  for (uint8_t i = 1; i < 14; i++) write.payload.push_back(i);
  Packet nak;
  nak.opcode = test::kAck;
  nak.qpn = 0x000102;
  nak.psn = 7;
  nak.syndrome = 0x62;
  nak.msn = 0x010203;
  const std::vector<Bytes> frames = test::TxChain<512>().run({write, nak}, 100);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0], from_hex("0211223344550abbccddeef1"
                                "08004502004c000040004011a5e90a010203c0a8c809"
                                "c12312b700380000"
                                "0a30ffff00abcdef80fffffe"
                                "1122334455667788deadbe010000000d"
                                "0102030405060708090a0b0c0d000000"));
  EXPECT_EQ(frames[1], from_hex("0211223344550abbccddeef1"
                                "0800450200300000400040"
                                "11a6050a010203c0a8c809"
                                "c12312b7001c0000"
                                "1100ffff0000010200000007"
                                "62010203"));
}

TEST(TxHeaders, EverySizeFromNothingToTheLargestPmtu) {
  std::mt19937_64 random(11);
  for (uint8_t opcode : {test::kOnly, test::kMiddle}) {
    std::vector<Packet> packets;
    for (size_t size = 0; size <= 4096; size++) packets.push_back(Packet::random(random, opcode, size));
    check<512>(packets, 100);
    check<1024>(packets, 100);
  }
}

TEST(TxHeaders, EveryKindWithRandomStalls) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    std::mt19937_64 random(seed);
    std::vector<Packet> packets;
    for (int i = 0; i < 60; i++) packets.push_back(test::any_packet(random));
    check<512>(packets, seed % 2 ? 70 : 35, seed);
    check<1024>(packets, seed % 2 ? 70 : 35, seed);
  }
}

TEST(TxHeaders, SettingsReachTheWire) {
  std::mt19937_64 random(1);
  Packet p = Packet::random(random, test::kOnly, 100);
  test::TxChain<512> chain;
  chain.bth.params.partition_key = p.partition_key = 0x8123;
  chain.bth.params.migreq = p.migreq = 1;
  chain.ip.params.tos = p.tos = 0x69;
  chain.ip.params.ttl = p.ttl = 3;
  EXPECT_EQ(chain.run({p}, 100), std::vector<Bytes>{p.frame()});
}

// Each stage takes a cycle and they overlap: one small packet every three cycles, which is one beat a cycle.
TEST(TxHeaders, SixtyFourBytesEveryThreeCycles) {
  std::mt19937_64 random(1);
  std::vector<Packet> packets;
  for (int i = 0; i < 40; i++) packets.push_back(Packet::random(random, test::kOnly, 64));
  test::TxChain<512> chain;
  chain.run(packets, 100);
  ASSERT_EQ(chain.cycles.size(), 120u);
  for (size_t i = 0; i < 120; i++) EXPECT_EQ(chain.cycles[i], i + 7);
}

// Every value that the sum over the IP header can fold to, those with a carry out of the first fold included.
TEST(TxHeaders, TheIpChecksumOfEverySum) {
  std::vector<hw::TxHeader> headers(65536);
  std::vector<Bytes> frames;
  Packet p;
  for (uint32_t i = 0; i < 65536; i++) {
    p.source_ip = 0xffff0000 | i;
    frames.push_back(p.frame());
    headers[i].routed = p.routed();
    memcpy(headers[i].bytes.w, frames[i].data(), 70);
    headers[i].bytes.set<14 * 8>(hw::Bits<160>());
  }
  hw::tx::Ip ip;
  const auto out = test::through<hw::TxHeader>(ip, headers);
  for (uint32_t i = 0; i < 65536; i++) ASSERT_EQ(memcmp(out[i].bytes.w, frames[i].data(), 70), 0) << i;
}

TEST(TxHeaders, OneHeaderACycle) {
  std::mt19937_64 random(1);
  std::vector<hw::TxRouted> routed;
  for (int i = 0; i < 100; i++) routed.push_back(test::any_packet(random).routed());
  hw::tx::ExtHeaders ext;
  hw::tx::Bth bth;
  hw::tx::Udp udp;
  hw::tx::Ip ip;
  hw::tx::Ethernet ethernet;
  const auto a = test::through<hw::TxHeader>(ext, routed);
  const auto b = test::through<hw::TxHeader>(bth, a);
  const auto c = test::through<hw::TxHeader>(udp, b);
  const auto d = test::through<hw::TxHeader>(ip, c);
  EXPECT_EQ(test::through<hw::TxFrame>(ethernet, d).size(), 100u);
}

}  // namespace
