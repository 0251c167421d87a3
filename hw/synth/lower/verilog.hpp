// Verilog text of a lowered stage: ports, instances, registers and tables around the emitter's wires.
#pragma once
#include <string>

#include "emitter.hpp"

namespace synth {

// Bits of an index into `count` rows, at least one.
unsigned index_bits(uint64_t count);

// What a slot holds at the start of a cycle: a register, a slice of an input, a constant; empty: nothing of meaning.
std::string initial_value(const Memory& memory, const Cell& cell, int64_t element);

std::string module_text(const std::string& name, const Memory& memory, const Operators& operators,
                        const Netlist& netlist);

}  // namespace synth
