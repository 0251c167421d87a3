// Operators: how each kind of IR instruction is spelled in Verilog. One table, so that a test can break one kind at a
// time and see whether the co-simulation notices.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace llvm {
class APInt;
}

namespace synth {

// A name or a sized constant.
struct Operand {
  std::string text;
  unsigned bits;
};

// Kind to template. In a template @0 .. @4 are operands, and, of operand 0 and the result:
//   @w the width as a constant of that width   @m the top bit's number   @t the result's top bit's number
//   @d the difference of widths                @z that many zero bits
//   @bits, @bytes lists of all bits or bytes from bit 0 on   @sum all bits added
//   @first, @last the number of the lowest or highest set bit, the width when there is none
using Operators = std::map<std::string, std::string>;

const Operators& verilog_operators();

// Spells `kind`. Operands that the template slices must be names.
std::string spell(const Operators& operators, const std::string& kind, const std::vector<Operand>& operands,
                  unsigned result_bits);
// True when `kind` slices operand 0.
bool slices(const Operators& operators, const std::string& kind);

// Sized constants: 12'hff.
std::string constant(unsigned bits, uint64_t value);
std::string constant(const llvm::APInt& value);

}  // namespace synth
