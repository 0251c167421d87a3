// What the subcommands that read captures have in common.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/ip_address.hpp"

namespace CLI {
class App;
}

namespace sim {

struct CaptureOptions {
  std::vector<std::string> files;  // captures, merged by time; "-" is standard input
  uint32_t path_mtu = 0;           // bytes; 0: inferred
  std::string mr_table;
  std::vector<std::string> qp_tables;  // ADDRESS=FILE
  std::optional<uint32_t> qpn;
  std::optional<double> from_s, to_s;  // after the first packet
};

void add_capture_options(CLI::App& command, CaptureOptions& options);

// What the parser cannot see. Throws InputError.
void check(const CaptureOptions& options);
std::vector<std::pair<traces::IpAddress, std::string>> qp_tables_of(const CaptureOptions& options);

}  // namespace sim
