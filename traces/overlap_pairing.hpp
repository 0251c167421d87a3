#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace traces {

constexpr uint32_t kNoLane = 0xffffffff;

/// Finds which lane's requests the responses in another lane answer, from PSNs alone, where nothing else tells. (A lane
/// is what goes from one address to one queue pair, see lane.hpp.) A response fits where its PSN has been requested by
/// then. Bounded: a few candidates for each lane, judged over its first responses.
///
/// While packets come in, the single candidate that fits is a supposition. finish() deduces: a lane of responses has
/// one home, so one that fits a single lane of requests belongs there, and what is left may become unique in turn.
class OverlapPairing {
 public:
  static constexpr uint32_t kEvidence = 64;  ///< responses of a lane that are looked at

  /// Lane `lane` of the address pair `addresses` has sent requests for the PSNs [first, next).
  void requests(uint32_t addresses, uint32_t lane, uint32_t first, uint32_t next);

  /// A response of `psn` in `lane`; `requesters` is the address pair of the requests it may answer. Gives the single
  /// lane that fits so far, or kNoLane.
  uint32_t response(uint32_t requesters, uint32_t lane, uint32_t psn);

  /// The lane's queue pair has begun another life: it is no home for later responses.
  void retire(uint32_t addresses, uint32_t lane);

  /// The lane is paired by better evidence.
  void exclude(uint32_t lane);

  struct Result {
    uint32_t requests = kNoLane;       ///< the lane that the responses answer
    std::vector<uint32_t> candidates;  ///< those left, when it is none
    bool too_many = false;             ///< and more that were not followed
  };

  /// Deduces, once, after the last packet. The result has an entry for each lane.
  std::vector<Result> finish(size_t lanes);

 private:
  static constexpr uint32_t kCandidates = 16;

  struct Span {
    uint32_t first = 0;
    uint32_t next = 0;
    bool known = false;
    bool excluded = false;
  };

  struct Candidate {
    uint32_t lane = kNoLane;
    uint32_t hits = 0;
    uint32_t misses = 0;
    bool is_viable() const { return hits > 3 * misses; }  // a tap may miss the request just before its response
  };

  struct Search {
    uint32_t responses = 0;
    bool too_many = false;
    std::vector<Candidate> candidates;
  };

  Span& span_of(uint32_t lane);
  bool fits(uint32_t lane, uint32_t psn) const;
  void judge(Search& search, uint32_t psn) const;
  void look_around(Search& search, uint32_t requesters, uint32_t lane, uint32_t psn) const;
  uint32_t single_home(const Search& search) const;

  std::vector<Span> spans_;                         ///< by lane
  std::vector<std::unique_ptr<Search>> searches_;   ///< by lane
  std::vector<std::vector<uint32_t>> alive_lanes_;  ///< by address pair
};

}  // namespace traces
