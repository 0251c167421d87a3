#include "sim/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/limits.hpp"
#include "sim/config/error.hpp"
#include "sim/functional/functional_nic.hpp"

namespace sim {
namespace {

// The tables that a run names.
struct Tables {
  explicit Tables(const ReplayRun& run) {
    for (const auto& [host, file] : run.qp_tables) qps.read(host, file);
    if (!run.mr_table.empty()) regions = traces::MrTable::read(run.mr_table);
  }
  traces::QpTable qps;
  std::optional<traces::MrTable> regions;
};

LookAheadOptions look_ahead_options(const ReplayRun& run, const Tables& tables) {
  LookAheadOptions o;
  o.files = run.files;
  o.tracker.path_mtu = run.path_mtu;
  if (!tables.qps.empty()) o.tracker.qp_table = &tables.qps;
  o.qpn = run.qpn;
  o.from_s = run.from_s;
  o.to_s = run.to_s;
  o.keep_frames = !run.functional;
  return o;
}

DirectorOptions director_options(const Config& config, const ReplayRun& run, const Tables& tables) {
  DirectorOptions o;
  o.verdict = run.verdict;
  o.partition_key = uint16_t(config.nic.partition_key);
  if (tables.regions) o.mr_table = &*tables.regions;
  return o;
}

// The captured endpoint kept a window of its own; the NIC's must not be what stops it.
Config with_open_window(Config config) {
  config.nic.retransmit_entries = hw::kListEntries - hw::kMaxQps;
  config.nic.window_packets = config.nic.retransmit_entries;
  return config;
}

std::string endpoints_of(const traces::ConnectionTracker& tracker) {
  constexpr size_t kNamed = 8;
  std::vector<std::string> names;
  for (const traces::Lane& lane : tracker.lanes()) {
    const auto& pair = tracker.addresses()[lane.addresses];
    for (const auto& address : {pair.source, pair.destination}) {
      const std::string name = traces::to_string(address);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (names.size() > kNamed) break;
  }
  const bool more = names.size() > kNamed;
  names.resize(std::min(names.size(), kNamed));
  return fmt::format("{}{}", fmt::join(names, ", "), more ? " and more" : "");
}

void check_endpoint(const ReplayRun& run, const LookAhead& capture, const Director& director) {
  if (!director.connections().empty() || director.unpaired_answers() + director.unpaired_requests() != 0) return;
  if (!capture.input_error().empty()) throw traces::InputError(capture.input_error());
  const std::string files = fmt::format("{}", fmt::join(run.files, ", "));
  if (capture.tracker().lanes().empty())
    throw traces::no_connection(run.files, capture.census(), capture.tracker().counts());
  if (capture.counts().both_ends != 0)
    throw InputError(
        fmt::format("--as: {} names both ends of every connection of {}; allowed is one end", run.as, files));
  if (capture.counts().other_qp != 0)
    throw InputError(fmt::format("--qp: {:#x} is at no connection of {} in {}", *run.qpn, run.as, files));
  throw InputError(fmt::format("--as: {} is at no connection of {}; allowed are the endpoints in it: {}", run.as, files,
                               endpoints_of(capture.tracker())));
}

void add(ReplayTally& sum, const ReplayTally& t) {
  sum.requests_in += t.requests_in;
  sum.answers_in += t.answers_in;
  sum.requests_out += t.requests_out;
  sum.answers_out += t.answers_out;
  sum.translated += t.translated;
  sum.repaired += t.repaired;
  sum.not_given += t.not_given;
  sum.posted += t.posted;
  sum.restarts += t.restarts;
}

ConnectionResult result_of(const ReplayConnection& c, const traces::ConnectionTracker& tracker) {
  ConnectionResult r;
  const traces::Lane& lane = tracker.lanes()[c.lane];
  r.binding = c.binding;
  r.life = lane.life;
  r.capture_qpn = lane.qpn;
  r.tally = c.tally;
  r.verdicts = c.verdicts;
  r.assumptions = tracker.assumptions(c.lane);
  if (lane.peer != traces::kNoLane && c.tally.requests_out != 0)
    for (const std::string& line : tracker.assumptions(lane.peer)) r.assumptions.push_back("its own requests: " + line);
  return r;
}

// What the lanes of the endpoint that belong to no connection say of it.
std::string ambiguity(const LookAhead& capture, const ReplayConnection& c) {
  const auto& tracker = capture.tracker();
  const uint32_t back = tracker.addresses().reverse(tracker.lanes()[c.lane].addresses);
  if (tracker.lanes()[c.lane].peer != traces::kNoLane) return "";
  for (uint32_t id = 0; id < tracker.lanes().size(); id++)
    if (tracker.lanes()[id].addresses == back && !tracker.ambiguity(id).empty()) return tracker.ambiguity(id);
  return "";
}

void collect(const LookAhead& capture, const Director& director, ReplayResult& result) {
  for (const auto& c : director.connections()) {
    result.connections.push_back(result_of(*c, capture.tracker()));
    ConnectionResult& r = result.connections.back();
    r.ambiguous = ambiguity(capture, *c);
    add(result.tally, r.tally);
    result.verdicts.add(r.verdicts);
  }
  result.census = capture.census();
  result.capture = capture.counts();
  result.unpaired_requests = director.unpaired_requests();
  result.unpaired_answers = director.unpaired_answers();
  result.notes = capture.notes();
  result.input_error = capture.input_error();
}

void replay_functional(const Config& config, const DirectorOptions& options, const ReplayRun& run, LookAhead& capture,
                       ReplayResult& result) {
  FunctionalNic nic(config);
  Director director(capture, nic, options);
  while (director.step()) continue;
  check_endpoint(run, capture, director);
  director.finish();
  collect(capture, director, result);
}

void replay_clocked(const Config& config, const DirectorOptions& options, const ReplayRun& run, LookAhead& capture,
                    ReplayResult& result) {
  Testbed bed(config, 1);
  Node& node = bed.node(0);
  Director* director = nullptr;
  ClockedNic nic(config, node, run.pace, [&director] { return director->step(); });
  Director made(capture, nic, options);
  director = &made;
  if (!run.pcap_folder.empty())
    bed.capture([&run](const std::string& n) { return run.pcap_folder + "/" + n + ".pcap"; });
  nic.fill();
  result.outcome = bed.run(nic, run.show_progress);
  check_endpoint(run, capture, made);
  made.finish();
  collect(capture, made, result);
  result.counters = node.counters();
}

}  // namespace

bool ReplayResult::compared() const {
  const auto judged = [](const VerdictCounts& c) {
    return c[Verdict::kMatch] + c[Verdict::kEquivalent] + c[Verdict::kDifferent] + c[Verdict::kMissing] +
           c[Verdict::kExtra];
  };
  return judged(verdicts.answers) + judged(verdicts.exact_acks) + judged(verdicts.requests) != 0;
}

std::vector<std::string> ReplayResult::failures() const {
  std::vector<std::string> failed = outcome.problems;
  const auto add = [&](const char* what, const VerdictCounts& c) {
    if (!c.good())
      failed.push_back(fmt::format("{}: {} different, {} missing, {} extra", what, c[Verdict::kDifferent],
                                   c[Verdict::kMissing], c[Verdict::kExtra]));
  };
  add("the NIC does not answer as the endpoint did", verdicts.answers);
  add("the NIC does not acknowledge exactly as the endpoint did", verdicts.exact_acks);
  add("the NIC does not ask as the endpoint did", verdicts.requests);
  add("READ data is not what was there", verdicts.data);
  return failed;
}

ReplayResult replay(const Config& config, const ReplayRun& run) {
  ReplayResult result;
  const Tables tables(run);
  const Config open = with_open_window(config);
  LookAhead capture(look_ahead_options(run, tables), EndpointFilter(run.as));
  const DirectorOptions options = director_options(config, run, tables);
  if (run.functional)
    replay_functional(open, options, run, capture, result);
  else
    replay_clocked(open, options, run, capture, result);
  return result;
}

}  // namespace sim
