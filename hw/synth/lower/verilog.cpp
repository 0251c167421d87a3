#include "verilog.hpp"

#include <llvm/ADT/APInt.h>

#include <algorithm>
#include <sstream>

namespace synth {

namespace {

std::string range(unsigned bits) {
  return "[" + std::to_string(bits - 1) + ":0] ";
}

bool is_register(const Cell& cell) {
  return cell.kind == Cell::Kind::state && cell.slot >= 0 && (cell.stored || cell.counter);
}

class Printer {
 public:
  Printer(const std::string& name, const Memory& memory, const Operators& operators, const Netlist& netlist)
      : name_(name), memory_(memory), operators_(operators), netlist_(netlist) {}

  std::string text() {
    ports();
    registers();
    tables();
    rams();
    wires();
    outputs();
    clocked();
    out_ << "endmodule\n";
    return out_.str();
  }

 private:
  // Calls act(cell, element) for every register.
  template <class Act>
  void each_register(Act act) const {
    for (const Cell& cell : memory_.cells())
      for (int64_t e = 0; is_register(cell) && e < cell.elements(); e++) act(cell, e);
  }

  const std::string& final_value(const Cell& cell, int64_t e) const {
    return netlist_.end.slots[size_t(cell.slot + e)];
  }

  // A stream's reading half is its first three wires, its writing half the others; a Ram has all six.
  static std::pair<size_t, size_t> wires_of(const Instance& instance) {
    if (instance.facade != Facade::stream) return {0, 6};
    return instance.input ? std::make_pair<size_t, size_t>(0, 3) : std::make_pair<size_t, size_t>(3, 6);
  }

  static std::string counter_port(const Cell& cell, int64_t e) {
    const std::string name = cell.element_name(e);
    return "cnt_" + name.substr(0, name.rfind("_q")) + name.substr(name.rfind("_q") + 2);
  }

  void ports() {
    out_ << "module " << name_ << " (\n  input wire clk,\n  input wire rst_n";
    for (const Instance& instance : memory_.instances()) {
      const auto [first, end] = wires_of(instance);
      for (size_t i = first; i < end && instance.facade == Facade::stream; i++) {
        const Wire& w = instance.wires[i];
        out_ << ",\n  " << (w.leaves ? "output" : "input") << " wire " << range(w.bits) << instance.name << "_"
             << w.suffix;
      }
    }
    each_register([this](const Cell& cell, int64_t e) {
      if (cell.counter) out_ << ",\n  output wire " << range(cell.bits) << counter_port(cell, e);
    });
    out_ << "\n);\n";
  }

  void registers() {
    each_register([this](const Cell& cell, int64_t e) {
      out_ << "  reg " << range(cell.bits) << cell.element_name(e) << " = " << constant(memory_.initial(cell, e))
           << ";\n";
    });
  }

  // Contents as the initialiser has them; like Rams, tables keep them through a reset.
  void tables() {
    for (int c : memory_.tables()) {
      const Cell& cell = memory_.cells()[size_t(c)];
      out_ << "  reg " << range(cell.bits) << cell.name << " [0:" << cell.elements() - 1 << "];\n  initial begin\n";
      for (int64_t e = 0; e < cell.elements(); e++)
        out_ << "    " << cell.name << "[" << e << "] = " << constant(memory_.initial(cell, e)) << ";\n";
      out_ << "  end\n";
    }
  }

  void rams() {
    for (const Instance& ram : memory_.instances()) {
      if (ram.facade == Facade::stream) continue;
      for (const Wire& w : ram.wires) out_ << "  wire " << range(w.bits) << ram.name << "_" << w.suffix << ";\n";
      out_ << "  hw_ram #(.W(" << ram.wires[0].bits << "), .AW(" << ram.wires[2].bits << "), .N(" << ram.rows
           << "), .FWD(" << (ram.facade == Facade::ram_forward) << ")) " << ram.name
           << "_ram (.clk(clk), .rst_n(rst_n)";
      for (const Wire& w : ram.wires) out_ << ", ." << w.suffix << "(" << ram.name << "_" << w.suffix << ")";
      out_ << ");\n";
    }
  }

  void wires() {
    std::string origin;
    for (const Assignment& a : netlist_.wires) {
      if (a.origin != origin && !a.origin.empty()) out_ << "  // " << a.origin << "\n";
      origin = a.origin;
      out_ << "  wire " << range(a.bits) << a.name << " = " << a.expression << ";\n";
    }
  }

  // The values that make up a wire, first value in the lowest bits.
  std::string composed(const Wire& w) const {
    std::vector<std::pair<unsigned, std::string>> parts;
    for (int c : w.cells) {
      const Cell& cell = memory_.cells()[size_t(c)];
      for (int64_t e = 0; e < cell.elements(); e++) {
        const std::string& value = final_value(cell, e);
        parts.push_back({cell.low_of(e), value.empty() ? constant(cell.bits, 0) : value});
      }
    }
    std::sort(parts.rbegin(), parts.rend());
    if (parts.size() == 1) return parts[0].second;
    std::string list;
    for (const auto& p : parts) list += (list.empty() ? "{" : ", ") + p.second;
    return list + "}";
  }

  void outputs() {
    for (const Instance& instance : memory_.instances()) {
      const auto [first, end] = wires_of(instance);
      for (size_t i = first; i < end; i++) {
        const Wire& w = instance.wires[i];
        if (w.leaves) out_ << "  assign " << instance.name << "_" << w.suffix << " = " << composed(w) << ";\n";
      }
    }
    each_register([this](const Cell& cell, int64_t e) {
      if (cell.counter) out_ << "  assign " << counter_port(cell, e) << " = " << cell.element_name(e) << ";\n";
    });
  }

  void clocked() {
    std::ostringstream reset, next, writes;
    each_register([&](const Cell& cell, int64_t e) {
      reset << "      " << cell.element_name(e) << " <= " << constant(memory_.initial(cell, e)) << ";\n";
      next << "      " << cell.element_name(e) << " <= " << final_value(cell, e) << ";\n";
    });
    for (size_t t = 0; t < netlist_.end.tables.size(); t++) {
      const Cell& cell = memory_.cells()[size_t(memory_.tables()[t])];
      for (const TableWrite& w : netlist_.end.tables[t])
        writes << "      " << spell(operators_, "write", {{w.enable, 1}, {cell.name, 0}, {w.index, 0}, {w.data, 0}}, 0)
               << "\n";
    }
    if (!next.str().empty())
      out_ << "  always @(posedge clk) begin\n    if (!rst_n) begin\n"
           << reset.str() << "    end else begin\n"
           << next.str() << "    end\n  end\n";
    if (!writes.str().empty())
      out_ << "  always @(posedge clk) begin\n    if (rst_n) begin\n" << writes.str() << "    end\n  end\n";
  }

  const std::string& name_;
  const Memory& memory_;
  const Operators& operators_;
  const Netlist& netlist_;
  std::ostringstream out_;
};

}  // namespace

unsigned index_bits(uint64_t count) {
  unsigned bits = 1;
  while (bits < 63 && (uint64_t(1) << bits) < count) bits++;
  return bits;
}

std::string initial_value(const Memory& memory, const Cell& cell, int64_t element) {
  switch (cell.kind) {
    case Cell::Kind::state:
      return is_register(cell) ? cell.element_name(element) : constant(memory.initial(cell, element));
    case Cell::Kind::constant:
      return constant(memory.initial(cell, element));
    case Cell::Kind::flag:
      return constant(cell.bits, 0);
    case Cell::Kind::input: {
      if (cell.bits == cell.wire_bits) return cell.name;
      const unsigned low = cell.low_of(element);
      return cell.name + "[" + std::to_string(low + cell.bits - 1) + ":" + std::to_string(low) + "]";
    }
    default:
      return "";
  }
}

std::string module_text(const std::string& name, const Memory& memory, const Operators& operators,
                        const Netlist& netlist) {
  return Printer(name, memory, operators, netlist).text();
}

}  // namespace synth
