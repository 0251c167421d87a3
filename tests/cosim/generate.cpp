// Writes the Verilog top of the co-simulation: every stage with a FIFO on each of its ports, once per configuration.
#include <fstream>
#include <iostream>

#include "tests/cosim/stages.hpp"

namespace {

using cosim::InstancePlan;
using cosim::PortPlan;

std::string range(size_t word, size_t bits) {
  return "[" + std::to_string(word * 32 + bits - 1) + ":" + std::to_string(word * 32) + "]";
}
std::string bit(size_t word, size_t at) {
  return "[" + std::to_string(word * 32 + at) + "]";
}

void write_fifo(std::ostream& v, const std::string& prefix, const PortPlan& p) {
  const std::string w = "[" + std::to_string(p.bits - 1) + ":0] ";
  const std::string n = prefix + p.name;
  v << "  wire " << n << "_push, " << n << "_pop, " << n << "_wready, " << n << "_rvalid;\n"
    << "  wire " << w << n << "_wdata, " << n << "_rdata;\n"
    << "  hw_fifo #(.W(" << p.bits << "), .CAP(" << p.fifo.capacity << "), .DEPTH(" << p.fifo.depth << "), .KIND("
    << int(p.fifo.kind) << ")) " << n << "_fifo (.clk(clk), .rst_n(rst_n), .push(" << n << "_push), .wdata(" << n
    << "_wdata), .wready(" << n << "_wready), .pop(" << n << "_pop), .rdata(" << n << "_rdata), .rvalid(" << n
    << "_rvalid));\n";
  if (p.is_input) {
    v << "  assign " << n << "_push = to" << bit(p.to, 0) << ";\n  assign " << n << "_wdata = to"
      << range(p.to + 1, p.bits) << ";\n  assign from" << bit(p.from, 0) << " = " << n << "_wready;\n  assign from"
      << bit(p.from, 1) << " = " << n << "_pop;\n";
  } else {
    v << "  assign " << n << "_pop = to" << bit(p.to, 0) << ";\n  assign from" << bit(p.from, 0) << " = " << n
      << "_rvalid;\n  assign from" << bit(p.from, 1) << " = " << n << "_push;\n  assign from"
      << range(p.from + 1, p.bits) << " = " << n << "_rdata;\n";
  }
}

void write_instance(std::ostream& v, const InstancePlan& instance) {
  const std::string prefix = instance.stage + "_" + std::to_string(instance.configuration) + "_";
  for (const PortPlan& p : instance.ports) write_fifo(v, prefix, p);
  v << "  " << instance.stage << " " << prefix << "stage (.clk(clk), .rst_n(rst_n)";
  for (const PortPlan& p : instance.ports)
    for (const char* wire :
         {p.is_input ? "rdata" : "wdata", p.is_input ? "rvalid" : "wready", p.is_input ? "pop" : "push"})
      v << ", ." << p.name << "_" << wire << "(" << prefix << p.name << "_" << wire << ")";
  for (size_t i = 0; i < instance.counters.size(); i++)
    v << ", .cnt_" << instance.counters[i] << "(from" << range(instance.counter_words + i, 32) << ")";
  v << ");\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: cosim_generate FILE.v\n";
    return 2;
  }
  const cosim::Plan plan = cosim::make_plan();
  std::ofstream v(argv[1]);
  v << "// verilator lint_off UNDRIVEN\n// verilator lint_off UNUSED\nmodule cosim_top(input clk, input rst_n, input ["
    << plan.words_to * 32 - 1 << ":0] to, output [" << plan.words_from * 32 - 1 << ":0] from);\n";
  for (const InstancePlan& instance : plan.instances) write_instance(v, instance);
  v << "endmodule\n";
  return v.good() ? 0 : 1;
}
