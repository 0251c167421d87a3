// Data of READ responses against what the capture wrote.
#include "sim/replay/read_data.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sim {
namespace {

constexpr uint8_t kSendOnly = 0x04, kWriteFirst = 0x06, kWriteMiddle = 0x07, kWriteLast = 0x08, kWriteOnly = 0x0a,
                  kRead = 0x0c, kReadOnly = 0x10;
constexpr uint32_t kMtu = 1024, kLane = 2, kKey = 0x77;
constexpr uint64_t kPlace = 0x10000;

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(size_t count, unsigned seed = 1) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; i++) bytes[i] = uint8_t(i * 13 + i / 256 * 7 + seed * 101);
  return bytes;
}

HeldPacket held_packet(uint8_t opcode, uint32_t psn, const Bytes& payload) {
  HeldPacket held;
  held.lane = kLane;
  held.transport.opcode = opcode;
  held.transport.psn = psn;
  held.transport.payload_bytes = uint32_t(payload.size());
  held.frame = payload;
  return held;
}

std::string text_of(const ReadBytes& r) {
  return std::to_string(r.verified) + " verified, " + std::to_string(r.seeded) + " seeded, " +
         std::to_string(r.different) + " different";
}

class ReadDataTest : public ::testing::Test {
 protected:
  ReadDataTest() {
    data.seed_with([this](uint64_t address, traces::ByteSpan bytes) {
      for (size_t i = 0; i < bytes.size; i++) seeded[address + i] = bytes.data[i];
    });
  }

  HeldPacket with_reth(uint8_t opcode, uint32_t psn, uint64_t address, uint32_t length, const Bytes& payload) const {
    HeldPacket held = held_packet(opcode, psn, payload);
    held.transport.virtual_address = address;
    held.transport.remote_key = key;
    held.transport.dma_length = length;
    return held;
  }
  void write(uint32_t psn, uint64_t address, const Bytes& bytes, bool gap = false) {
    data.request(host, with_reth(kWriteOnly, psn, address, uint32_t(bytes.size()), bytes), gap);
  }
  void ask(uint32_t psn, uint64_t address, uint32_t length, bool gap = false) {
    HeldPacket held = with_reth(kRead, psn, address, length, {});
    held.psns = (length - 1) / kMtu + 1;
    data.request(host, held, gap);
  }
  // A response with these bytes.
  std::string answer(uint32_t psn, const Bytes& bytes, bool repaired = false) {
    HeldPacket held = held_packet(kReadOnly, psn, bytes);
    held.repaired = repaired;
    data.response(host, kLane, kMtu, held);
    return text_of(held.read);
  }
  std::string read(uint32_t psn, uint64_t address, const Bytes& bytes) {
    ask(psn, address, uint32_t(bytes.size()));
    return answer(psn, bytes);
  }

  ReadData data;
  std::map<uint64_t, uint8_t> seeded;
  uint32_t host = 0, key = kKey;
};

TEST_F(ReadDataTest, WhatWasWrittenIsVerified) {
  write(1, kPlace, bytes_of(100));
  EXPECT_EQ(read(2, kPlace, bytes_of(100)), "100 verified, 0 seeded, 0 different");
  EXPECT_TRUE(seeded.empty());
}

TEST_F(ReadDataTest, OtherBytesAreDifferentOneByOne) {
  write(1, kPlace, bytes_of(100));
  Bytes other = bytes_of(100);
  other[0] ^= 1;
  other[99] ^= 0x80;
  EXPECT_EQ(read(2, kPlace, other), "98 verified, 0 seeded, 2 different");
}

TEST_F(ReadDataTest, UnwrittenMemoryIsSeededWithWhatIsRead) {
  EXPECT_EQ(read(1, kPlace, bytes_of(10)), "0 verified, 10 seeded, 0 different");
  ASSERT_EQ(seeded.size(), 10u);
  EXPECT_EQ(seeded.begin()->first, kPlace);
  EXPECT_EQ(seeded[kPlace + 9], bytes_of(10)[9]);
}

TEST_F(ReadDataTest, ANeighbourOfWhatWasWrittenIsSeededAlone) {
  write(1, kPlace + 4, bytes_of(8));
  Bytes all = bytes_of(16, 9);
  const Bytes written = bytes_of(8);
  std::copy(written.begin(), written.end(), all.begin() + 4);
  EXPECT_EQ(read(2, kPlace, all), "8 verified, 8 seeded, 0 different");
  EXPECT_EQ(seeded.size(), 8u);
  EXPECT_EQ(seeded.count(kPlace + 3), 1u);
  EXPECT_EQ(seeded.count(kPlace + 4), 0u);
}

TEST_F(ReadDataTest, AReadThatALaterWriteOverlapsIsNotJudged) {
  write(1, kPlace, bytes_of(100));
  ask(2, kPlace, 100);
  write(3, kPlace + 99, bytes_of(1, 5));
  EXPECT_EQ(answer(2, bytes_of(100, 3)), "0 verified, 100 seeded, 0 different");
}

TEST_F(ReadDataTest, AWriteBesideAPendingReadLeavesItJudged) {
  write(1, kPlace, bytes_of(100));
  ask(2, kPlace, 100);
  write(3, kPlace + 100, bytes_of(10));
  write(4, kPlace - 10, bytes_of(10));
  EXPECT_EQ(answer(2, bytes_of(100)), "100 verified, 0 seeded, 0 different");
}

TEST_F(ReadDataTest, AnAnsweredReadIsPendingNoMore) {
  write(1, kPlace, bytes_of(100));
  EXPECT_EQ(read(2, kPlace, bytes_of(100)), "100 verified, 0 seeded, 0 different");
  EXPECT_EQ(answer(2, bytes_of(100)), "0 verified, 100 seeded, 0 different");  // of a request that nobody sees
}

TEST_F(ReadDataTest, AGapForgetsTheMemoryOfItsHost) {
  write(1, kPlace, bytes_of(10));
  write(5, kPlace + 0x1000, bytes_of(10), /*gap=*/true);
  EXPECT_EQ(read(6, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
  EXPECT_EQ(read(7, kPlace + 0x1000, bytes_of(10)), "10 verified, 0 seeded, 0 different");
}

TEST_F(ReadDataTest, AGapMakesPendingReadsUnjudged) {
  write(1, kPlace, bytes_of(10));
  ask(2, kPlace, 10);
  ask(5, kPlace + 0x1000, 10, /*gap=*/true);
  EXPECT_EQ(answer(2, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
}

// What is written behind the gap is known again, but an older READ may have met what the gap hides.
TEST_F(ReadDataTest, AReadBeforeAGapIsNotJudgedByWhatIsWrittenBehindIt) {
  ask(2, kPlace, 20);
  write(5, kPlace + 0x1000, bytes_of(10), /*gap=*/true);
  ask(6, kPlace + 0x1000, 10);
  EXPECT_EQ(answer(6, bytes_of(10)), "10 verified, 0 seeded, 0 different");
  EXPECT_EQ(answer(2, bytes_of(20)), "0 verified, 20 seeded, 0 different");
  EXPECT_TRUE(seeded.empty());  // memory behind the gap may be other
}

// A QP may use a PSN again: its newest READ is the one that is answered.
TEST_F(ReadDataTest, TheNewestReadOfAPsnIsAnswered) {
  write(1, kPlace, bytes_of(10));
  write(2, kPlace + 0x100, bytes_of(10, 2));
  ask(7, kPlace, 10);
  ask(7, kPlace + 0x100, 10);
  EXPECT_EQ(answer(7, bytes_of(10, 2)), "10 verified, 0 seeded, 0 different");
}

TEST_F(ReadDataTest, AnAtomicForgetsToo) {
  write(1, kPlace, bytes_of(8));
  HeldPacket atomic = with_reth(kRead, 2, 0, 0, {});
  atomic.atomic = true;
  data.request(host, atomic, false);
  EXPECT_EQ(read(3, kPlace, bytes_of(8, 2)), "0 verified, 8 seeded, 0 different");
}

TEST_F(ReadDataTest, HostsHaveMemoryAndGapsOfTheirOwn) {
  write(1, kPlace, bytes_of(10));
  host = 1;
  EXPECT_EQ(read(2, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
  write(9, kPlace, bytes_of(10, 2), /*gap=*/true);
  host = 0;
  EXPECT_EQ(read(2, kPlace, bytes_of(10)), "10 verified, 0 seeded, 0 different");
}

// A SEND lands where the capture does not tell.
TEST_F(ReadDataTest, SendsExcuseDifferences) {
  write(1, kPlace, bytes_of(10));
  data.request(host, held_packet(kSendOnly, 2, bytes_of(10)), false);
  EXPECT_EQ(read(3, kPlace, bytes_of(10)), "10 verified, 0 seeded, 0 different");
  Bytes other = bytes_of(10);
  other[4] ^= 1;
  EXPECT_EQ(read(4, kPlace, other), "9 verified, 1 seeded, 0 different");
}

// Responses were lost: the requester asks for the rest alone, at its own address.
TEST_F(ReadDataTest, ARetryForTheRestOfAReadIsMetAtItsAddress) {
  const Bytes all = bytes_of(4 * kMtu);
  const auto part = [&](unsigned n) { return Bytes(all.begin() + n * kMtu, all.begin() + (n + 1) * kMtu); };
  for (unsigned n = 0; n < 4; n++) write(n, kPlace + n * kMtu, part(n));
  ask(10, kPlace, 4 * kMtu);
  EXPECT_EQ(answer(10, part(0)), "1024 verified, 0 seeded, 0 different");
  ask(11, kPlace + kMtu, 3 * kMtu);
  for (unsigned n = 1; n < 4; n++) EXPECT_EQ(answer(10 + n, part(n)), "1024 verified, 0 seeded, 0 different") << n;
}

TEST_F(ReadDataTest, EachResponseOfAReadHasItsPlace) {
  const Bytes all = bytes_of(2 * kMtu + 5);
  data.request(host, with_reth(kWriteOnly, 1, kPlace, uint32_t(all.size()), all), false);
  ask(0xffffff, kPlace, 2 * kMtu + 5);  // its PSNs wrap
  EXPECT_EQ(answer(1, Bytes(all.begin() + 2 * kMtu, all.end())).substr(0, 11), "5 verified,");
}

TEST_F(ReadDataTest, AWriteThatIsResumedInTheMiddleLandsInItsPlace) {
  const Bytes all = bytes_of(3 * kMtu);
  const auto part = [&](unsigned n) { return Bytes(all.begin() + n * kMtu, all.begin() + (n + 1) * kMtu); };
  data.request(host, with_reth(kWriteFirst, 1, kPlace, 3 * kMtu, part(0)), false);
  data.request(host, held_packet(kWriteLast, 3, part(2)), false);  // the Middle is seen below
  write(4, kPlace + 0x8000, bytes_of(100, 6));
  data.request(host, held_packet(kWriteMiddle, 2, part(1)), false);
  data.request(host, held_packet(kWriteLast, 3, part(2)), false);
  EXPECT_EQ(read(5, kPlace, part(0)), "1024 verified, 0 seeded, 0 different");
  EXPECT_EQ(read(6, kPlace + kMtu, part(1)), "1024 verified, 0 seeded, 0 different");
  EXPECT_EQ(read(7, kPlace + 2 * kMtu, part(2)), "1024 verified, 0 seeded, 0 different");
  EXPECT_EQ(read(8, kPlace + 0x8000, bytes_of(100, 6)), "100 verified, 0 seeded, 0 different");
}

TEST_F(ReadDataTest, APartOfAnUnseenWriteMayBeAnywhere) {
  write(1, kPlace, bytes_of(10));
  data.request(host, held_packet(kWriteMiddle, 50, bytes_of(kMtu)), false);
  EXPECT_EQ(read(60, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
}

// One page may be known by two keys, which may be two mappings of it or none.
TEST_F(ReadDataTest, AnotherKeyOfThePageKnowsNothing) {
  write(1, kPlace, bytes_of(10));
  key = 0x99;
  EXPECT_EQ(read(2, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
  write(3, kPlace + 4, bytes_of(2, 7));
  EXPECT_EQ(read(4, kPlace + 4, bytes_of(2, 7)), "2 verified, 0 seeded, 0 different");
  EXPECT_EQ(read(5, kPlace, bytes_of(4)), "0 verified, 4 seeded, 0 different");
  key = kKey;
  EXPECT_EQ(read(6, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
}

TEST_F(ReadDataTest, BytesThatTheSnapLengthCutOffAreNotJudged) {
  write(1, kPlace, bytes_of(10));
  ask(2, kPlace, 10);
  EXPECT_EQ(answer(2, Bytes(10, 0), /*repaired=*/true), "0 verified, 10 seeded, 0 different");
  HeldPacket cut = with_reth(kWriteOnly, 3, kPlace, 10, Bytes(10, 0));
  cut.repaired = true;
  data.request(host, cut, false);
  EXPECT_EQ(read(4, kPlace, bytes_of(10, 2)), "0 verified, 10 seeded, 0 different");
}

// Writes and reads of any place and length, over page borders too, against a map of bytes.
TEST_F(ReadDataTest, CountsAsAMapOfBytesDoes) {
  std::mt19937 random(1);
  std::map<uint64_t, uint8_t> memory;
  for (uint32_t psn = 0; psn < 3000; psn++) {
    const uint64_t address = kPlace + random() % 12000;
    Bytes bytes(1 + random() % kMtu);
    if (random() % 3 == 0) {
      for (uint8_t& byte : bytes) byte = uint8_t(random());
      write(psn, address, bytes);
      for (size_t i = 0; i < bytes.size(); i++) memory[address + i] = bytes[i];
      continue;
    }
    ReadBytes expected;
    for (size_t i = 0; i < bytes.size(); i++) {
      const auto known = memory.find(address + i);
      bytes[i] = known == memory.end() || random() % 50 == 0 ? uint8_t(random()) : known->second;
      (known == memory.end() ? expected.seeded : bytes[i] == known->second ? expected.verified : expected.different)++;
    }
    ASSERT_EQ(read(psn, address, bytes), text_of(expected)) << "psn " << psn;
  }
}

}  // namespace
}  // namespace sim
