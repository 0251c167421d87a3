// The hardware counters of a stage (HW_COUNTERS) by name; none for a stage that has none.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "hw/bus/counter.hpp"

namespace sim {

struct CounterValue {
  std::string name;
  uint64_t value;
};

namespace detail {

class CounterCollector {
 public:
  std::vector<CounterValue> values;

  template <class... C>
  void operator()(const char* names, const C&... counters) {
    names_ = names;
    at_ = 0;
    (add(counters), ...);
  }

 private:
  void add(const hw::Counter& counter) {
    const size_t comma = std::min(names_.find(',', at_), names_.size());
    values.push_back({names_.substr(at_, comma - at_), counter.v.u64()});
    at_ = names_.find_first_not_of(", ", comma);
  }
  std::string names_;
  size_t at_ = 0;
};

template <class S, class = void>
struct HasCounters : std::false_type {};
template <class S>
struct HasCounters<S, std::void_t<decltype(std::declval<S&>().visit_counters(std::declval<CounterCollector&>()))>>
    : std::true_type {};

}  // namespace detail

// "nic0.rx.bth.packets 12", a counter a line.
inline std::string counters_text(const std::string& node, const std::vector<CounterValue>& counters) {
  std::string text;
  for (const CounterValue& c : counters) text += node + "." + c.name + " " + std::to_string(c.value) + "\n";
  return text;
}

template <class S>
std::vector<CounterValue> counters_of(S& stage) {
  detail::CounterCollector collector;
  if constexpr (detail::HasCounters<S>::value) stage.visit_counters(collector);
  return std::move(collector.values);
}

}  // namespace sim
