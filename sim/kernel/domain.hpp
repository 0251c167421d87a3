// One clock domain: the stages that share a clock, called as plain functions, and only when there is work for them.
//
// A stage is called in the cycle after one in which it moved a token; else when an input becomes readable, an output
// gets room, or its own quiet time is over (rule 5). Streams describe the start of a cycle, so the order of the calls
// within a cycle changes nothing; `shuffle` proves it, `every_cycle` proves the sleeping right.
#pragma once
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "hw/bus/stream.hpp"

namespace sim {

struct DomainOptions {
  bool every_cycle = false;  // call every stage in every cycle
  bool shuffle = false;      // call the stages of a cycle in random order
  uint64_t seed = 1;         // of that order
};

// What the kernel knows of one stage; what a call needs stands first, in one cache line.
struct alignas(64) StageRecord {
  void* self = nullptr;  // the binding below
  void (*step)(void*) = nullptr;
  hw::Cycles (*quiet)(const void*) = nullptr;  // null: sleeps until a stream wakes it
  void (*skip)(void*, hw::Cycles) = nullptr;   // null: nothing happens to it while it sleeps
  hw::Cycles next = 0;                         // first cycle not yet stepped or skipped
  uint64_t calls = 0, active = 0;              // steps; steps that moved a token
  uint64_t (*held)(const void*) = nullptr;     // null: holds nothing beyond its streams

  std::string name;
  std::unique_ptr<void, void (*)(void*)> binding{nullptr, nullptr};
  std::vector<hw::StreamBase*> inputs, outputs;
};

namespace detail {

template <class S, class = void>
struct Sleeper {
  static constexpr bool has_quiet = false;
};
template <class S>
struct Sleeper<S, std::void_t<decltype(std::declval<const S&>().quiet())>> {
  static constexpr bool has_quiet = true;
};
template <class S, class = void>
struct Skipper {
  static constexpr bool has_skip = false;
};
template <class S>
struct Skipper<S, std::void_t<decltype(std::declval<S&>().skip(hw::Cycles()))>> {
  static constexpr bool has_skip = true;
};
template <class S, class = void>
struct Holder {
  static constexpr bool has_held = false;
};
template <class S>
struct Holder<S, std::void_t<decltype(std::declval<const S&>().held())>> {
  static constexpr bool has_held = true;
};

// A stage and the streams of its step(), behind one pointer.
template <class S, class... T>
struct Binding {
  S* stage;
  std::tuple<hls::stream<T>*...> ports;

  static void step(void* self) {
    Binding& b = *static_cast<Binding*>(self);
    std::apply([&b](auto*... s) { b.stage->step(*s...); }, b.ports);
  }
  static hw::Cycles quiet(const void* self) { return static_cast<const Binding*>(self)->stage->quiet(); }
  static void skip(void* self, hw::Cycles n) { static_cast<Binding*>(self)->stage->skip(n); }
  static uint64_t held(const void* self) { return static_cast<const Binding*>(self)->stage->held(); }
  static void destroy(void* self) { delete static_cast<Binding*>(self); }
};

}  // namespace detail

// Sees every step of a traced run, right behind it.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void stepped(int stage, hw::Cycles cycle) = 0;
};

class Domain {
 public:
  explicit Domain(const DomainOptions& options) : options_(options), random_(options.seed) {}
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // Adds a stage; the streams are the arguments of its step(), in order. Returns its number.
  template <class S, class... T>
  int add(const std::string& name, S& stage, hls::stream<T>&... ports) {
    using B = detail::Binding<S, T...>;
    StageRecord r;
    r.name = name;
    r.binding = {new B{&stage, {&ports...}}, &B::destroy};
    r.self = r.binding.get();
    r.step = &B::step;
    if constexpr (detail::Sleeper<S>::has_quiet) r.quiet = &B::quiet;
    if constexpr (detail::Skipper<S>::has_skip) r.skip = &B::skip;
    if constexpr (detail::Holder<S>::has_held) r.held = &B::held;
    return add_record(std::move(r));
  }

  // From now on `observer` sees every step, and models tell `causes` why. Without, nothing is spent on it.
  void observe(StepObserver& observer, hw::Causes& causes) {
    observer_ = &observer;
    hw::world().causes = causes_ = &causes;
  }

  // Runs every cycle before `end` in which something is due.
  void run(hw::Cycles end);
  // The next cycle in which something is due; kForever when all sleep.
  hw::Cycles next() const { return scheduler_.next(); }

  hw::Scheduler& scheduler() { return scheduler_; }
  std::vector<StageRecord>& stages() { return stages_; }
  const std::vector<StageRecord>& stages() const { return stages_; }
  // The last cycle in which a token moved; the same however the stages were called.
  hw::Cycles last_active() const { return last_active_; }
  // Cycles in which any stage was called.
  uint64_t cycles_run() const { return cycles_run_; }

 private:
  int add_record(StageRecord record);
  template <bool kObserved>
  void run_until(hw::Cycles end);
  template <bool kObserved>
  void run_cycle(hw::Cycles cycle, hw::Scheduler::Mask due);
  template <bool kObserved>
  hw::Scheduler::Mask call_in_order(const hw::Scheduler::Mask& due);
  template <bool kObserved>
  hw::Scheduler::Mask call_shuffled(const hw::Scheduler::Mask& due);
  template <bool kObserved>
  bool call(hw::World& world, int stage);
  static const char* name_of(const void* self, int stage);

  DomainOptions options_;
  std::mt19937_64 random_;
  hw::Scheduler scheduler_;
  std::vector<StageRecord> stages_;
  std::vector<int> order_;  // scratch of the shuffle
  StepObserver* observer_ = nullptr;
  hw::Causes* causes_ = nullptr;
  hw::Cycles last_active_ = 0;
  uint64_t cycles_run_ = 0;
};

}  // namespace sim
