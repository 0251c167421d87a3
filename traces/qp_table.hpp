#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "traces/ip_address.hpp"

namespace traces {

/// Which QPN a queue pair of a host is connected to, from what `rdma res show qp -j` printed on that host. The output
/// does not name the host's address, so it is given with the file.
class QpTable {
 public:
  /// Adds the RC queue pairs of `host`. Throws InputError: file, entry, value and what is allowed.
  void read(const IpAddress& host, const std::string& file);

  /// The QPN at the other end of QP `qpn` of `host`.
  std::optional<uint32_t> peer_of(const IpAddress& host, uint32_t qpn) const;

  bool empty() const { return peers_.empty(); }

 private:
  std::map<std::pair<IpAddress, uint32_t>, uint32_t> peers_;
};

}  // namespace traces
