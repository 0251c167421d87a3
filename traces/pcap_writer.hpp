#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "traces/bytes.hpp"
#include "traces/error.hpp"

namespace traces {

/// Writes Ethernet frames as a little-endian pcap file with nanosecond timestamps that count from the start of the
/// simulation. The bytes depend on the calls alone, not on the machine. Each call hands one whole record to the system,
/// so the growing file can be read during the run.
class PcapWriter {
 public:
  /// Creates or truncates `file` and writes the file header. Throws OutputError.
  explicit PcapWriter(const std::string& file);

  /// Appends one frame (from the destination MAC on, without FCS) of simulated time `time_ps`, rounded down to whole
  /// nanoseconds and below 2^32 s. Frames above kSnapLength bytes are cut and keep their original length. Throws
  /// OutputError.
  void write(uint64_t time_ps, ByteSpan frame);

  static constexpr uint32_t kSnapLength = 262144;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void write_record();

  std::string file_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::vector<uint8_t> record_;
};

}  // namespace traces
