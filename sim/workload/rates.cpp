#include "sim/workload/rates.hpp"

#include <algorithm>

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

// The first message of the first bunch that begins at or behind a share of the bytes: nothing completed before it for
// half the time of a message on average. Messages of no bytes count alike. messages.size() when there is none.
size_t bunch_from(double share, const Messages& messages, const std::vector<uint64_t>& bytes) {
  const size_t n = messages.size();
  const hw::Picoseconds time = messages.back().completion - messages.front().completion;
  size_t i = bytes.back() == 0
                 ? size_t(share * double(n))
                 : size_t(std::lower_bound(bytes.begin(), bytes.end(), uint64_t(share * double(bytes.back()))) -
                          bytes.begin());
  i = std::max<size_t>(i, 1);
  while (i < n && 2 * (messages[i].completion - messages[i - 1].completion) * (n - 1) < time) i++;
  return i;
}

// From the beginning of a bunch to that of a later one: whole bunches, each with the time that it took.
void find_steady(const Messages& messages, const std::vector<uint64_t>& bytes, Rates& r) {
  constexpr size_t kFewest = 10;
  if (messages.size() < kFewest) return;
  const size_t first = bunch_from(0.1, messages, bytes), last = bunch_from(0.9, messages, bytes);
  if (last <= first || last == messages.size()) return;
  r.steady_messages = last - first;
  r.steady_bytes = bytes[last - 1] - bytes[first - 1];
  r.steady_time = messages[last].completion - messages[first].completion;
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

Rates rates_of(const std::vector<hw::Picoseconds>& posts, const Messages& messages) {
  Rates r;
  if (messages.empty()) return r;
  const std::vector<uint64_t> bytes = running_bytes(messages);
  r.messages = messages.size();
  r.bytes = bytes.back();
  r.first_post = posts.front();
  r.last_completion = messages.back().completion;
  find_steady(messages, bytes, r);
  find_peak(posts, messages, bytes, r);
  find_shares(messages, r);
  return r;
}

double per_second(uint64_t count, hw::Picoseconds time) {
  return time == 0 ? 0 : double(count) * 1e12 / double(time);
}

}  // namespace sim
