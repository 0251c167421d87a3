// Every stage as C++ beside its lowered Verilog: the same tokens, random stalls on every port, every push and pop of
// every stream compared in every cycle, every token and, at the end, every counter. usage: cosim [CYCLES] [SEED]
#include <verilated.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "Vcosim_top.h"
#include "tests/cosim/stages.hpp"
#include "tests/cosim/traffic.hpp"

namespace {

using cosim::InstancePlan;
using cosim::PortPlan;

// Readiness of the world outside in phases of 512 cycles, from always to hardly ever.
bool wants(uint64_t key, uint64_t cycle) {
  static constexpr unsigned kPercent[8] = {100, 100, 90, 50, 30, 100, 5, 70};
  return cosim::mix(key * 1000003 + cycle) % 100 < kPercent[cosim::mix(key + (cycle >> 9)) % 8];
}

// One instance of one stage.
class Instance {
 public:
  explicit Instance(const InstancePlan& plan) : plan_(plan), tokens_(plan.ports.size()) {}
  virtual ~Instance() = default;
  // Moves the model through the running cycle and prepares the inputs of the Verilog.
  virtual void drive(uint32_t* to, const uint32_t* from) = 0;
  // Compares what the stage itself did in this cycle.
  virtual void compare(const uint32_t* from) = 0;
  virtual void compare_counters(const uint32_t* from) = 0;

  uint64_t errors() const { return errors_; }
  const std::vector<uint64_t>& tokens() const { return tokens_; }
  const InstancePlan& plan() const { return plan_; }

 protected:
  void check(bool same, const char* port, const char* what) {
    if (same) return;
    if (errors_++ < 3)
      fprintf(stderr, "%s, configuration %u, cycle %llu: %s: %s differs\n", plan_.stage.c_str(), plan_.configuration,
              static_cast<unsigned long long>(hw::world().now), port, what);
  }

  const InstancePlan& plan_;
  std::vector<uint64_t> tokens_;  // through each port
  uint64_t errors_ = 0;
};

template <class S, class... T>
class InstanceOf : public Instance {
 public:
  InstanceOf(const InstancePlan& plan, uint64_t seed)
      : Instance(plan), seed_(seed), traffic_(cosim::Traffic<T>(cosim::mix(seed + plan.to_seed()))...) {
    configure(std::index_sequence_for<T...>());
  }

  void drive(uint32_t* to, const uint32_t* from) override {
    each([&](auto port) { drive_port<decltype(port)::value>(to, from); });
    std::apply([this](auto&... s) { stage_.step(s...); }, streams_);
  }
  void compare(const uint32_t* from) override {
    each([&](auto port) {
      constexpr size_t P = decltype(port)::value;
      const PortPlan& p = plan_.ports[P];
      const auto& s = std::get<P>(streams_);
      const hw::Cycles last = p.is_input ? s.last_read() : s.last_write();
      check(bool(from[p.from] & 2) == (last == hw::world().now), p.name.c_str(), p.is_input ? "pop" : "push");
    });
  }
  void compare_counters(const uint32_t* from) override {
    const uint32_t* word = from + plan_.counter_words;
    for (const sim::CounterValue& c : sim::counters_of(stage_))
      check(*word++ == uint32_t(c.value), c.name.c_str(), "counter");
  }

 private:
  template <class F>
  void each(F&& f) {
    each(f, std::index_sequence_for<T...>());
  }
  template <class F, size_t... P>
  void each(F&& f, std::index_sequence<P...>) {
    (f(std::integral_constant<size_t, P>()), ...);
  }
  template <size_t... P>
  void configure(std::index_sequence<P...>) {
    (configure_port(plan_.ports[P], std::get<P>(streams_)), ...);
  }
  template <class Stream>
  void configure_port(const PortPlan& p, Stream& s) {
    s.configure(hw::StreamSpec{p.name, p.fifo.capacity, p.fifo.kind});
    s.connect_writer(hw::StreamBase::End(), p.fifo.depth);
  }

  template <size_t P>
  void drive_port(uint32_t* to, const uint32_t* from) {
    const PortPlan& p = plan_.ports[P];
    auto& s = std::get<P>(streams_);
    const bool willing = wants(seed_ + plan_.to_seed() * 16 + P, hw::world().now);
    to[p.to] = 0;
    if (p.is_input) {
      check(bool(from[p.from] & 1) == !s.full(), p.name.c_str(), "room");
      if (!willing || s.full()) return;
      auto token = std::get<P>(traffic_).next();
      test::pack(token, to + p.to + 1, p.token_words());
      s.write(token);
    } else {
      check(bool(from[p.from] & 1) == !s.empty(), p.name.c_str(), "presence of a token");
      if (!willing || s.empty()) return;
      auto token = s.read();
      scratch_.resize(p.token_words());
      test::pack(token, scratch_.data(), scratch_.size());
      check(std::equal(scratch_.begin(), scratch_.end(), from + p.from + 1), p.name.c_str(), "token");
    }
    to[p.to] = 1;
    tokens_[P]++;
  }

  uint64_t seed_;
  S stage_;
  std::tuple<hls::stream<T>...> streams_;
  std::tuple<cosim::Traffic<T>...> traffic_;
  std::vector<uint32_t> scratch_;
};

struct InstanceMaker {
  const cosim::Plan& plan;
  uint64_t seed;
  std::vector<std::unique_ptr<Instance>> instances;
  template <class S, class... T>
  void stage(const char*, const std::vector<std::pair<std::string, bool>>&) {
    for (unsigned c = 0; c < cosim::kConfigurations; c++)
      instances.push_back(std::make_unique<InstanceOf<S, T...>>(plan.instances[instances.size()], seed));
  }
};

void clock_edge(Vcosim_top& top) {
  top.clk = 1;
  top.eval();
  top.clk = 0;
  top.eval();
}

uint64_t report(const std::vector<std::unique_ptr<Instance>>& instances) {
  uint64_t errors = 0, idle = 0;
  for (size_t i = 0; i < instances.size(); i += cosim::kConfigurations) {
    const InstancePlan& plan = instances[i]->plan();
    printf("%-18s", plan.stage.c_str());
    uint64_t wrong = 0;
    for (size_t p = 0; p < plan.ports.size(); p++) {
      uint64_t tokens = 0;
      for (size_t c = 0; c < cosim::kConfigurations; c++) tokens += instances[i + c]->tokens()[p];
      printf(" %s %llu", plan.ports[p].name.c_str(), static_cast<unsigned long long>(tokens));
      idle += tokens == 0;
    }
    for (size_t c = 0; c < cosim::kConfigurations; c++) wrong += instances[i + c]->errors();
    printf("%s\n", wrong == 0 ? "  equal" : "  DIFFERENT");
    errors += wrong;
  }
  if (idle != 0) printf("%llu ports saw no token\n", static_cast<unsigned long long>(idle));
  return errors + idle;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t cycles = argc > 1 ? strtoull(argv[1], nullptr, 0) : 100000;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
  const cosim::Plan plan = cosim::make_plan();
  InstanceMaker maker{plan, seed, {}};
  cosim::for_each_stage(maker);

  auto top = std::make_unique<Vcosim_top>();
  uint32_t* to = top->to.data();
  const uint32_t* from = top->from.data();
  top->rst_n = 0;
  top->clk = 0;
  for (int i = 0; i < 4; i++) clock_edge(*top);
  top->rst_n = 1;
  top->eval();
  for (uint64_t cycle = 0; cycle < cycles; cycle++) {
    hw::reset_world(cycle);
    for (auto& i : maker.instances) i->drive(to, from);
    top->eval();
    for (auto& i : maker.instances) i->compare(from);
    clock_edge(*top);
  }
  // Counters are a cycle late (hw/bus/counter.hpp): one idle cycle more.
  std::fill_n(to, plan.words_to, 0);
  top->eval();
  clock_edge(*top);
  for (auto& i : maker.instances) i->compare_counters(from);
  printf("%llu cycles, %zu instances, seed %llu\n", static_cast<unsigned long long>(cycles), maker.instances.size(),
         static_cast<unsigned long long>(seed));
  return report(maker.instances) == 0 ? 0 : 1;
}
