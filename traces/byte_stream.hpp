#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace traces {

/// Bytes that arrive in order.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Puts up to `capacity` bytes (at least one is asked for) at `bytes` and returns how many; 0 is the end. Throws
  /// InputError, but only when there is no byte before the fault left to deliver.
  virtual size_t read(uint8_t* bytes, size_t capacity) = 0;
};

constexpr char kStandardInput[] = "-";

/// How error lines call the file: "standard input" for "-".
std::string shown_name(const std::string& file);

/// Opens `file`, or standard input for "-". What begins with the magic of gzip or zstd is decompressed on the way.
/// Throws InputError.
std::unique_ptr<ByteStream> open_byte_stream(const std::string& file);

}  // namespace traces
