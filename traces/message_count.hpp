#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "traces/psn.hpp"

namespace traces {

/// Counts the messages of a requester and remembers where the newest ones end, to compare with the MSNs of ACKs.
class MessageCount {
 public:
  /// A new message ends with `psn`.
  void end(uint32_t psn) {
    ends_[total_ % kRemembered] = psn;
    ++total_;
  }

  uint64_t total() const { return total_; }

  /// Messages that end at or before `psn`; nothing when that is too long ago.
  std::optional<uint64_t> up_to(uint32_t psn) const {
    uint64_t count = total_;
    const uint64_t oldest = total_ > kRemembered ? total_ - kRemembered : 0;
    while (count > oldest && distance24(ends_[(count - 1) % kRemembered], psn) > 0) --count;
    if (count == oldest && oldest != 0) return std::nullopt;
    return count;
  }

 private:
  static constexpr uint64_t kRemembered = 64;
  uint64_t total_ = 0;
  std::array<uint32_t, kRemembered> ends_{};
};

}  // namespace traces
