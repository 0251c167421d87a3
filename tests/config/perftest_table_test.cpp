// The tables against golden text; the headings are those that perftest prints.
#include "sim/report/perftest_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace sim {
namespace {

TEST(PerftestTable, BandwidthInMegabytes) {
  // 65536 bytes at 11 GiB/s are 180224 messages a second.
  const double rate = 11.0 * (1 << 30);
  EXPECT_EQ(bandwidth_heading(RateUnit::megabytes) +
                bandwidth_row({65536, 5000, rate, rate, rate / 65536}, RateUnit::megabytes) +
                bandwidth_row({2, 5000, 0, 1048576, 524288}, RateUnit::megabytes),
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
            " 65536      5000           11264.00           11264.00             0.180224\n"
            " 2          5000           0.00               1.00                 0.524288\n");
}

TEST(PerftestTable, BandwidthInGigabits) {
  EXPECT_EQ(bandwidth_heading(RateUnit::gigabits) +
                bandwidth_row({8388608, 1000, 12.5e9, 12.25e9, 1460.3}, RateUnit::gigabits),
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
            " 8388608    1000           100.00             98.00                0.001460\n");
}

TEST(PerftestTable, Latency) {
  EXPECT_EQ(latency_heading() + latency_row({2, 1000, 1.5, 12.25, 1.625, 1.75, 0.125, 2, 10.5}),
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
            "   99% percentile[usec]   99.9% percentile[usec]\n"
            " 2      1000           1.500          12.250       1.625              1.750          0.125         "
            "  2.000                  10.500\n");
}

TEST(PerftestTable, Banner) {
  EXPECT_EQ(perftest_banner({"RDMA_Write BW Test", "nic0", 4, 128, 4096},
                            {{"local", 0x11, 0x1be4b9, 0x100, 0x7f0000000000, "10.77.0.1"},
                             {"remote", 0x12, 3, 0x200, 0x7f1000000000, "10.77.0.2"}}),
            "---------------------------------------------------------------------------------------\n"
            "                    RDMA_Write BW Test\n"
            " Dual-port       : OFF          Device         : nic0\n"
            " Number of qps   : 4            Transport type : IB\n"
            " Connection type : RC           Using SRQ      : OFF\n"
            " TX depth        : 128\n"
            " CQ Moderation   : 1\n"
            " Mtu             : 4096[B]\n"
            " Link type       : Ethernet\n"
            " GID index       : 0\n"
            "---------------------------------------------------------------------------------------\n"
            " local address: LID 0000 QPN 0x0011 PSN 0x1be4b9 RKey 0x000100 VAddr 0x00007f0000000000\n"
            " GID: 10.77.0.1\n"
            " remote address: LID 0000 QPN 0x0012 PSN 0x000003 RKey 0x000200 VAddr 0x00007f1000000000\n"
            " GID: 10.77.0.2\n"
            "---------------------------------------------------------------------------------------\n");
}

// However wide its values are, a row parts into as many columns as the heading names.
TEST(PerftestTable, ColumnsNeverRunTogether) {
  LatencyRow row;
  row.bytes = 4194304;
  row.iterations = 1000000000;
  row.min_us = row.max_us = row.typical_us = row.average_us = row.stdev_us = row.p99_us = row.p999_us = 1e15;
  std::istringstream cells(latency_row(row));
  size_t count = 0;
  for (std::string cell; cells >> cell;) count++;
  EXPECT_EQ(count, 9u);
}

}  // namespace
}  // namespace sim
