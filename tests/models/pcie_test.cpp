// The formulas against the figures of docs/timing-model.md.
#include "models/pcie.hpp"

#include "tests/models/pcie_bench.hpp"

using models::PcieParams;
using test::slot;

namespace {

TEST(Pcie, RatesOfTheFactSheet) {
  EXPECT_NEAR(models::raw_gbps(slot(3, 8)), 63.02, 0.005);
  EXPECT_NEAR(models::tlp_gbps(slot(3, 8)), 57.88, 0.006);
  EXPECT_NEAR(models::tlp_gbps(slot(3, 16)), 113.7, 0.05);
  EXPECT_NEAR(models::tlp_gbps(slot(4, 16)), 227.4, 0.05);
  EXPECT_NEAR(models::tlp_gbps(slot(5, 16)), 454.8, 0.05);
}

TEST(Pcie, EffectiveRatesOfTheFactSheet) {
  const PcieParams p = slot(4, 16);
  EXPECT_NEAR(models::write_gbps(p, 64), 165, 0.5);
  EXPECT_NEAR(models::write_gbps(p, 256), 208, 0.5);
  EXPECT_NEAR(models::write_gbps(p, 4096), 208, 0.5);
  EXPECT_NEAR(models::read_gbps(p, 64), 173, 0.5);
}

TEST(Pcie, BytesOnTheLink) {
  PcieParams p;
  p.max_payload = 256;
  p.max_read_request = 512;
  EXPECT_EQ(models::write_link_bytes(p, 1), 25u);
  EXPECT_EQ(models::write_link_bytes(p, 256), 280u);
  EXPECT_EQ(models::write_link_bytes(p, 257), 305u);
  EXPECT_EQ(models::read_request_link_bytes(p, 512), 24u);
  EXPECT_EQ(models::read_request_link_bytes(p, 513), 48u);
  EXPECT_EQ(models::read_data_link_bytes(p, 512), 552u);
  p.cut_at_boundary = true;
  EXPECT_EQ(models::read_data_link_bytes(p, 512), 512u + 8 * 20);
}

TEST(Pcie, ABadParameterIsNamed) {
  const auto message = [](PcieParams p) -> std::string {
    try {
      models::check(p);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(PcieParams()), "accepted");
  EXPECT_EQ(message(slot(2, 8)), "pcie.generation = 2: allowed are 3, 4, 5");
  EXPECT_EQ(message(slot(4, 12)), "pcie.lanes = 12: allowed are 1, 2, 4, 8, 16");
  PcieParams p;
  p.max_payload = 64;
  EXPECT_EQ(message(p), "pcie.max_payload = 64: allowed are powers of two, 128 .. 4096");
  p = PcieParams();
  p.read_latency = 100000;
  EXPECT_EQ(message(p), "pcie.read_latency_ns = 100: allowed are 220 and more");
  p = PcieParams();
  p.posted_data = 15;
  EXPECT_EQ(message(p), "pcie.posted_data = 15: allowed are 16 and more");
  p = PcieParams();
  p.device_gbps = 57;
  p.outstanding_reads = 7;
  EXPECT_EQ(message(p), "pcie.outstanding_reads = 7: allowed are 8 and more");
}

}  // namespace
