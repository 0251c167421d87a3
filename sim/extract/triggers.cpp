// When a program posted, from when its packets were seen. A packet tells the post only where the line was idle before
// it; else it may have waited long, and is taken as posted as soon as what it waits for was there.
#include <algorithm>
#include <limits>

#include "sim/extract/extract.hpp"

namespace sim {
namespace {

// From a completion on the wire to the next request of the program on it: two ways over PCIe and a poll at least, and
// at most where a NIC like ours does it. What comes sooner does not follow from that completion; what comes later has
// thought.
constexpr int64_t kLeastTurnaround_ns = 800, kMostTurnaround_ns = 2500;
// A program that posts as fast as it can is not said to think.
constexpr int64_t kLeastThink_ns = 200;

// Most messages that the host had under way, when it turns around in that time. Completions come in order.
uint32_t depth_of(const std::vector<ObservedMessage>& messages, int64_t turnaround_ns) {
  size_t most = 1, done = 0;
  for (size_t i = 0; i < messages.size(); i++) {
    while (done < i && messages[done].completed_ns &&
           *messages[done].completed_ns + turnaround_ns <= messages[i].begun_ns)
      done++;
    most = std::max(most, i + 1 - done);
  }
  return uint32_t(std::min<size_t>(most, 1024));
}

// Messages of the peer that need no asking for, in order, with the time of their last packet.
std::vector<int64_t> arrivals_of(const std::vector<ObservedMessage>& messages) {
  std::vector<int64_t> times;
  for (const ObservedMessage& m : messages)
    if (m.kind != MessageKind::kRead && m.bytes != 0) times.push_back(m.sent_ns);
  return times;
}

// What a message may have waited for, and how long before it that was.
struct Cause {
  uint32_t depth = 0;
  uint64_t received = 0;
  int64_t before_ns = 0;
};

class Causes {
 public:
  Causes(const ObservedConnection& connection, unsigned host)
      : own_(connection.messages[host]),
        arrivals_(arrivals_of(connection.messages[1 - host])),
        depth_(depth_of(own_, kLeastTurnaround_ns)) {
    // A longer turnaround lets more be under way, of which each waits for an earlier one: until both agree. It varies
    // by some ns from message to message.
    for (uint32_t before = 0; before < depth_;) {
      before = depth_;
      depth_ = std::max(depth_, depth_of(own_, turnaround_ns() * 7 / 8));
    }
  }

  uint32_t depth() const { return depth_; }

  // The one that came last before message `i`, but for the post before it.
  Cause of(size_t i) const {
    const int64_t begun = own_[i].begun_ns;
    Cause cause;
    cause.before_ns = std::numeric_limits<int64_t>::max();
    if (i >= depth_ && own_[i - depth_].completed_ns) {
      cause.depth = depth_;
      cause.before_ns = begun - *own_[i - depth_].completed_ns;
    }
    const auto behind = std::upper_bound(arrivals_.begin(), arrivals_.end(), begun - kLeastTurnaround_ns);
    if (behind == arrivals_.begin()) return cause;
    const int64_t before_ns = begun - *(behind - 1);
    if (before_ns >= cause.before_ns) return cause;
    cause.received = uint64_t(behind - arrivals_.begin());
    cause.before_ns = before_ns;
    return cause;
  }

  // How many before message `i` is the one whose completion it follows without thinking; 0: it follows none so.
  uint32_t follows_at_once(size_t i, int64_t turnaround_ns) const {
    for (size_t back = std::min<size_t>(i, depth_); back != 0; back--) {
      const auto completed = own_[i - back].completed_ns;
      const int64_t thinks_ns = completed ? own_[i].begun_ns - *completed - turnaround_ns : kLeastThink_ns;
      if (thinks_ns < kLeastThink_ns) return thinks_ns > -kLeastThink_ns ? uint32_t(back) : 0;
    }
    return 0;
  }

  // Whether the host has waited for its own messages: then it does so before each.
  bool waits_for_own() const {
    for (size_t i = depth_; i < own_.size(); i++)
      if (own_[i].follows_idle_line && of(i).depth != 0) return true;
    return false;
  }

  // The fastest that the host has followed a completion, or a message of its peer, with a message of that kind: what it
  // takes without thinking.
  int64_t turnaround_ns(MessageKind kind) const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < own_.size(); i++)
      if (own_[i].follows_idle_line && own_[i].kind == kind) least = std::min(least, of(i).before_ns);
    return std::clamp(least, kLeastTurnaround_ns, kMostTurnaround_ns);
  }
  int64_t turnaround_ns() const {
    return std::min(
        {turnaround_ns(MessageKind::kWrite), turnaround_ns(MessageKind::kSend), turnaround_ns(MessageKind::kRead)});
  }

 private:
  const std::vector<ObservedMessage>& own_;
  std::vector<int64_t> arrivals_;
  uint32_t depth_;
};

}  // namespace

std::vector<Trigger> triggers_of(const ObservedConnection& connection, unsigned host, int64_t start_ns) {
  const std::vector<ObservedMessage>& own = connection.messages[host];
  const Causes causes(connection, host);
  const std::array<int64_t, 3> turnarounds_ns{causes.turnaround_ns(MessageKind::kWrite),
                                              causes.turnaround_ns(MessageKind::kSend),
                                              causes.turnaround_ns(MessageKind::kRead)};
  const uint32_t depth = causes.waits_for_own() ? causes.depth() : 0;
  std::vector<Trigger> triggers(own.size());
  for (size_t i = 0; i < own.size(); i++) {
    Trigger& t = triggers[i];
    t.depth = depth;
    if (!own[i].follows_idle_line) continue;
    const int64_t turnaround_ns = turnarounds_ns[size_t(own[i].kind)];
    if (const uint32_t back = causes.follows_at_once(i, turnaround_ns); back != 0) {
      t.depth = back;
      continue;
    }
    const Cause cause = causes.of(i);
    const int64_t since_post_ns = own[i].begun_ns - (i == 0 ? start_ns : own[i - 1].begun_ns);
    int64_t think_ns = since_post_ns;
    if (cause.before_ns - turnaround_ns < since_post_ns) {
      t.received = cause.received;
      think_ns = cause.before_ns - turnaround_ns;
    }
    if (think_ns >= kLeastThink_ns) t.think_ns = think_ns;
  }
  return triggers;
}

}  // namespace sim
