#include "sim/workload/rates.hpp"

#include <algorithm>

#include "models/frame.hpp"

namespace sim {

namespace {

using Messages = std::vector<models::DoneMessage>;

// Bytes completed up to each message.
std::vector<uint64_t> running_bytes(const Messages& messages) {
  std::vector<uint64_t> sums;
  sums.reserve(messages.size());
  uint64_t sum = 0;
  for (const auto& m : messages) sums.push_back(sum += m.bytes);
  return sums;
}

// Bytes of a message; a message where none has any.
uint64_t weight(const Rates& r, const models::DoneMessage& m) {
  return r.bytes == 0 ? 1 : m.bytes;
}

// The instant in which the completions reach a share of `total`.
hw::Picoseconds reached(const Rates& r, const Messages& messages, uint64_t share) {
  uint64_t sum = 0;
  for (const auto& m : messages)
    if ((sum += weight(r, m)) >= share) return m.completion;
  return r.last_completion;
}

// A window between two instants of completions: what completes at its begin came before, what completes at its end came
// inside. Messages that were posted before the window may have crossed the line before it too and only completed inside:
// where these are more than half of it, or where the line would have needed more than a hundredth longer than the window,
// completions say nothing of a steady state. Below that a completion may still have come a little late at the begin:
// the time is no shorter than that of the line.
void find_steady(const Messages& messages, const LineLimit& line, Rates& r) {
  const uint64_t total = r.bytes == 0 ? r.messages : r.bytes;
  const hw::Picoseconds from = reached(r, messages, total / 10), to = reached(r, messages, total - total / 10);
  uint64_t count = 0, bytes = 0, weights = 0, posted_before = 0, line_bytes = 0;
  for (const auto& m : messages) {
    if (m.completion <= from || m.completion > to) continue;
    count++;
    bytes += m.bytes;
    weights += weight(r, m);
    line_bytes += line.bytes_of(m.bytes);
    if (m.post < from) posted_before += weight(r, m);
  }
  const hw::Picoseconds window = to - from, on_the_line = models::line_time(line_bytes, line.gbps);
  if (weights == 0 || 2 * posted_before > weights || on_the_line > window + window / 100) return;
  r.steady = Rates::Steady{count, bytes, std::max(window, on_the_line)};
}

// The fastest that any 1, 2, 4, ... or all messages in a row were, from the first one's post to the last one's
// completion: the peak of perftest, which looks at every number of messages.
void find_peak(const std::vector<hw::Picoseconds>& posts, const Messages& messages, const std::vector<uint64_t>& bytes,
               Rates& r) {
  const size_t all = messages.size();
  for (size_t count = 1;; count = std::min(count * 2, all)) {
    for (size_t first = 0; first + count <= all; first++) {
      const hw::Picoseconds time = messages[first + count - 1].completion - posts[first];
      const uint64_t sum = bytes[first + count - 1] - (first == 0 ? 0 : bytes[first - 1]);
      const bool slower = double(std::max<uint64_t>(sum, 1)) * double(r.peak_time) <=
                          double(std::max<uint64_t>(r.peak_bytes, 1)) * double(time);
      if (r.peak_messages != 0 && slower) continue;
      r.peak_messages = count;
      r.peak_bytes = sum;
      r.peak_time = time;
    }
    if (count == all) return;
  }
}

// By QP, in the middle of the time.
void find_shares(const Messages& messages, Rates& r) {
  const hw::Picoseconds from = r.first_post + r.time() / 10, to = r.last_completion - r.time() / 10;
  std::vector<uint64_t> shares;
  for (const auto& m : messages) {
    if (m.qp >= shares.size()) shares.resize(m.qp + 1);
    if (m.completion > from && m.completion <= to) shares[m.qp] += m.bytes;
  }
  r.least_qp_bytes = *std::min_element(shares.begin(), shares.end());
  r.most_qp_bytes = *std::max_element(shares.begin(), shares.end());
}

}  // namespace

// Each packet has preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS and gap beside its payload, at least.
uint64_t LineLimit::bytes_of(uint64_t message_bytes) const {
  constexpr uint64_t kPerPacket = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12;
  const uint64_t packets = std::max<uint64_t>(1, (message_bytes + pmtu_bytes - 1) / pmtu_bytes);
  return message_bytes + packets * kPerPacket;
}

Rates rates_of(const std::vector<hw::Picoseconds>& posts, const Messages& messages, const LineLimit& line) {
  Rates r;
  if (messages.empty()) return r;
  const std::vector<uint64_t> bytes = running_bytes(messages);
  r.messages = messages.size();
  r.bytes = bytes.back();
  r.first_post = posts.front();
  r.last_completion = messages.back().completion;
  find_steady(messages, line, r);
  find_peak(posts, messages, bytes, r);
  find_shares(messages, r);
  return r;
}

double per_second(uint64_t count, hw::Picoseconds time) {
  return time == 0 ? 0 : double(count) * 1e12 / double(time);
}

}  // namespace sim
