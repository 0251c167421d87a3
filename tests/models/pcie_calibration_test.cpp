// The model in the set-ups of published measurements, at every point of their tables. Prints the table that stands in
// docs/timing-model.md:  models_tests --gtest_filter='PcieCalibration.*'
#include <cstdio>

#include "models/pcie_presets.hpp"
#include "tests/models/pcie_bench.hpp"

using models::MeasuredHost;
using models::PcieParams;
using test::DmaBench;

namespace {

constexpr double kTolerance = 0.05;
const hw::Clock kFine(1000000000);  // so that a cycle does not blur the comparison
constexpr double kStream = 1;       // ns from the model to the reader: the stream's cycle

// `bytes` of a transfer, 0 for none.
void compare(const std::string& what, uint64_t bytes, double published, double model, const char* unit) {
  const std::string size = bytes == 0 ? "" : std::to_string(bytes) + " B";
  std::printf("%-42s %7s %8.1f %8.1f %+5.1f %% %s\n", what.c_str(), size.c_str(), published, model,
              100 * (model / published - 1), unit);
  EXPECT_NEAR(model, published, kTolerance * published) << what << " " << bytes;
}

// From the command to the last beat, in ns.
double round_trip(const PcieParams& p, uint64_t bytes) {
  DmaBench<512> b(p, {false, false}, {{test::command(0, bytes)}, {}}, kFine);
  b.run(3000);
  return double(b.sink.cycles.back() - b.reads.cycles[0]) - 1 - kStream;
}

TEST(PcieCalibration, ReadRoundTrips) {
  struct Row {
    const char* name;
    MeasuredHost host;
    bool engine;
    std::vector<std::pair<uint64_t, double>> points;
  };
  const Row rows[] = {
      {"Haswell, LLC, DMA engine",
       MeasuredHost::kHaswell,
       true,
       {{8, 538}, {64, 552}, {256, 624}, {512, 702}, {1024, 854}, {2048, 1134}}},
      {"Broadwell, local, DMA engine",
       MeasuredHost::kBroadwell,
       true,
       {{8, 541}, {64, 552}, {256, 626}, {512, 701}, {1024, 847}, {2048, 1129}}},
      {"Broadwell, remote socket, DMA engine",
       MeasuredHost::kBroadwellRemote,
       true,
       {{8, 651}, {64, 676}, {256, 730}, {512, 809}, {1024, 962}, {2048, 1244}}},
      {"Haswell, direct command", MeasuredHost::kHaswell, false, {{8, 465}, {64, 482}}},
      {"Sandy Bridge, warm cache, direct command", MeasuredHost::kSandyBridgeWarm, false, {{8, 419}, {64, 436}}},
      {"Sandy Bridge, DRAM, direct command", MeasuredHost::kSandyBridgeCold, false, {{8, 476}, {64, 490}}},
  };
  for (const Row& row : rows)
    for (const auto& [bytes, published] : row.points)
      compare(row.name, bytes, published, round_trip(nfp6000(row.host, row.engine), bytes), "ns");
}

// Published: 560 to 565 ns from a DMA write to the end of a read of the same line.
TEST(PcieCalibration, WriteThenReadOfTheSameLine) {
  const PcieParams p = nfp6000(MeasuredHost::kHaswell, true);
  DmaBench<512> b(p, {false, false}, {{test::command(0, 64)}, {test::command(0, 64)}}, kFine);
  b.run(3000);
  ASSERT_EQ(test::to_packets<512>(b.sink.tokens).at(0), test::pattern(64, 0));
  compare("Haswell, write and read back", 64, 562.5, double(b.sink.cycles.back()) - 1 - kStream, "ns");
}

// Published: what the same device reads when many transfers overlap.
TEST(PcieCalibration, ReadsOverlap) {
  PcieParams p = nfp6000(MeasuredHost::kHaswell, true);
  DmaBench<512> b(p, {false, false}, {test::commands_of(512, 500), {}}, kFine);
  b.run(60000);
  const std::vector<hw::Cycles> ends = b.read_ends();
  ASSERT_EQ(ends.size(), 500u);
  compare("Haswell, reads of 512 B, rate", 512, 55.0, 512.0 * 8 * 399 / double(ends[499] - ends[100]), "Gb/s");
}

struct Rate {
  const char* name;
  PcieParams params;
  uint64_t bytes;
  double gbps;
};

// Published: what pcie-bench's model leaves for TLPs, and of that for data.
TEST(PcieCalibration, Rates) {
  const auto slot = test::slot;
  compare("Gen3 x8, raw", 0, 63.02, models::raw_gbps(slot(3, 8)), "Gb/s");
  for (const Rate& r : {Rate{"Gen3 x8, TLPs", slot(3, 8), 0, 57.88}, Rate{"Gen3 x16, TLPs", slot(3, 16), 0, 113.7},
                        Rate{"Gen4 x16, TLPs", slot(4, 16), 0, 227.4}, Rate{"Gen5 x16, TLPs", slot(5, 16), 0, 454.8}})
    compare(r.name, r.bytes, r.gbps, models::tlp_gbps(r.params), "Gb/s");
  for (const Rate& r : {Rate{"Gen4 x16, writes", slot(4, 16), 64, 165}, Rate{"Gen4 x16, writes", slot(4, 16), 256, 208},
                        Rate{"Gen4 x16, writes", slot(4, 16), 4096, 208}}) {
    DmaBench<512> b(r.params, {false, false}, {{}, test::commands_of(r.bytes, 1000)}, kFine);
    b.run(r.bytes * 40 + 10000);
    ASSERT_EQ(b.visible.size(), 1000u);
    compare(r.name, r.bytes, r.gbps, double(r.bytes) * 8 * 799 / (double(b.visible[999] - b.visible[200]) / 1000),
            "Gb/s");
  }
  PcieParams p = slot(4, 16);
  p.outstanding_reads = 256;  // 173 Gb/s and a round trip of 480 ns are 162 reads of 64 B
  DmaBench<512> b(p, {false, false}, {test::commands_of(64, 1000), {}}, kFine);
  b.run(20000);
  const std::vector<hw::Cycles> ends = b.read_ends();
  ASSERT_EQ(ends.size(), 1000u);
  compare("Gen4 x16, reads", 64, 173, 64.0 * 8 * 699 / double(ends[999] - ends[300]), "Gb/s");
}

}  // namespace
