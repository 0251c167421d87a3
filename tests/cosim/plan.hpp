// What generator and bench of the co-simulation must agree on: the instances (every stage in every configuration of
// its streams), and where each signal lies on the two wide ports of the Verilog top, in whole 32-bit words.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hw/bus/stream.hpp"
#include "hw/synth/ports.hpp"
#include "hw/timing.hpp"
#include "hw/tokens.hpp"
#include "sim/kernel/counters.hpp"
#include "tests/support/token_bits.hpp"

namespace cosim {

constexpr unsigned kConfigurations = 3;

struct Fifo {
  unsigned capacity, depth;
  hw::Kind kind;
};

inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Configuration 0 flows freely, 1 has the least that can be, the others are random.
inline Fifo fifo_of(uint64_t stage, uint64_t port, unsigned configuration) {
  if (configuration == 0) return {16, 2, hw::Kind::lutram};
  if (configuration == 1) return {1 + unsigned(mix(stage * 64 + port) % 2), 1, hw::Kind::reg};
  const uint64_t r = mix((stage * 64 + port) * 8 + configuration);
  return {3 + unsigned(r % 30), 1 + unsigned((r >> 8) % 5), hw::Kind(1 + (r >> 16) % 4)};
}

struct PortPlan {
  std::string name;
  bool is_input;
  size_t bits;  // of a token
  Fifo fifo;
  size_t to, from;  // first word on the port into, out of the Verilog
  size_t token_words() const { return (bits + 31) / 32; }
};

// Into: word 0 bit 0 push (inputs) or pop (outputs), then the token of an input.
// Out of: word 0 bit 0 wready or rvalid, bit 1 the stage's own pop or push; then the token of an output.
struct InstancePlan {
  std::string stage;
  unsigned configuration;
  std::vector<PortPlan> ports;
  std::vector<std::string> counters;
  size_t counter_words;  // first word of the counters out of the Verilog
  uint64_t to_seed() const { return ports.front().to * 4 + configuration; }
};

struct Plan {
  std::vector<InstancePlan> instances;
  size_t words_to = 0, words_from = 0;
};

// Adds the instances of one stage. `T` are the token types of its ports.
template <class S, class... T>
void add_stage(Plan& plan, const std::string& name, const std::vector<std::pair<std::string, bool>>& ports) {
  const size_t bits[] = {test::token_bits<T>()...};
  S stage;
  const uint64_t number = plan.instances.size() / kConfigurations;
  for (unsigned c = 0; c < kConfigurations; c++) {
    InstancePlan instance{name, c, {}, {}, 0};
    for (const sim::CounterValue& counter : sim::counters_of(stage)) instance.counters.push_back(counter.name);
    for (size_t p = 0; p < ports.size(); p++) {
      PortPlan port{ports[p].first, ports[p].second, bits[p], fifo_of(number, p, c), plan.words_to, plan.words_from};
      plan.words_to += 1 + (port.is_input ? port.token_words() : 0);
      plan.words_from += 1 + (port.is_input ? 0 : port.token_words());
      instance.ports.push_back(port);
    }
    instance.counter_words = plan.words_from;
    plan.words_from += instance.counters.size();
    plan.instances.push_back(instance);
  }
}

// The token type of a stream.
template <class Stream>
struct TokenOf;
template <class T>
struct TokenOf<hls::stream<T>> {
  typedef T type;
};

}  // namespace cosim
