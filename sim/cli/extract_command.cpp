// balboa extract: a capture in, a scenario out.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "sim/cli/commands.hpp"
#include "sim/config/error.hpp"
#include "sim/extract/extract.hpp"

namespace sim {
namespace {

std::array<traces::IpAddress, 2> hosts_of(const std::string& text) {
  const size_t comma = text.find(',');
  const auto a = traces::parse_ip(text.substr(0, comma));
  const auto b = comma == std::string::npos ? std::nullopt : traces::parse_ip(text.substr(comma + 1));
  if (!a || !b || *a == *b || a->version != b->version)
    throw InputError("--hosts: \"" + text + "\"; allowed are two addresses, such as 10.0.0.1,10.0.0.2");
  return {*a, *b};
}

void write_new(const std::string& file, const std::string& text) {
  if (std::ifstream(file).good()) throw InputError("-o: " + file + " is there already; allowed is a new name");
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) throw OutputError(file + ": " + std::strerror(errno));
}

void print_summary(const Observed& o, const std::string& file) {
  size_t messages = 0, losses = 0;
  for (const ObservedConnection& c : o.connections) {
    messages += c.messages[0].size() + c.messages[1].size();
    losses += c.losses.size();
  }
  fmt::print("{}: {} connections between {} (nic0) and {} (nic1), {} messages, {} losses\n", file, o.connections.size(),
             traces::to_string(o.hosts[0]), traces::to_string(o.hosts[1]), messages, losses);
  for (const std::string& note : o.notes) fmt::print("  {}\n", note);
}

}  // namespace

int extract_command(const ExtractOptions& o) {
  check(o.capture);
  ObserveRun run;
  run.files = o.capture.files;
  if (!o.hosts.empty()) run.hosts = hosts_of(o.hosts);
  run.path_mtu = o.capture.path_mtu;
  run.qpn = o.capture.qpn;
  run.from_s = o.capture.from_s;
  run.to_s = o.capture.to_s;
  const Observed observed = observe(run);
  write_new(o.scenario, scenario_text(observed));
  print_summary(observed, o.scenario);
  return kGood;
}

}  // namespace sim
