// Every stage of the wiring is in the list that Verilog and co-simulation are made from, and the other way round.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

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

TEST(SynthesisList, HoldsTheStagesOfTheWiring) {
  const auto nic = std::make_unique<hw::Nic<512>>();
  sim::Domain domain{sim::DomainOptions{}};
  sim::Elaboration elaboration{"nic", 512, domain};
  nic->wire(elaboration);
  std::set<std::string> wired;
  for (const sim::StageRecord& stage : domain.stages()) wired.insert(name_in_synthesis(stage.name));
  EXPECT_EQ(wired, kSynthesized);
}

}  // namespace
