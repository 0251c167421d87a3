#include "sim/replay/verdict/reads.hpp"

#include <algorithm>
#include <cstdlib>

#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;
using traces::Position;

namespace {

constexpr size_t kMaxReads = 256;
// A READ that is executed again carries the MSN of that moment, which the two sides may reach in another order.
constexpr int32_t kMsnDrift = 64;

Position position_of(uint32_t offset, uint32_t psns) {
  if (psns == 1) return Position::kOnly;
  if (offset == 0) return Position::kFirst;
  return offset + 1 == psns ? Position::kLast : Position::kMiddle;
}

bool has_aeth(uint8_t opcode) {
  return traces::operation_of(opcode).position != Position::kMiddle;
}

void give(VerdictCounts& counts, Verdict verdict, Side side, const Sighting& response, const char* reason,
          uint64_t packets = 1) {
  counts.give(verdict, side == kCaptured ? &response : nullptr, side == kCaptured ? nullptr : &response, reason,
              packets);
}

}  // namespace

bool ReadJudge::Execution::holds(uint32_t p) const {
  const int32_t offset = distance24(p, psn);
  return offset >= 0 && uint32_t(offset) < psns;
}

void ReadJudge::request(uint32_t psn, uint32_t psns, bool again, VerdictCounts& counts) {
  if (reads_.size() == kMaxReads) {
    for (const Run& run : reads_.front().waiting)
      give(counts, Verdict::kNotComparable, reads_.front().ahead, run.first, "the other side falls far behind",
           run.count);
    reads_.erase(reads_.begin());
  }
  Execution read;
  read.psn = psn;
  read.psns = psns;
  read.again = again;
  reads_.push_back(std::move(read));
}

// The first execution that the response fits into by its position, else by its PSN alone.
size_t ReadJudge::find(Side side, const TransportPacket& response) const {
  const Position position = traces::operation_of(response.opcode).position;
  size_t by_psn = reads_.size();
  for (size_t i = 0; i < reads_.size(); i++) {
    const Execution& read = reads_[i];
    if (!read.holds(response.psn)) continue;
    const auto offset = uint32_t(distance24(response.psn, read.psn));
    if (offset < read.next[side]) continue;
    if (position_of(offset, read.psns) == position) return i;
    by_psn = std::min(by_psn, i);
  }
  return by_psn;
}

void ReadJudge::response(Side side, const Sighting& response, VerdictCounts& counts) {
  const size_t i = find(side, response.packet);
  if (i == reads_.size()) {
    const bool is_captured = side == kCaptured;
    return give(counts, is_captured ? Verdict::kNotComparable : Verdict::kExtra, side, response,
                is_captured ? "the request was not fed" : "nothing asked for this response");
  }
  close(i, side, counts);
  meet(reads_[i], side, response, counts);
  if (i == 0 && !reads_.front().is_done()) return;
  reads_.erase(std::remove_if(reads_.begin(), reads_.end(), [](const Execution& r) { return r.is_done(); }),
               reads_.end());
}

void ReadJudge::meet(Execution& read, Side side, const Sighting& response, VerdictCounts& counts) {
  const auto offset = uint32_t(distance24(response.packet.psn, read.psn));
  const Side others = other(side);
  pass(read, side, offset, counts);
  read.next[side] = offset + 1;
  std::vector<Run>& waiting = read.waiting;
  if (read.next[others] <= offset) {
    read.ahead = side;
    Run* last = waiting.empty() ? nullptr : &waiting.back();
    const bool alike = last != nullptr && last->offset + last->count == offset &&
                       last->first.packet.opcode == response.packet.opcode && !has_aeth(response.packet.opcode) &&
                       last->first.packet.payload_bytes == response.packet.payload_bytes;
    if (alike)
      last->count++;
    else
      waiting.push_back({response, offset, 1});
  } else if (!waiting.empty() && waiting.front().offset == offset) {
    Run& run = waiting.front();
    compare(read, side == kCaptured ? response : run.first, side == kCaptured ? run.first : response, counts);
    run.offset++;
    run.first.packet.psn = (run.first.packet.psn + 1) & traces::kPsnMask;
    if (--run.count == 0) waiting.erase(waiting.begin());
  } else if (side == kSimulated) {
    give(counts, Verdict::kUnseen, side, response, "later answers cover it");
  } else {
    give(counts, Verdict::kMissing, side, response, "the NIC left it out");
  }
}

// `side` goes on at `offset`: it left out what the other one sent before.
void ReadJudge::pass(Execution& read, Side side, uint32_t offset, VerdictCounts& counts) {
  if (read.ahead == side) return;
  std::vector<Run>& waiting = read.waiting;
  while (!waiting.empty() && waiting.front().offset < offset) {
    Run& run = waiting.front();
    const uint32_t passed = std::min(run.count, offset - run.offset);
    if (side == kCaptured)
      give(counts, Verdict::kUnseen, kSimulated, run.first, "later answers cover it", passed);
    else
      give(counts, Verdict::kMissing, kCaptured, run.first, "the NIC left it out", passed);
    run.offset += passed;
    run.count -= passed;
    run.first.packet.psn = (run.first.packet.psn + passed) & traces::kPsnMask;
    if (run.count == 0) waiting.erase(waiting.begin());
  }
}

// `side` answers a later READ: it is done with those before.
void ReadJudge::close(size_t end, Side side, VerdictCounts& counts) {
  for (size_t i = 0; i < end; i++) {
    pass(reads_[i], side, reads_[i].psns, counts);
    reads_[i].next[side] = reads_[i].psns;
  }
}

void ReadJudge::compare(const Execution& read, const Sighting& captured, const Sighting& simulated,
                        VerdictCounts& counts) {
  const TransportPacket &c = captured.packet, &s = simulated.packet;
  if (c.payload_bytes != s.payload_bytes)
    return counts.give(Verdict::kDifferent, &captured, &simulated, "other payload length");
  if (c.opcode != s.opcode) {
    const bool goes_on = read.again && !traces::starts_message(c.opcode) && traces::starts_message(s.opcode);
    if (goes_on && departs(peer_, Quirk::kMiddleAfterPartialRead))
      return counts.depart(Quirk::kMiddleAfterPartialRead, &captured, &simulated);
    return counts.give(Verdict::kDifferent, &captured, &simulated, "other position in the READ");
  }
  const int32_t drift = has_aeth(c.opcode) ? std::abs(distance24(c.msn, s.msn)) : 0;
  if (drift == 0) return counts.give(Verdict::kMatch, &captured, &simulated, "the same");
  const bool is_first = traces::operation_of(c.opcode).position == Position::kFirst;
  if (read.again ? drift <= kMsnDrift : is_first && drift == 1)
    return counts.give(Verdict::kEquivalent, &captured, &simulated, "the MSN of another moment");
  counts.give(Verdict::kDifferent, &captured, &simulated, "other MSN");
}

bool ReadJudge::is_answered(uint32_t psn) const {
  return std::any_of(reads_.begin(), reads_.end(), [psn](const Execution& read) {
    return read.psn == psn && read.ahead == kCaptured && !read.waiting.empty();
  });
}

uint64_t ReadJudge::refuse(uint32_t psn, const Sighting& nak, VerdictCounts& counts) {
  uint64_t refused = 0;
  for (Execution& read : reads_) {
    if (read.ahead != kSimulated || distance24(read.psn, psn) < 0) continue;
    for (const Run& run : read.waiting) {
      counts.give(Verdict::kDifferent, &nak, &run.first, "the endpoint refused it", run.count);
      refused += run.count;
    }
    read.waiting.clear();
  }
  return refused;
}

void ReadJudge::give_up(VerdictCounts& counts, const char* reason) {
  for (const Execution& read : reads_)
    for (const Run& run : read.waiting) give(counts, Verdict::kNotComparable, read.ahead, run.first, reason, run.count);
  reads_ = {};
}

bool ReadJudge::is_asked_again(size_t i) const {
  for (size_t k = i + 1; k < reads_.size(); k++)
    if (distance24(reads_[k].psn, reads_[i].psn) < int32_t(reads_[i].psns)) return true;
  return false;
}

void ReadJudge::finish(uint32_t covered, VerdictCounts& counts) {
  for (size_t i = 0; i < reads_.size(); i++)
    for (const Run& run : reads_[i].waiting) {
      if (reads_[i].ahead == kCaptured)
        give(counts, Verdict::kMissing, kCaptured, run.first, "the NIC sent no such response", run.count);
      else if (is_asked_again(i) || reads_[i].again || distance24(run.first.packet.psn, covered) <= 0)
        give(counts, Verdict::kUnseen, kSimulated, run.first, "asked for again, or later answers cover it", run.count);
      else
        give(counts, Verdict::kNotComparable, kSimulated, run.first, "the capture ends", run.count);
    }
  reads_ = {};
}

}  // namespace sim
