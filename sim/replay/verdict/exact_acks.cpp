#include "sim/replay/verdict/exact_acks.hpp"

#include <algorithm>

namespace sim {

namespace {

constexpr size_t kLookAhead = 64;  // how far apart the two may drift before they are aligned again

bool are_same(const TransportPacket& a, const TransportPacket& b) {
  return a.opcode == b.opcode && a.psn == b.psn && a.syndrome == b.syndrome && a.msn == b.msn;
}

}  // namespace

void ExactAcks::add(Side side, const Sighting& ack, VerdictCounts& counts) {
  waiting_[side].push_back(ack);
  match_fronts(counts);
  if (waiting_[side].size() >= 2 * kLookAhead) align(counts);
}

void ExactAcks::drop(size_t captured, size_t simulated) {
  waiting_[kCaptured].erase(waiting_[kCaptured].begin(), waiting_[kCaptured].begin() + std::ptrdiff_t(captured));
  waiting_[kSimulated].erase(waiting_[kSimulated].begin(), waiting_[kSimulated].begin() + std::ptrdiff_t(simulated));
}

void ExactAcks::match_fronts(VerdictCounts& counts) {
  const auto &a = waiting_[kCaptured], &b = waiting_[kSimulated];
  size_t i = 0;
  for (; i < a.size() && i < b.size() && are_same(a[i].packet, b[i].packet); i++)
    counts.give(Verdict::kMatch, &a[i], &b[i], "the same");
  if (i > 0) drop(i, i);
}

// The nearest ACK that both have: the least sum of steps.
bool ExactAcks::find_common(size_t& captured, size_t& simulated) const {
  const auto &a = waiting_[kCaptured], &b = waiting_[kSimulated];
  for (size_t steps = 0; steps < a.size() + b.size(); steps++)
    for (size_t i = steps < b.size() ? 0 : steps - b.size() + 1; i <= steps && i < a.size(); i++)
      if (are_same(a[i].packet, b[steps - i].packet)) {
        captured = i;
        simulated = steps - i;
        return true;
      }
  captured = a.size();
  simulated = b.size();
  return false;
}

void ExactAcks::align(VerdictCounts& counts) {
  const auto &a = waiting_[kCaptured], &b = waiting_[kSimulated];
  size_t captured = 0, simulated = 0;
  find_common(captured, simulated);
  const size_t pairs = std::min(captured, simulated);
  for (size_t i = 0; i < pairs; i++) counts.give(Verdict::kDifferent, &a[i], &b[i], "not the same");
  for (size_t i = pairs; i < captured; i++) counts.give(Verdict::kMissing, &a[i], nullptr, "captured only");
  for (size_t i = pairs; i < simulated; i++) counts.give(Verdict::kExtra, nullptr, &b[i], "simulated only");
  drop(captured, simulated);
  match_fronts(counts);
}

void ExactAcks::give_up(VerdictCounts& counts, const char* reason) {
  for (const Sighting& ack : waiting_[kCaptured]) counts.give(Verdict::kNotComparable, &ack, nullptr, reason);
  for (const Sighting& ack : waiting_[kSimulated]) counts.give(Verdict::kNotComparable, nullptr, &ack, reason);
  drop(waiting_[kCaptured].size(), waiting_[kSimulated].size());
}

void ExactAcks::finish(VerdictCounts& counts) {
  while (!waiting_[kCaptured].empty() || !waiting_[kSimulated].empty()) align(counts);
}

}  // namespace sim
