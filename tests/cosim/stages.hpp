// Makes the plan of all stages from the lists that the synthesis tops come from (hw/synth/stages.def, narrow.def).
#pragma once
#include "hw/nic.hpp"
#include "tests/cosim/plan.hpp"

namespace cosim {

// COSIM_STAGE, when it is not empty, leaves one stage of the list.
inline bool is_wanted(const std::string& stage) {
  const std::string only = COSIM_STAGE;
  return only.empty() || only == stage;
}

// F is called as visit.template stage<S, T...>(name, ports) for each stage of the list.
// NOLINTBEGIN(bugprone-macro-parentheses): a type's argument takes none
#define COSIM_TYPE(stage, index, direction, port) \
  , typename TokenOf<hw::synth::Port<hw::synth::Parenthesised<stage##_type>::type, index>>::type
// NOLINTEND(bugprone-macro-parentheses)
#define COSIM_NAME_in true
#define COSIM_NAME_out false
#define COSIM_NAME(stage, index, direction, port) {#port, COSIM_NAME_##direction},

template <class F>
void for_each_stage(F&& visit) {
#define STAGE(name, parenthesised, ...)                                                                            \
  if (is_wanted(#name)) {                                                                                          \
    typedef void name##_type parenthesised;                                                                        \
    visit.template stage<hw::synth::Parenthesised<name##_type>::type HW_EACH_PORT(COSIM_TYPE, name, __VA_ARGS__)>( \
        #name, {HW_EACH_PORT(COSIM_NAME, name, __VA_ARGS__)});                                                     \
  }
#include "hw/synth/stages.def"
#include "tests/cosim/narrow.def"
#undef STAGE
}

struct PlanMaker {
  Plan plan;
  template <class S, class... T>
  void stage(const char* name, const std::vector<std::pair<std::string, bool>>& ports) {
    add_stage<S, T...>(plan, name, ports);
  }
};

inline Plan make_plan() {
  PlanMaker maker;
  for_each_stage(maker);
  return std::move(maker.plan);
}

}  // namespace cosim
