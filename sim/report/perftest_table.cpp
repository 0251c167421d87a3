#include "sim/report/perftest_table.hpp"

#include <fmt/format.h>

namespace sim {
namespace {

std::string address_line(const PerftestAddress& a) {
  return fmt::format(" {} address: LID 0000 QPN 0x{:04x} PSN 0x{:06x} RKey 0x{:06x} VAddr 0x{:016x}\n GID: {}\n",
                     a.side, a.qpn, a.psn, a.rkey, a.vaddr, a.ip);
}

}  // namespace

std::string perftest_rule() {
  return std::string(87, '-') + "\n";
}

std::string perftest_banner(const PerftestBanner& b, const std::vector<PerftestAddress>& addresses) {
  std::string text = perftest_rule();
  text += fmt::format("                    {}\n", b.title);
  text += fmt::format(" Dual-port       : OFF          Device         : {}\n", b.device);
  text += fmt::format(" Number of qps   : {:<12} Transport type : IB\n", b.qps);
  text += " Connection type : RC           Using SRQ      : OFF\n";
  text += fmt::format(" TX depth        : {}\n", b.tx_depth);
  if (b.rx_depth != 0) text += fmt::format(" RX depth        : {}\n", b.rx_depth);
  text += " CQ Moderation   : 1\n";
  text += fmt::format(" Mtu             : {}[B]\n", b.mtu_bytes);
  text += " Link type       : Ethernet\n";
  text += " GID index       : 0\n";
  if (b.outstanding_reads != 0) text += fmt::format(" Outstand reads  : {}\n", b.outstanding_reads);
  text += perftest_rule();
  for (const PerftestAddress& address : addresses) text += address_line(address);
  if (!addresses.empty()) text += perftest_rule();
  return text;
}

std::string bandwidth_heading(RateUnit unit) {
  const char* rate = unit == RateUnit::gigabits ? "Gb/sec" : "MB/sec";
  return fmt::format(" #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]\n", rate);
}

std::string bandwidth_row(const BandwidthRow& row, RateUnit unit) {
  const double bytes_per_unit = unit == RateUnit::gigabits ? 1e9 / 8 : 1 << 20;
  return fmt::format(" {:<10} {:<14} {:<18.2f} {:<20.2f} {:.6f}\n", row.bytes, row.iterations,
                     row.peak_bytes_per_s / bytes_per_unit, row.average_bytes_per_s / bytes_per_unit,
                     row.messages_per_s / 1e6);
}

std::string latency_heading() {
  return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
         "   99% percentile[usec]   99.9% percentile[usec]\n";
}

std::string latency_row(const LatencyRow& row) {
  return fmt::format(" {:<6} {:<14} {:<14.3f} {:<12.3f} {:<18.3f} {:<14.3f} {:<15.3f} {:<22.3f} {:.3f}\n", row.bytes,
                     row.iterations, row.min_us, row.max_us, row.typical_us, row.average_us, row.stdev_us, row.p99_us,
                     row.p999_us);
}

std::string latency_results(const std::vector<uint64_t>& picoseconds) {
  std::string text = "#, usec\n";
  for (size_t i = 0; i < picoseconds.size(); i++) text += fmt::format("{}, {:.3f}\n", i, double(picoseconds[i]) / 1e6);
  return text;
}

}  // namespace sim
