// Rows of the NIC that stand for queue pairs and memory keys of a capture.
#include "sim/replay/nic_tables.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/config/error.hpp"

namespace sim {
namespace {

using traces::kRemoteRead;
using traces::kRemoteWrite;

TEST(RowClaims, ARowIsTheLowPartOfItsKey) {
  RowClaims rows(16);
  EXPECT_EQ(rows.claim(5), 5u);
  EXPECT_EQ(rows.claim(0x123), 3u);
}

TEST(RowClaims, ATakenRowGivesTheNextFreeOneAndWraps) {
  RowClaims rows(4);
  EXPECT_EQ(rows.claim(3), 3u);
  EXPECT_EQ(rows.claim(7), 0u);
  EXPECT_EQ(rows.claim(3), 1u);
  EXPECT_EQ(rows.claim(3), 2u);
  EXPECT_EQ(rows.claim(0), std::nullopt);
  rows.release(1);
  EXPECT_EQ(rows.claim(0), 1u);
}

TEST(MemoryKeys, AKeyKeepsItsNumberWhileItsRowIsFree) {
  MemoryKeys keys;
  EXPECT_EQ(keys.find(0, 0x1234), nullptr);
  const MemoryKeys::Region* r = keys.extend(0, {0x1234, 0x1000, 0x2000, kRemoteRead});
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->nic_key, 0x1234u);
  EXPECT_EQ(r->first, 0x1000u);
  EXPECT_EQ(r->end, 0x2000u);
  EXPECT_EQ(r->rights, kRemoteRead);
  EXPECT_EQ(keys.find(0, 0x1234), r);
}

TEST(MemoryKeys, EqualKeysOfTwoHostsAreTwoRegions) {
  MemoryKeys keys;
  EXPECT_EQ(keys.extend(0, {0x1234, 0x1000, 0x2000, kRemoteRead})->nic_key, 0x1234u);
  const MemoryKeys::Region* other = keys.extend(1, {0x1234, 0x8000, 0x9000, kRemoteWrite});
  EXPECT_EQ(other->nic_key, 0x1334u);  // the next row, the low byte as it was
  EXPECT_EQ(keys.find(0, 0x1234)->first, 0x1000u);
  EXPECT_EQ(keys.find(1, 0x1234)->first, 0x8000u);
}

// The row is the key's bits above the low byte.
TEST(MemoryKeys, KeysOfOneRowAreTwoRegions) {
  MemoryKeys keys;
  const uint32_t key = 0x77, same_row = key + (uint32_t(hw::kMaxRegions) << 8);
  EXPECT_EQ(keys.extend(0, {key, 0, 1, kRemoteRead})->nic_key, key);
  EXPECT_EQ(keys.extend(0, {same_row, 0, 1, kRemoteRead})->nic_key, 0x177u);
  EXPECT_EQ(keys.extend(0, {0x78, 0, 1, kRemoteRead})->nic_key, 0x278u);  // the same row again, of another low byte
}

TEST(MemoryKeys, ARegionGrowsByWhatIsNew) {
  MemoryKeys keys;
  keys.extend(0, {7, 0x1000, 0x2000, kRemoteRead});
  EXPECT_EQ(keys.extend(0, {7, 0x1100, 0x1200, kRemoteRead}), nullptr);  // the NIC knows it
  const MemoryKeys::Region* r = keys.extend(0, {7, 0x1100, 0x1200, kRemoteWrite});
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->rights, kRemoteRead | kRemoteWrite);
  EXPECT_EQ(r->first, 0x1000u);
  EXPECT_EQ(r->end, 0x2000u);
  EXPECT_EQ(keys.extend(0, {7, 0x0800, 0x1001, kRemoteRead})->first, 0x0800u);
  EXPECT_EQ(keys.extend(0, {7, 0x1fff, 0x2001, kRemoteRead})->end, 0x2001u);
}

TEST(MemoryKeys, NoTwoKeysShareARowAndAFullTableIsAnError) {
  MemoryKeys keys;
  std::set<uint32_t> rows;
  for (uint32_t i = 0; i < uint32_t(hw::kMaxRegions); i++)
    rows.insert((keys.extend(i % 3, {i / 3 << 8, 0, 1, kRemoteRead})->nic_key >> 8) % hw::kMaxRegions);
  EXPECT_EQ(rows.size(), size_t(hw::kMaxRegions));
  EXPECT_EQ(keys.extend(0, {0, 0, 1, kRemoteRead}), nullptr);  // known ones need no row
  try {
    keys.extend(9, {5, 0, 1, kRemoteRead});
    FAIL() << "one more than there are rows";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(hw::kMaxRegions) + " memory regions"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace sim
