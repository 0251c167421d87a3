// The result of a replay for people.
#include <fmt/format.h>

#include "sim/replay/replay.hpp"
#include "sim/replay/verdict/text.hpp"

namespace sim {
namespace {

constexpr size_t kShown = 10;  // connections

void line(std::string& out, const char* label, const std::string& text) {
  out += fmt::format("  {:<10} {}\n", label, text);
}

std::string name_of(const ConnectionResult& c) {
  const Binding& b = c.binding;
  const std::string peer = b.peer_qpn == 0 ? "unknown" : fmt::format("{:#x}", b.peer_qpn);
  return fmt::format("{} QP {:#x}, peer {} QP {}{}", traces::to_string(b.address), c.capture_qpn,
                     traces::to_string(b.peer_address), peer, c.life == 0 ? "" : fmt::format(", life {}", c.life + 1));
}

void add_tally(std::string& out, const ReplayTally& t) {
  line(out, "given",
       fmt::format("{} requests and {} answers of the peer, {} work requests", t.requests_in, t.answers_in, t.posted));
  if (t.not_given != 0)
    line(out, "", fmt::format("{} packets not given: what they rest on is not captured", t.not_given));
  if (t.restarts != 0) line(out, "", fmt::format("state taken anew {} times behind gaps of the tap", t.restarts));
  if (t.translated != 0) line(out, "", fmt::format("{} packets made anew for the NIC", t.translated));
  if (t.repaired != 0) line(out, "", fmt::format("{} packets repaired: the snap length cut them", t.repaired));
}

void add_verdicts(std::string& out, const Verdicts& verdicts) {
  for (const std::string& text : lines(verdicts)) out += "  " + text + "\n";
}

void add_connection(std::string& out, const ConnectionResult& c) {
  out += name_of(c) + "\n";
  add_tally(out, c.tally);
  for (const std::string& text : c.assumptions) line(out, "assumed", text);
  if (!c.ambiguous.empty()) line(out, "ambiguous", c.ambiguous);
  add_verdicts(out, c.verdicts);
}

void add_counts(std::string& out, const ReplayResult& r) {
  const auto add = [&](uint64_t count, const char* what) {
    if (count != 0) out += fmt::format("  {} {}\n", count, what);
  };
  out += fmt::format("{} packets captured: {}\n", r.census.packets, fmt::join(r.census.lines(), ", "));
  for (const std::string& note : r.notes) out += "  " + note + "\n";
  add(r.capture.outside_window, "outside of --from and --to");
  add(r.capture.other_qp, "of connections that --qp leaves out");
  add(r.capture.strangers, "of connections that --as names no end of");
  add(r.capture.both_ends, "of connections that --as names both ends of, which cannot be replayed");
  add(r.capture.cut, "whose headers are cut");
  add(r.capture.undelivered, "seen by the tap and, as a NAK shows, lost behind it: not given to the NIC");
  add(r.capture.atomics, "atomics, which are not yet supported: READs of no bytes stand for them");
  add(r.capture.invalidates, "SENDs with invalidate, which is not yet supported: plain SENDs stand for them");
  add(r.unpaired_requests, "requests of the endpoint that belong to no connection");
  add(r.unpaired_answers, "answers of the endpoint that belong to no connection");
}

}  // namespace

std::string replay_text(const ReplayResult& r) {
  std::string out;
  add_counts(out, r);
  const bool few = r.connections.size() <= kShown;
  size_t shown = 0;
  for (const ConnectionResult& c : r.connections) {
    if ((!few && c.verdicts.good()) || shown == kShown) continue;
    add_connection(out, c);
    shown++;
  }
  if (!few) {
    out += fmt::format("{} connections, {} of them shown\n", r.connections.size(), shown);
    add_tally(out, r.tally);
    add_verdicts(out, r.verdicts);
  }
  if (!r.failures().empty())
    out += "the NIC does not do what the endpoint did\n";
  else
    out += r.compared() ? "the NIC does what the endpoint did\n" : "nothing could be compared\n";
  return out;
}

}  // namespace sim
