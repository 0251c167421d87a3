// The wiring of the NIC itself, not run: nothing waits in a circle, no stream is too small for one token a cycle, and
// every stage is in the list that Verilog and co-simulation are made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <type_traits>

#include "hw/nic.hpp"
#include "sim/kernel/elaborate.hpp"

namespace {

const std::set<std::string> kSynthesized = {
#define STAGE(name, ...) #name,
#include "hw/synth/stages.def"
#undef STAGE
};

// "nic.rx.bth" is rx_bth there, "nic.tables.msn" is msn.
std::string name_in_synthesis(const std::string& stage) {
  std::string name = stage.substr(stage.find('.') + 1);
  if (name.compare(0, 7, "tables.") == 0) return name.substr(7);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

template <class Width>
class NicWiring : public testing::Test {
 protected:
  NicWiring() { nic_->wire(elaboration_); }

  std::unique_ptr<hw::Nic<Width::value>> nic_ = std::make_unique<hw::Nic<Width::value>>();
  sim::Domain domain_{sim::DomainOptions{}};
  sim::Elaboration elaboration_{"nic", Width::value, domain_};
};
using Widths = testing::Types<std::integral_constant<unsigned, 512>, std::integral_constant<unsigned, 1024>>;
TYPED_TEST_SUITE(NicWiring, Widths);

TYPED_TEST(NicWiring, NothingWaitsInACircle) {
  EXPECT_EQ(sim::wait_cycle(this->domain_, this->elaboration_), std::vector<std::string>());
}

// Time-outs are rare.
TYPED_TEST(NicWiring, EveryStreamButTimeOutsCarriesATokenACycle) {
  for (const std::string& line : sim::throughput_warnings(this->elaboration_.streams()))
    EXPECT_EQ(line.find("nic.tx.expired: "), 0u) << line;
}

TYPED_TEST(NicWiring, EveryStageIsSynthesized) {
  std::set<std::string> wired;
  for (const sim::StageRecord& stage : this->domain_.stages()) wired.insert(name_in_synthesis(stage.name));
  EXPECT_EQ(wired, kSynthesized);
}

}  // namespace
