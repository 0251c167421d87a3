#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "traces/byte_stream.hpp"
#include "traces/bytes.hpp"

namespace traces {

/// The bytes of a file (decompressed) from front to back, seen through a window that slides over them.
class ByteSource {
 public:
  /// Throws InputError when the file cannot be opened.
  explicit ByteSource(const std::string& file) : stream_(open_byte_stream(file)) { grow(kWindow); }

  /// The next bytes: at least `count`, or all there are up to the end. Valid until the next call. The window grows to
  /// `count`, so the caller bounds it. Throws InputError.
  ByteSpan peek(size_t count) {
    if (filled_ - used_ < count) fill(count);
    return {window_.get() + used_, filled_ - used_};
  }

  /// Moves on by `count` bytes; false when the file ends before. Throws InputError.
  bool skip(uint64_t count) {
    while (count > filled_ - used_) {
      count -= filled_ - used_;
      advance(filled_ - used_);
      if (peek(1).size == 0) return false;
    }
    advance(static_cast<size_t>(count));
    return true;
  }

  /// Bytes already moved over, of the decompressed data.
  uint64_t offset() const { return offset_; }

 private:
  static constexpr size_t kWindow = size_t{512} << 10;

  void advance(size_t count) {
    used_ += count;
    offset_ += count;
  }

  void fill(size_t count) {
    if (count > size_) {
      grow(count);
    } else {
      std::memmove(window_.get(), window_.get() + used_, filled_ - used_);
    }
    filled_ -= used_;
    used_ = 0;
    while (filled_ < count) {
      const size_t more = stream_->read(window_.get() + filled_, size_ - filled_);
      if (more == 0) break;
      filled_ += more;
    }
  }

  // Not cleared: a short file touches few of its pages.
  void grow(size_t size) {
    std::unique_ptr<uint8_t[]> larger(new uint8_t[size]);
    std::copy(window_.get() + used_, window_.get() + filled_, larger.get());
    window_ = std::move(larger);
    size_ = size;
  }

  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<uint8_t[]> window_;
  size_t size_ = 0;
  size_t used_ = 0;
  size_t filled_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace traces
