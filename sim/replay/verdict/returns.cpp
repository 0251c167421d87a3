#include "sim/replay/verdict/returns.hpp"

#include <algorithm>

#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr size_t kMaxReturns = 64;
// Answers that were skipped further back than that have nothing to do with a return.
constexpr int32_t kSkipReaches = 256;
constexpr size_t kRemembered = 16;

bool is_read(const TransportPacket& packet) {
  return traces::operation_of(packet.opcode).verb == traces::Verb::kReadRequest;
}

void remember(std::vector<uint32_t>& psns, uint32_t psn) {
  if (psns.size() == kRemembered) psns.erase(psns.begin());
  psns.push_back(psn);
}

bool any_just_before(const std::vector<uint32_t>& psns, uint32_t psn) {
  return std::any_of(psns.begin(), psns.end(), [&](uint32_t earlier) {
    const int32_t behind = distance24(psn, earlier);
    return behind >= 0 && behind < kSkipReaches;
  });
}

}  // namespace

void ReturnJudge::add(const Return& r, VerdictCounts& counts) {
  if (returns_.size() == kMaxReturns) {
    resolve(returns_.front(), counts);
    returns_.erase(returns_.begin());
  }
  returns_.push_back(r);
}

void ReturnJudge::told(uint32_t psn, VerdictCounts& counts) {
  Return r;
  r.psn = psn;
  r.told = true;
  add(r, counts);
}

void ReturnJudge::went_back(Side side, const Sighting& first, VerdictCounts& counts) {
  const uint32_t psn = first.packet.psn;
  remember(back_to_[side], psn);
  const auto same =
      std::find_if(returns_.begin(), returns_.end(), [&](const Return& r) { return r.psn == psn && !r.by[side]; });
  if (same == returns_.end()) {
    Return r;
    r.psn = psn;
    r.by[side] = first;
    r.skipped = follows_skip(psn);
    return add(r, counts);
  }
  same->by[side] = first;
  if (!same->by[other(side)]) return;
  compare(*same, counts);
  returns_.erase(same);
}

bool ReturnJudge::follows_skip(uint32_t psn) const {
  return any_just_before(skips_, psn);
}

// A return to an earlier PSN sends this one again as well.
bool ReturnJudge::goes_over(Side side, uint32_t psn) const {
  return any_just_before(back_to_[side], psn);
}

void ReturnJudge::compare(const Return& r, VerdictCounts& counts) {
  const Sighting &c = *r.by[kCaptured], &s = *r.by[kSimulated];
  const bool same = c.packet.opcode == s.packet.opcode && c.packet.virtual_address == s.packet.virtual_address &&
                    c.packet.remote_key == s.packet.remote_key;
  counts.give(same ? Verdict::kMatch : Verdict::kDifferent, &c, &s, same ? "sent again" : "sent again otherwise");
}

void ReturnJudge::acknowledge(uint32_t psn, uint32_t first) {
  if (first != psn) remember(skips_, first);
  for (Return& r : returns_) r.acknowledged |= distance24(r.psn, psn) <= 0;
}

// Only one side went back, or none did.
void ReturnJudge::resolve(const Return& r, VerdictCounts& counts) {
  if (r.by[kCaptured]) {
    if (r.told && goes_over(kSimulated, (r.psn - 1) & traces::kPsnMask))
      return counts.give(Verdict::kEquivalent, &*r.by[kCaptured], nullptr, "the NIC went back further");
    const Verdict verdict = r.told ? Verdict::kMissing : Verdict::kUnseen;
    return counts.give(verdict, &*r.by[kCaptured], nullptr,
                       r.told ? "the NIC did not go back to the refused PSN" : "sent again without a visible cause");
  }
  if (!r.by[kSimulated]) return;
  const Sighting& s = *r.by[kSimulated];
  if (!r.acknowledged)
    counts.give(Verdict::kNotComparable, nullptr, &s, "the capture ends");
  else if (r.told)
    counts.give(Verdict::kUnseen, nullptr, &s, "acknowledged later: the endpoint sent it again");
  else if (is_read(s.packet) && r.skipped)
    counts.give(Verdict::kUnseen, nullptr, &s, "a READ response at it or before is not captured in its place");
  else if (is_read(s.packet) && departs(peer_, Quirk::kNoImpliedNak))
    counts.depart(Quirk::kNoImpliedNak, nullptr, &s);
  else
    counts.give(Verdict::kExtra, nullptr, &s, "the endpoint did not send it again");
}

void ReturnJudge::give_up(VerdictCounts& counts, const char* reason) {
  for (const Return& r : returns_)
    if (r.by[kCaptured] || r.by[kSimulated])
      counts.give(Verdict::kNotComparable, r.by[kCaptured] ? &*r.by[kCaptured] : nullptr,
                  r.by[kSimulated] ? &*r.by[kSimulated] : nullptr, reason);
  returns_ = {};
}

void ReturnJudge::finish(VerdictCounts& counts) {
  for (const Return& r : returns_) resolve(r, counts);
  returns_ = {};
}

}  // namespace sim
