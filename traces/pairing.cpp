#include "traces/pairing.hpp"

#include <algorithm>
#include <set>

#include "traces/psn.hpp"

namespace traces {
namespace {

bool fits(const std::vector<SentRequest>& requests, const std::vector<SentResponse>& responses) {
  size_t covered = 0;
  size_t ahead = 0;
  auto next_request = requests.begin();
  uint32_t newest_psn = 0;
  for (const SentResponse& response : responses) {
    for (; next_request != requests.end() && next_request->index < response.index; ++next_request) {
      const bool newer = next_request == requests.begin() || distance24(next_request->last_psn, newest_psn) > 0;
      if (newer) newest_psn = next_request->last_psn;
    }
    if (next_request == requests.begin()) continue;  // answers something from before the capture
    if (distance24(response.psn, newest_psn) > 0) {
      ++ahead;
    } else if (distance24(response.psn, requests.front().first_psn) >= 0) {
      ++covered;
    }
  }
  return covered > ahead;
}

using Candidates = std::vector<std::set<size_t>>;

// One round of deduction: pairs each request track that is the only home of exactly one response track.
bool deduce(Candidates& homes, std::vector<Pairing>& pairings) {
  std::vector<std::vector<size_t>> claims(pairings.size());
  for (size_t response = 0; response < homes.size(); ++response) {
    if (homes[response].size() == 1) claims[*homes[response].begin()].push_back(response);
  }
  bool progress = false;
  for (size_t request = 0; request < claims.size(); ++request) {
    if (claims[request].size() != 1) continue;
    pairings[request].response_track = claims[request].front();
    for (std::set<size_t>& home : homes) home.erase(request);
    progress = true;
  }
  return progress;
}

}  // namespace

std::vector<Pairing> pair_responses(const std::vector<std::vector<SentRequest>>& requests,
                                    const std::vector<std::vector<SentResponse>>& responses) {
  std::vector<Pairing> pairings(requests.size());
  Candidates homes(responses.size());
  for (size_t response = 0; response < responses.size(); ++response) {
    for (size_t request = 0; request < requests.size(); ++request) {
      if (fits(requests[request], responses[response])) homes[response].insert(request);
    }
  }
  while (deduce(homes, pairings)) {
  }
  for (size_t response = 0; response < homes.size(); ++response) {
    for (size_t request : homes[response]) pairings[request].candidates.push_back(response);
  }
  return pairings;
}

}  // namespace traces
