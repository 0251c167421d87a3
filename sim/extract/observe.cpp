#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sim/config/error.hpp"
#include "sim/extract/conversation.hpp"
#include "sim/extract/host_line.hpp"
#include "sim/replay/look_ahead.hpp"

namespace sim {
namespace {

using traces::kNoLane;
using Hosts = std::array<traces::IpAddress, 2>;

std::string name_of(const Hosts& hosts) {
  return traces::to_string(hosts[0]) + "," + traces::to_string(hosts[1]);
}

// Pairs of hosts with the number of requests from the first one.
std::map<Hosts, uint64_t> pairs_of(const ObserveRun& run) {
  std::map<Hosts, uint64_t> pairs;
  traces::MergedReader reader(run.files);
  traces::Packet packet;
  try {
    while (reader.read(packet)) {
      const traces::RocePacket roce = traces::decode(packet);
      const bool is_rc = roce.has_bth && traces::transport_of(roce.bth.opcode) == traces::Transport::kRc;
      if (is_rc && !traces::is_response(roce.bth.opcode)) pairs[{roce.source, roce.destination}]++;
    }
  } catch (const traces::InputError&) {
    if (pairs.empty()) throw;  // what came before the damage counts
  }
  return pairs;
}

// nic0 is the one that asks more.
Hosts choose_hosts(const ObserveRun& run) {
  if (run.hosts) return *run.hosts;
  if (std::find(run.files.begin(), run.files.end(), "-") != run.files.end())
    throw InputError("-: standard input is read once; allowed is it with --hosts A,B");
  const auto pairs = pairs_of(run);
  std::map<Hosts, uint64_t> both;  // the two directions of a pair together, under the one that asks more
  std::vector<std::string> names;
  for (const auto& [hosts, requests] : pairs) {
    const auto reverse = pairs.find({hosts[1], hosts[0]});
    const bool leads =
        reverse == pairs.end() || reverse->second < requests || (reverse->second == requests && hosts[0] < hosts[1]);
    if (!leads) continue;
    both[hosts] = requests;
    names.push_back(name_of(hosts));
  }
  const std::string files = fmt::format("{}", fmt::join(run.files, ", "));
  if (both.empty())
    throw traces::InputError(files + ": no request of a reliable connection; allowed: a capture with some");
  if (both.size() > 1)
    throw InputError(fmt::format("{}: {} pairs of hosts; a scenario has two hosts: choose with --hosts one of {}",
                                 files, both.size(), fmt::join(names, " ")));
  return both.begin()->first;
}

LookAheadOptions look_ahead_options(const ObserveRun& run) {
  LookAheadOptions o;
  o.files = run.files;
  o.tracker.path_mtu = run.path_mtu;
  o.qpn = run.qpn;
  o.from_s = run.from_s;
  o.to_s = run.to_s;
  o.keep_frames = false;
  return o;
}

int64_t begin_of(const std::vector<ObservedConnection>& connections) {
  int64_t begin = std::numeric_limits<int64_t>::max();
  for (const ObservedConnection& c : connections)
    for (const auto& messages : c.messages)
      for (const ObservedMessage& m : messages) begin = std::min(begin, m.begun_ns);
  return begin;
}

class Observer {
 public:
  explicit Observer(const ObserveRun& run)
      : hosts_(choose_hosts(run)), capture_(look_ahead_options(run), EndpointFilter(traces::to_string(hosts_[0]))) {}

  Observed observe() {
    while (const HeldPacket* packet = capture_.next()) see(*packet);
    Observed o;
    o.hosts = hosts_;
    for (const Pair& pair : pairs_) {
      ObservedConnection c = result_of(pair);
      if (!c.messages[0].empty() || !c.messages[1].empty()) o.connections.push_back(std::move(c));
    }
    // The order in which programs make queue pairs, where numbers rise.
    std::stable_sort(o.connections.begin(), o.connections.end(),
                     [](const ObservedConnection& a, const ObservedConnection& b) { return a.qpn < b.qpn; });
    o.first_ns = begin_of(o.connections);
    o.notes = notes();
    if (o.connections.empty())
      throw traces::InputError(
          fmt::format("no whole message between {} in the capture; allowed are two hosts with some", name_of(hosts_)));
    return o;
  }

 private:
  struct Pair {
    std::array<uint32_t, 2> lanes{kNoLane, kNoLane};  // with the requests of each host
    std::array<Conversation, 2> conversations;
    std::array<HostLine::Turn, 2> turns{};
  };

  bool is_between_hosts(uint32_t lane) const {
    const auto& a = capture_.tracker().addresses()[capture_.tracker().lanes()[lane].addresses];
    return (a.source == hosts_[0] && a.destination == hosts_[1]) ||
           (a.source == hosts_[1] && a.destination == hosts_[0]);
  }

  Pair& pair_of(uint32_t lane, unsigned host) {
    const uint32_t peer = capture_.peer_of(lane);
    auto found = by_lane_.find(lane);
    if (found == by_lane_.end() && peer != kNoLane) found = by_lane_.find(capture_.life_of(peer));
    const size_t number = found == by_lane_.end() ? pairs_.size() : found->second;
    if (number == pairs_.size()) {
      pairs_.emplace_back();
      pairs_.back().turns = {lines_[0].first_turn(), lines_[1].first_turn()};
    }
    by_lane_[lane] = number;
    pairs_[number].lanes[host] = lane;
    return pairs_[number];
  }

  void see(const HeldPacket& packet) {
    if (packet.lane == kNoLane || !is_between_hosts(packet.lane)) return;
    const bool is_out = packet.course == Course::kRequestOut || packet.course == Course::kResponseOut;
    const bool is_request = packet.course == Course::kRequestOut || packet.course == Course::kRequestIn;
    const unsigned sender = is_out ? 0 : 1;
    Pair& pair = pair_of(capture_.life_of(packet.lane), sender);
    lines_[sender].packet(packet.time_ns);
    if (is_request)
      pair.conversations[sender].request(packet, lines_[sender].was_idle_since(pair.turns[sender]));
    else
      pair.conversations[1 - sender].answer(packet);
  }

  ObservedConnection result_of(const Pair& pair) const {
    ObservedConnection c;
    const auto& lanes = capture_.tracker().lanes();
    for (unsigned host : {0u, 1u}) {
      const Conversation& own = pair.conversations[host];
      c.messages[host] = own.messages();
      for (ObservedLoss loss : own.losses()) {
        loss.requester = host;
        c.losses.push_back(loss);
      }
      if (pair.lanes[host] == kNoLane) continue;
      const traces::Lane& lane = lanes[pair.lanes[host]];
      c.qpn[1 - host] = lane.qpn;
      if (lane.requests.started()) c.first_psn[host] = lane.requests.first();
      c.path_mtu = std::max(lane.path_mtu, host == 0 ? 0 : c.path_mtu);
      if (lane.begin == traces::LifeBegin::kCm) {
        c.timeout = lane.ack_timeout;
        c.retry_count = lane.retry_count;
      }
    }
    return c;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> lines = capture_.notes();
    const LookAheadCounts& counts = capture_.counts();
    const auto add = [&](uint64_t count, const char* what) {
      if (count != 0) lines.push_back(fmt::format("{} {}", count, what));
    };
    uint64_t incomplete = 0;
    for (const Pair& pair : pairs_)
      for (const Conversation& c : pair.conversations) incomplete += c.incomplete();
    add(incomplete, "messages are left out: their end is not in the capture");
    add(counts.atomics, "atomics are not yet supported: READs of no bytes stand for them");
    add(counts.invalidates, "SENDs with invalidate became SENDs: invalidation is not yet supported");
    add(counts.cut, "packets are left out: their headers are cut");
    add(counts.outside_window, "packets are outside of --from and --to");
    if (hosts_[0].version == 6) lines.push_back("IPv6 became IPv4");
    if (!capture_.input_error().empty()) lines.push_back(capture_.input_error());
    return lines;
  }

  Hosts hosts_;
  LookAhead capture_;
  std::array<HostLine, 2> lines_;
  std::map<uint32_t, size_t> by_lane_;
  std::vector<Pair> pairs_;
};

}  // namespace

Observed observe(const ObserveRun& run) {
  return Observer(run).observe();
}

}  // namespace sim
