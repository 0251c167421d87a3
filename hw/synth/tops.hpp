// Turns a list of stages into what the lowering takes. Include after the stages, and the list after it:
//
//   STAGE(rx_bth, (hw::rx::Bth), IN(in), OUT(out))
//
// becomes the object rx_bth_stage, one stream per port called rx_bth_in and rx_bth_out, whose section tells the
// lowering its direction, and the function rx_bth() that makes one step: one clock cycle. All objects must be
// initialised by constants.
#pragma once
#include "ports.hpp"

namespace hw {
namespace synth {

struct Settle {
  template <class... C>
  void operator()(const char*, C&... counters) const {
    const int each[] = {(counters.settle(), 0)...};
    (void)each;
  }
};
template <class S>
auto settle_counters(S& stage, int) -> decltype(stage.visit_counters(Settle())) {
  stage.visit_counters(Settle());
}
template <class S>
void settle_counters(S&, long) {}

template <class S, class... P>
void step(S& stage, P&... ports) {
  settle_counters(stage, 0);
  stage.step(ports...);
}

}  // namespace synth
}  // namespace hw

#define HW_TOP_PORT(stage, index, direction, port)                     \
  __attribute__((section("hw_" #direction "." #stage)))                \
  hw::synth::Port<hw::synth::Parenthesised<stage##_type>::type, index> \
      stage##_##port;
#define HW_TOP_ARGUMENT(stage, index, direction, port) , stage##_##port

#define STAGE(name, parenthesised, ...)                                             \
  typedef void name##_type parenthesised;                                           \
  HW_EACH_PORT(HW_TOP_PORT, name, __VA_ARGS__)                                      \
  hw::synth::Parenthesised<name##_type>::type name##_stage;                         \
  extern "C" void name() {                                                          \
    hw::synth::step(name##_stage HW_EACH_PORT(HW_TOP_ARGUMENT, name, __VA_ARGS__)); \
  }
