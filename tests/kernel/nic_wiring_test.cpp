// The wiring of the NIC itself, not run: nothing waits in a circle, and no stream is too small for one token a cycle.
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "hw/nic.hpp"
#include "sim/kernel/elaborate.hpp"

namespace {

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

}  // namespace
