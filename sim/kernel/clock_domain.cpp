#include "sim/kernel/clock_domain.hpp"

#include <set>

namespace sim {

namespace {

sc_core::sc_time to_sc_time(hw::Picoseconds ps) {
  return sc_core::sc_time::from_value(ps);
}

hw::Picoseconds now_ps() {
  return sc_core::sc_time_stamp().value();
}

// "nic0.rx.bth" below "nic0." is "rx.bth".
std::string below(const std::string& name, const std::string& prefix) {
  return name.compare(0, prefix.size(), prefix) == 0 ? name.substr(prefix.size()) : name;
}

}  // namespace

ShellGroup::ShellGroup(const sc_core::sc_module_name& name, const std::string& prefix, const Domain& domain)
    : sc_module(name) {
  for (const StageRecord& stage : domain.stages()) {
    const std::string rest = below(stage.name, prefix);
    if (rest != stage.name && rest.find('.') == std::string::npos)
      shells_.push_back(std::make_unique<Shell>(rest.c_str(), stage));
  }
}

ClockDomain::ClockDomain(const sc_core::sc_module_name& name, uint64_t hertz, const DomainOptions& options)
    : sc_module(name), clock_(hertz), domain_(options) {
  domain_.scheduler().set_listener(
      [](void* self) { static_cast<ClockDomain*>(self)->woken_.notify(sc_core::SC_ZERO_TIME); }, this);
  SC_THREAD(run);
}

void ClockDomain::before_end_of_elaboration() {
  const std::string prefix = std::string(name()) + ".";
  std::set<std::string> made;
  for (const StageRecord& stage : domain_.stages()) {
    const std::string rest = below(stage.name, prefix);
    const size_t dot = rest.find('.');
    const std::string group = rest.substr(0, dot);
    if (dot == std::string::npos)
      shells_.push_back(std::make_unique<Shell>(rest.c_str(), stage));
    else if (made.insert(group).second)
      groups_.push_back(std::make_unique<ShellGroup>(group.c_str(), prefix + group + ".", domain_));
  }
}

void ClockDomain::run() {
  for (;;) {
    const hw::Cycles next = domain_.next();
    if (next == hw::kForever) {
      wait(woken_);
      continue;
    }
    const hw::Picoseconds due = clock_.edge(next);
    if (due > now_ps()) {
      wait(to_sc_time(due - now_ps()), woken_);
      continue;
    }
    domain_.run(clock_.edge_at_or_after(now_ps() + run_ahead_));
  }
}

}  // namespace sim

// SystemC's library wants this symbol; every program here has a main() of its own.
int sc_main(int, char**) {
  return 0;
}
