#include "traces/overlap_pairing.hpp"

#include <algorithm>

#include "traces/psn.hpp"

namespace traces {
namespace {

/// Responses at which the lanes of requests are searched again: some may have come up since.
bool is_search_due(uint32_t responses) {
  return responses == 1 || responses == 2 || responses == 4 || responses == 16 || responses == 63;
}

// Homes that are still open for each lane of responses, and who claims each lane of requests.
class Deduction {
 public:
  Deduction(std::vector<std::vector<uint32_t>> homes, std::vector<OverlapPairing::Result>& results)
      : homes_(std::move(homes)), claimants_(homes_.size()), results_(results) {
    for (uint32_t lane = 0; lane < homes_.size(); ++lane) {
      for (const uint32_t home : homes_[lane]) claimants_[home].push_back(lane);
    }
  }

  void run() {
    while (round()) {
    }
    for (uint32_t lane = 0; lane < homes_.size(); ++lane) {
      if (results_[lane].requests == kNoLane) results_[lane].candidates = std::move(homes_[lane]);
    }
  }

 private:
  // Pairs each lane of requests that is the only home of exactly one lane of responses.
  bool round() {
    std::vector<uint32_t> claims(homes_.size(), 0), claimant(homes_.size(), kNoLane);
    for (uint32_t lane = 0; lane < homes_.size(); ++lane) {
      if (homes_[lane].size() != 1 || results_[lane].requests != kNoLane) continue;
      ++claims[homes_[lane].front()];
      claimant[homes_[lane].front()] = lane;
    }
    bool progress = false;
    for (uint32_t home = 0; home < homes_.size(); ++home) {
      if (claims[home] != 1) continue;
      results_[claimant[home]].requests = home;
      close(home, claimant[home]);
      close(claimant[home], home);  // a connection has two lanes: neither has another partner
      progress = true;
    }
    return progress;
  }

  void close(uint32_t home, uint32_t owner) {
    for (const uint32_t lane : claimants_[home]) {
      if (lane == owner) continue;
      auto& open = homes_[lane];
      open.erase(std::remove(open.begin(), open.end(), home), open.end());
    }
  }

  std::vector<std::vector<uint32_t>> homes_;
  std::vector<std::vector<uint32_t>> claimants_;
  std::vector<OverlapPairing::Result>& results_;
};

}  // namespace

OverlapPairing::Span& OverlapPairing::span_of(uint32_t lane) {
  if (lane >= spans_.size()) spans_.resize(lane + 1);
  return spans_[lane];
}

void OverlapPairing::requests(uint32_t addresses, uint32_t lane, uint32_t first, uint32_t next) {
  Span& span = span_of(lane);
  span.first = first;
  span.next = next;
  if (span.known) return;
  span.known = true;
  if (addresses >= alive_lanes_.size()) alive_lanes_.resize(addresses + 1);
  alive_lanes_[addresses].push_back(lane);
}

bool OverlapPairing::fits(uint32_t lane, uint32_t psn) const {
  const Span& span = spans_[lane];
  return distance24(psn, span.first) >= 0 && distance24(psn, span.next) < 0;
}

void OverlapPairing::judge(Search& search, uint32_t psn) const {
  for (Candidate& candidate : search.candidates) {
    const Span& span = spans_[candidate.lane];
    if (distance24(psn, span.next) >= 0) {
      ++candidate.misses;
    } else if (distance24(psn, span.first) >= 0) {
      ++candidate.hits;
    }  // else it answers something from before the capture
  }
}

void OverlapPairing::look_around(Search& search, uint32_t requesters, uint32_t lane, uint32_t psn) const {
  if (requesters >= alive_lanes_.size()) return;
  for (const uint32_t other : alive_lanes_[requesters]) {
    if (other == lane || spans_[other].excluded || !fits(other, psn)) continue;
    auto& known = search.candidates;
    if (std::any_of(known.begin(), known.end(), [&](const Candidate& c) { return c.lane == other; })) continue;
    if (known.size() == kCandidates) {
      search.too_many = true;
      return;
    }
    known.push_back({other, 1, 0});
  }
}

uint32_t OverlapPairing::response(uint32_t requesters, uint32_t lane, uint32_t psn) {
  if (lane >= searches_.size()) searches_.resize(lane + 1);
  if (!searches_[lane]) searches_[lane] = std::make_unique<Search>();
  Search& search = *searches_[lane];
  if (search.responses < kEvidence) {
    ++search.responses;
    judge(search, psn);
    if (is_search_due(search.responses)) look_around(search, requesters, lane, psn);
  }
  return single_home(search);
}

uint32_t OverlapPairing::single_home(const Search& search) const {
  uint32_t home = kNoLane;
  if (search.too_many) return kNoLane;
  for (const Candidate& candidate : search.candidates) {
    if (!candidate.is_viable() || spans_[candidate.lane].excluded) continue;
    if (home != kNoLane) return kNoLane;
    home = candidate.lane;
  }
  return home;
}

void OverlapPairing::retire(uint32_t addresses, uint32_t lane) {
  if (addresses >= alive_lanes_.size()) return;
  auto& lanes = alive_lanes_[addresses];
  lanes.erase(std::remove(lanes.begin(), lanes.end(), lane), lanes.end());
}

void OverlapPairing::exclude(uint32_t lane) {
  span_of(lane).excluded = true;
}

std::vector<OverlapPairing::Result> OverlapPairing::finish(size_t lanes) {
  std::vector<Result> results(lanes);
  std::vector<std::vector<uint32_t>> homes(lanes);
  for (uint32_t lane = 0; lane < searches_.size(); ++lane) {
    if (!searches_[lane] || span_of(lane).excluded) continue;
    for (const Candidate& candidate : searches_[lane]->candidates) {
      if (candidate.is_viable() && !spans_[candidate.lane].excluded) homes[lane].push_back(candidate.lane);
    }
    results[lane].too_many = searches_[lane]->too_many;
    // With homes that were not followed, the one that is left is no deduction.
    if (results[lane].too_many) homes[lane].push_back(lane);
  }
  Deduction(std::move(homes), results).run();
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    auto& left = results[lane].candidates;
    left.erase(std::remove(left.begin(), left.end(), lane), left.end());
  }
  return results;
}

}  // namespace traces
