#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace traces {

/// A request in capture order, with the PSNs that it uses up: more than one for a READ of several responses.
struct SentRequest {
  uint64_t index = 0;  ///< packet number in the capture
  uint32_t first_psn = 0;
  uint32_t last_psn = 0;
};

struct SentResponse {
  uint64_t index = 0;
  uint32_t psn = 0;
};

/// What pair_responses() found for one request track: the response track, or several that fit equally well.
struct Pairing {
  std::optional<size_t> response_track;
  std::vector<size_t> candidates;  ///< empty once paired
};

/// Finds which responses belong to which requests between two addresses. A response track fits a request track when
/// most of its PSNs lie in what had been requested by then. A pair is made only by deduction: every response track has
/// one owner, so one that fits a single request track belongs there, and what is left may become unique in turn.
/// Tracks are in capture order; the result has one entry per request track.
std::vector<Pairing> pair_responses(const std::vector<std::vector<SentRequest>>& requests,
                                    const std::vector<std::vector<SentResponse>>& responses);

}  // namespace traces
