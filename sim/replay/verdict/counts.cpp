#include "sim/replay/verdict/counts.hpp"

#include <algorithm>

namespace sim {

namespace {

std::optional<Sighting> copy_of(const Sighting* sighting) {
  if (sighting == nullptr) return std::nullopt;
  std::optional<Sighting> copy = *sighting;
  copy->packet.payload = {};  // the bytes are gone when the case is told
  return copy;
}

}  // namespace

void VerdictTally::add(const VerdictTally& other) {
  count += other.count;
  for (const VerdictCase& example : other.examples)
    if (has_room()) examples.push_back(example);
}

void VerdictCounts::give(VerdictTally& tally, const Sighting* captured, const Sighting* simulated, const char* reason,
                         uint64_t packets) {
  tally.count += packets;
  if (tally.has_room()) tally.examples.push_back({copy_of(captured), copy_of(simulated), reason, packets});
}

void VerdictCounts::add(const VerdictCounts& other) {
  for (size_t i = 0; i < kVerdicts; i++) verdicts[i].add(other.verdicts[i]);
  for (size_t i = 0; i < kQuirks; i++) departures[i].add(other.departures[i]);
}

bool VerdictCounts::good() const {
  const VerdictCounts& c = *this;
  return c[Verdict::kDifferent] == 0 && c[Verdict::kMissing] == 0 && c[Verdict::kExtra] == 0;
}

bool VerdictCounts::empty() const {
  const auto unused = [](const VerdictTally& tally) { return tally.count == 0; };
  return std::all_of(verdicts.begin(), verdicts.end(), unused) &&
         std::all_of(departures.begin(), departures.end(), unused);
}

void Verdicts::add_data(const DataVerdict& d, const Sighting& response) {
  bytes.verified_bytes += d.verified_bytes;
  bytes.seeded_bytes += d.seeded_bytes;
  bytes.different_bytes += d.different_bytes;
  if (d.different_bytes > 0)
    data.give(Verdict::kDifferent, &response, nullptr, "other bytes than those that were written there");
  else if (d.seeded_bytes > 0)
    data.give(Verdict::kNotComparable, &response, nullptr, "bytes that were not known before");
  else
    data.give(Verdict::kMatch, &response, nullptr, "the same bytes");
}

void Verdicts::add(const Verdicts& other) {
  answers.add(other.answers);
  exact_acks.add(other.exact_acks);
  requests.add(other.requests);
  data.add(other.data);
  bytes.verified_bytes += other.bytes.verified_bytes;
  bytes.seeded_bytes += other.bytes.seeded_bytes;
  bytes.different_bytes += other.bytes.different_bytes;
}

bool Verdicts::good() const {
  return answers.good() && exact_acks.good() && requests.good() && data.good();
}

}  // namespace sim
