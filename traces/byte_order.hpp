#pragma once

#include <cstdint>

namespace traces {

/// Loads numbers of files that say themselves in which byte order they were written.
struct ByteOrder {
  bool big_endian = false;

  uint16_t load16(const uint8_t* bytes) const {
    return static_cast<uint16_t>(big_endian ? bytes[0] << 8 | bytes[1] : bytes[1] << 8 | bytes[0]);
  }
  uint32_t load32(const uint8_t* bytes) const {
    const uint32_t first = load16(bytes), second = load16(bytes + 2);
    return big_endian ? first << 16 | second : second << 16 | first;
  }
  uint64_t load64(const uint8_t* bytes) const {
    const uint64_t first = load32(bytes), second = load32(bytes + 4);
    return big_endian ? first << 32 | second : second << 32 | first;
  }
};

}  // namespace traces
