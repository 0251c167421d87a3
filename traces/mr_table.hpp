#pragma once

#include <string>
#include <vector>

#include "traces/ip_address.hpp"
#include "traces/memory_regions.hpp"

namespace traces {

/// The memory regions of hosts, from a CSV file with the columns `address,rkey,va,length,rights`.
class MrTable {
 public:
  /// Throws InputError: file, line, value and what is allowed.
  static MrTable read(const std::string& file);

  bool has_host(const IpAddress& host) const;
  std::vector<MemoryRegion> regions_of(const IpAddress& host) const;

  /// True when the host has a region that holds the access and permits it.
  bool permits(const IpAddress& host, const MemoryAccess& access) const;

 private:
  struct Row {
    IpAddress host;
    MemoryRegion region;
  };
  std::vector<Row> rows_;  ///< ascending by host and rkey
};

}  // namespace traces
