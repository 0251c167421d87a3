#include "operators.hpp"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/SmallString.h>

#include <cctype>
#include <functional>

namespace synth {

namespace {

using Expander = std::function<std::string(const std::vector<Operand>&, unsigned result_bits)>;

std::string bit(const Operand& x, unsigned i) {
  return x.text + "[" + std::to_string(i) + "]";
}

std::string zeros(unsigned bits) {
  return constant(bits, 0);
}

std::string bits_of(const std::vector<Operand>& x, unsigned) {
  std::string list;
  for (unsigned i = 0; i < x[0].bits; i++) list += (i ? ", " : "") + bit(x[0], i);
  return list;
}

std::string bytes_of(const std::vector<Operand>& x, unsigned) {
  std::string list;
  for (unsigned i = 0; i < x[0].bits; i += 8)
    list += (i ? ", " : "") + x[0].text + "[" + std::to_string(i + 7) + ":" + std::to_string(i) + "]";
  return list;
}

std::string sum_of_bits(const std::vector<Operand>& x, unsigned result_bits) {
  std::string sum;
  for (unsigned i = 0; i < x[0].bits; i++)
    sum += (i ? " + {" : "{") + zeros(result_bits - 1) + ", " + bit(x[0], i) + "}";
  return sum;
}

std::string search(const Operand& x, unsigned result_bits, bool from_top) {
  std::string chain;
  for (unsigned i = 0; i < x.bits; i++)
    chain += bit(x, from_top ? x.bits - 1 - i : i) + " ? " + constant(result_bits, i) + " : ";
  return chain + constant(result_bits, x.bits);
}

// Longer names first: @bits before any one-letter name it begins with.
const std::vector<std::pair<std::string, Expander>>& expanders() {
  using Operands = std::vector<Operand>;
  static const std::vector<std::pair<std::string, Expander>> list = {
      {"bits", bits_of},
      {"bytes", bytes_of},
      {"sum", sum_of_bits},
      {"first", [](const Operands& x, unsigned w) { return search(x[0], w, false); }},
      {"last", [](const Operands& x, unsigned w) { return search(x[0], w, true); }},
      {"w", [](const Operands& x, unsigned) { return constant(x[0].bits, x[0].bits); }},
      {"m", [](const Operands& x, unsigned) { return std::to_string(x[0].bits - 1); }},
      {"t", [](const Operands&, unsigned w) { return std::to_string(w - 1); }},
      {"d", [](const Operands& x, unsigned w) { return std::to_string(w - x[0].bits); }},
      {"z", [](const Operands& x, unsigned w) { return zeros(w - x[0].bits); }},
  };
  return list;
}

}  // namespace

const Operators& verilog_operators() {
  static const Operators table = {
      {"add", "@0 + @1"},
      {"sub", "@0 - @1"},
      {"mul", "@0 * @1"},
      {"and", "@0 & @1"},
      {"or", "@0 | @1"},
      {"xor", "@0 ^ @1"},
      {"shl", "@0 << @1"},
      {"lshr", "@0 >> @1"},
      {"ashr", "$signed(@0) >>> @1"},
      {"eq", "@0 == @1"},
      {"ne", "@0 != @1"},
      {"ugt", "@0 > @1"},
      {"uge", "@0 >= @1"},
      {"ult", "@0 < @1"},
      {"ule", "@0 <= @1"},
      {"sgt", "$signed(@0) > $signed(@1)"},
      {"sge", "$signed(@0) >= $signed(@1)"},
      {"slt", "$signed(@0) < $signed(@1)"},
      {"sle", "$signed(@0) <= $signed(@1)"},
      {"negative", "@0[@m]"},
      {"not.negative", "~@0[@m]"},
      {"select", "@0 ? @1 : @2"},
      {"zext", "{@z, @0}"},
      {"sext", "{{@d{@0[@m]}}, @0}"},
      {"trunc", "@0[@t:0]"},
      {"umin", "@0 < @1 ? @0 : @1"},
      {"umax", "@0 > @1 ? @0 : @1"},
      {"smin", "$signed(@0) < $signed(@1) ? @0 : @1"},
      {"smax", "$signed(@0) > $signed(@1) ? @0 : @1"},
      {"uadd.sat", "@1 > ~@0 ? ~(@0 & ~@0) : @0 + @1"},
      {"usub.sat", "@1 > @0 ? @0 & ~@0 : @0 - @1"},
      {"abs", "@0[@m] ? -@0 : @0"},
      {"bswap", "{@bytes}"},
      {"bitreverse", "{@bits}"},
      {"ctpop", "@sum"},
      {"cttz", "@first"},
      {"ctlz", "@last"},
      {"fshl", "(@0 << (@2 % @w)) | (@1 >> (@w - @2 % @w))"},
      {"fshr", "(@0 << (@w - @2 % @w)) | (@1 >> (@2 % @w))"},
      {"br.true", "@0"},
      {"br.false", "~@0"},
      {"switch", "@0 == @1"},
      {"both", "@0 & @1"},    // a path condition: this branch, and the path to it
      {"either", "@0 | @1"},  // two paths that lead to one block
      {"phi", "@0 ? @1 : @2"},
      {"merge", "@0 ? @1 : @2"},                   // a stored value, where paths meet
      {"which", "@0 ? @1 : @2"},                   // a load or store through a pointer to one of several objects
      {"element", "@0 == @1 ? @2 : @3"},           // an array in registers, indexed by a variable
      {"row", "@0[@1]"},                           // a table
      {"forward", "(@0 & (@1 == @2)) ? @3 : @4"},  // a table row stored earlier in the same step
      {"write", "if (@0) @1[@2] <= @3;"},
  };
  return table;
}

std::string spell(const Operators& operators, const std::string& kind, const std::vector<Operand>& operands,
                  unsigned result_bits) {
  const std::string& form = operators.at(kind);
  std::string text;
  for (size_t i = 0; i < form.size(); i++) {
    if (form[i] != '@') {
      text += form[i];
      continue;
    }
    if (isdigit(static_cast<unsigned char>(form[i + 1]))) {
      text += operands.at(size_t(form[++i] - '0')).text;
      continue;
    }
    for (const auto& [name, expand] : expanders()) {
      if (form.compare(i + 1, name.size(), name) != 0) continue;
      text += expand(operands, result_bits);
      i += name.size();
      break;
    }
  }
  return text;
}

bool slices(const Operators& operators, const std::string& kind) {
  const std::string& form = operators.at(kind);
  for (const char* sign : {"@0[", "@bits", "@bytes", "@sum", "@first", "@last"})
    if (form.find(sign) != std::string::npos) return true;
  return false;
}

std::string constant(unsigned bits, uint64_t value) {
  return constant(llvm::APInt(bits, value));
}

std::string constant(const llvm::APInt& value) {
  llvm::SmallString<160> hex;
  value.toString(hex, 16, false);
  return std::to_string(value.getBitWidth()) + "'h" + hex.str().lower();
}

}  // namespace synth
