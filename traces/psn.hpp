#pragma once

#include <cstdint>

namespace traces {

/// PSN and MSN have 24 bits.
constexpr uint32_t kPsnMask = 0xffffff;

/// Signed distance from `b` to `a` modulo 2^24 (PSN and MSN): positive when `a` is ahead, in [-2^23, 2^23).
constexpr int32_t distance24(uint32_t a, uint32_t b) {
  const uint32_t difference = (a - b) & kPsnMask;
  return difference < 0x800000 ? static_cast<int32_t>(difference) : static_cast<int32_t>(difference) - 0x1000000;
}

}  // namespace traces
