// The SystemC side of a clock domain: one process that owns the domain's stages, and a module for each stage so that
// the SystemC hierarchy mirrors the NIC (nic0.rx.bth).
//
// The process runs ahead of SystemC's time by at most `run_ahead`: whatever reaches another domain does so at least
// that much later, so no domain ever sees the past change. When nothing is due the process sleeps until the domain's
// next deadline or until another domain wakes it: idle time costs nothing and is skipped exactly.
#pragma once
#include <systemc>

#include "hw/bus/clock.hpp"
#include "sim/kernel/domain.hpp"

namespace sim {

// The module of one stage; logs and probes find it by its SystemC name.
class Shell : public sc_core::sc_module {
 public:
  Shell(const sc_core::sc_module_name& name, const StageRecord& record) : sc_module(name), record_(record) {}
  const StageRecord& record() const { return record_; }

 private:
  const StageRecord& record_;
};

// A module that only holds others: `rx`, `tables`, `tx` of a NIC.
class ShellGroup : public sc_core::sc_module {
 public:
  // Makes a shell for every stage whose name is `prefix` + one more word.
  ShellGroup(const sc_core::sc_module_name& name, const std::string& prefix, const Domain& domain);

 private:
  std::vector<std::unique_ptr<Shell>> shells_;
};

class ClockDomain : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ClockDomain);
  ClockDomain(const sc_core::sc_module_name& name, uint64_t hertz, const DomainOptions& options);

  Domain& domain() { return domain_; }
  const Domain& domain() const { return domain_; }
  const hw::Clock& clock() const { return clock_; }
  // How far the process may run ahead of SystemC's time: the smallest latency of anything that leaves the domain.
  void set_run_ahead(hw::Picoseconds run_ahead) { run_ahead_ = run_ahead; }

 private:
  // All stages are known by now: makes their shells, below this module in the hierarchy.
  void before_end_of_elaboration() override;
  void run();

  hw::Clock clock_;
  Domain domain_;
  hw::Picoseconds run_ahead_ = 1;
  sc_core::sc_event woken_;
  std::vector<std::unique_ptr<ShellGroup>> groups_;
  std::vector<std::unique_ptr<Shell>> shells_;
};

}  // namespace sim
