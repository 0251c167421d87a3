// [[connection]] of a scenario: queue pairs between nic0 and nic1, and the work requests of both ends one by one.
//
//   [[connection]]
//   name = "a"                 psn = [0x100, 0x800100]     (of nic0's first request, of nic1's)
//   pmtu, timeout, retry_count, max_reads                  (in place of those of [nic])
//   work = [
//     {op = "write", size = 65536, count = 100, depth = 16},      from = "nic0" unless said otherwise
//     {op = "read", size = 8, think_ns = 2000, depth = 1},
//     {from = "nic1", op = "send", size = 64, imm = 7, received = 1},
//   ]
#pragma once
#include <toml++/toml.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/work_list.hpp"
#include "sim/config/parameters.hpp"

namespace sim {

struct ConnectionPlan {
  std::string name;                                 // unique; the number of the connection, from 0, unless given
  std::string place;                                // in the file: "run.toml:9:1: "
  std::array<uint32_t, 2> psn{0x000100, 0x800100};  // of the first connection; the others' are apart
  std::optional<uint32_t> pmtu_bytes, timeout, retry_count, max_reads;
  std::array<std::vector<models::WorkRequest>, 2> work;  // of nic0, of nic1

  uint32_t pmtu(const NicConfig& nic) const { return pmtu_bytes.value_or(nic.pmtu_bytes); }
};

// The connections of a scenario's root table; throws InputError with file, line and column.
std::vector<ConnectionPlan> read_connections(const std::string& file, const toml::table& root);
// Throws InputError for connections that the configuration cannot hold.
void check_connections(const std::vector<ConnectionPlan>& connections, const Config& config);

}  // namespace sim
