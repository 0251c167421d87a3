// The tables of perftest, heading for heading, so that what reads the output of ib_write_bw and ib_write_lat reads
// ours. Pure functions from numbers to text; every line ends with a newline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class RateUnit { megabytes, gigabits };  // 2^20 bytes/s (perftest's "MB/sec") or 10^9 bits/s

struct PerftestBanner {
  std::string title;  // "RDMA_Write BW Test"
  std::string device;
  uint32_t qps = 1;
  uint32_t tx_depth = 0;
  uint32_t mtu_bytes = 0;
  uint32_t rx_depth = 0;           // 0: no line
  uint32_t outstanding_reads = 0;  // 0: no line
};

/// One end of a QP, as perftest's "local address" line tells it.
struct PerftestAddress {
  std::string side;  // "local" or "remote"
  uint32_t qpn = 0, psn = 0, rkey = 0;
  uint64_t vaddr = 0;
  std::string ip;  // dotted IPv4 address
};

struct BandwidthRow {
  uint64_t bytes = 0;  // of a message
  uint64_t iterations = 0;
  double peak_bytes_per_s = 0;
  double average_bytes_per_s = 0;
  double messages_per_s = 0;
};

struct LatencyRow {
  uint64_t bytes = 0;
  uint64_t iterations = 0;
  double min_us = 0, max_us = 0, typical_us = 0, average_us = 0, stdev_us = 0;  // typical: the median
  double p99_us = 0, p999_us = 0;
};

/// The banner between dashed lines, the addresses, and the dashed line before the table.
std::string perftest_banner(const PerftestBanner& banner, const std::vector<PerftestAddress>& addresses);

std::string bandwidth_heading(RateUnit unit);
std::string bandwidth_row(const BandwidthRow& row, RateUnit unit);

std::string latency_heading();
std::string latency_row(const LatencyRow& row);
/// Every latency, one a line: "#, usec".
std::string latency_results(const std::vector<uint64_t>& picoseconds);

/// The dashed line that ends the table.
std::string perftest_rule();

}  // namespace sim
