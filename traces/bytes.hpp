#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traces {

/// A view of bytes owned by someone else.
struct ByteSpan {
  const uint8_t* data = nullptr;
  size_t size = 0;

  ByteSpan() = default;
  ByteSpan(const uint8_t* first, size_t count) : data(first), size(count) {}
  ByteSpan(const std::vector<uint8_t>& bytes) : data(bytes.data()), size(bytes.size()) {}

  /// The bytes [offset, offset + count), clipped to what is there.
  ByteSpan slice(size_t offset, size_t count) const {
    const size_t first = std::min(offset, size);
    return {data + first, std::min(count, size - first)};
  }

  /// True when all of [offset, offset + count) is there.
  bool holds(size_t offset, size_t count) const { return offset <= size && count <= size - offset; }
};

/// The `Count` bytes at `offset` as one number in network byte order. The caller has checked holds(offset, Count).
template <size_t Count>
uint64_t load_big_endian(ByteSpan bytes, size_t offset) {
  static_assert(Count >= 1 && Count <= 8, "at most 64 bits");
  uint64_t value = 0;
  for (size_t i = 0; i < Count; ++i) value = value << 8 | bytes.data[offset + i];
  return value;
}

inline uint16_t load16(ByteSpan bytes, size_t offset) {
  return static_cast<uint16_t>(load_big_endian<2>(bytes, offset));
}
inline uint32_t load24(ByteSpan bytes, size_t offset) {
  return static_cast<uint32_t>(load_big_endian<3>(bytes, offset));
}
inline uint32_t load32(ByteSpan bytes, size_t offset) {
  return static_cast<uint32_t>(load_big_endian<4>(bytes, offset));
}

}  // namespace traces
