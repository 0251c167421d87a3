#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace traces {

/// How far the clock of one capture is ahead of another's, told by packets that both hold. What a packet needed from
/// one tap to the other is part of it.
struct ClockOffset {
  int64_t median_ns = 0;
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  size_t matches = 0;
};

/// Compares the packets of `file` with those of `reference`. The same packet has the same addresses, BTH and ICRC in
/// both; what occurs twice in one file, or whose ICRC was cut off, tells nothing. Reads at most one of the files whole,
/// with bounded memory. Damage ends a file. Nothing when no packet is shared. Throws InputError when a file cannot be
/// opened or is no capture.
std::optional<ClockOffset> clock_offset(const std::string& reference, const std::string& file);

}  // namespace traces
