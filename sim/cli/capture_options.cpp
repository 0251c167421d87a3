#include "sim/cli/capture_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/config/error.hpp"

namespace sim {
namespace {

// A number that is one, neither negative nor infinite.
CLI::Validator from_zero() {
  const auto refuse = [](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
    return good ? std::string() : text + ": must be a number from 0";
  };
  return {refuse, ""};
}

}  // namespace

void add_capture_options(CLI::App& command, CaptureOptions& options) {
  command.add_option("capture", options.files, "pcap or pcapng files, merged by time; - is standard input")
      ->type_name("FILE")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return name.empty() ? std::string("is empty; must be a name") : std::string();
          },
          ""))
      ->required();
  command.add_option("--pmtu", options.path_mtu, "Path MTU of every connection, in place of what the packets show")
      ->type_name("BYTES")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  command.add_option("--mr-table", options.mr_table, "CSV file of memory regions: address,rkey,va,length,rights")
      ->type_name("FILE");
  command
      .add_option("--qp-table", options.qp_tables,
                  "What `rdma res show qp -j` printed on the host with that address; once for each host")
      ->type_name("ADDRESS=FILE")
      ->allow_extra_args(false);
  command.add_option("--qp", options.qpn, "Only connections with this QPN at either end")
      ->type_name("QPN")
      ->check(CLI::Range(0u, 0xffffffu));
  command.add_option("--from", options.from_s, "Leave out what comes earlier after the first packet")
      ->type_name("SECONDS")
      ->check(from_zero());
  command.add_option("--to", options.to_s, "Leave out what comes later after the first packet")
      ->type_name("SECONDS")
      ->check(from_zero());
}

void check(const CaptureOptions& o) {
  if (o.to_s && *o.to_s < o.from_s.value_or(0))
    throw InputError(fmt::format("--to {}: ends before --from {}", *o.to_s, o.from_s.value_or(0)));
}

std::vector<std::pair<traces::IpAddress, std::string>> qp_tables_of(const CaptureOptions& options) {
  std::vector<std::pair<traces::IpAddress, std::string>> tables;
  for (const std::string& text : options.qp_tables) {
    const size_t equals = text.find('=');
    const auto host = traces::parse_ip(text.substr(0, equals));
    if (equals == std::string::npos || !host)
      throw InputError("--qp-table: \"" + text +
                       "\"; allowed: ADDRESS=FILE, the host and what `rdma res show qp -j` printed there");
    tables.emplace_back(*host, text.substr(equals + 1));
  }
  return tables;
}

}  // namespace sim
