// Memory: every place that a stage's function may load from or store to, as the hardware it stands for.
//
// A cell is one value of an object: a register, a constant, a wire of a stream or Ram, or a local. Cells of arrays
// have dimensions; an array of the state that is indexed by a variable becomes a Verilog memory (a table), all other
// arrays become one slot per element. A slot is what the emitter follows along the control flow.
#pragma once
#include <llvm/ADT/SmallVector.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "findings.hpp"
#include "layout.hpp"

namespace llvm {
class APInt;
class DataLayout;
class Function;
class GlobalVariable;
class Instruction;
class Value;
}  // namespace llvm

namespace synth {

struct Dimension {
  int64_t stride;  // bytes
  int64_t count;
  unsigned bit_stride;  // when packed into a wire
};

struct Cell {
  enum class Kind {
    state,     // register or table
    constant,  // constant object
    input,     // bits of a wire that enters
    flag,      // wire that leaves, zero unless stored
    data,      // bits of a wire that leaves, of no meaning unless stored
    local,     // array local to the function
    tag,       // takes no bits
  };
  Kind kind;
  std::string name;  // of the register, memory or wire
  unsigned bits;
  unsigned wire_bits = 0;  // input, flag, data: of the whole wire
  unsigned low = 0;        // first bit inside the wire
  bool counter = false;
  const llvm::GlobalVariable* global = nullptr;  // state, constant: where the initial value stands
  int64_t offset = 0;                            // bytes from the object's start, of element 0
  std::vector<Dimension> dimensions = {};        // outermost first
  bool stored = false, indexed = false;
  int slot = -1;   // the first of elements(), -1 for a table
  int table = -1;  // number of the table, -1 otherwise

  int64_t elements() const;
  unsigned low_of(int64_t element) const;
  int64_t offset_of(int64_t element) const;
  std::string element_name(int64_t element) const;
};

// An address as the IR computes it: object + offset + sum of value * scale.
struct Address {
  const llvm::Value* object = nullptr;
  int64_t offset = 0;
  llvm::SmallVector<std::pair<const llvm::Value*, int64_t>, 2> index;
};

// One of the objects that a pointer may point into, and the way there: at each select or phi, which operand.
struct Choice {
  Address address;
  llvm::SmallVector<std::pair<const llvm::Instruction*, unsigned>, 2> taken;
};

// An element of a cell: `element` + sum of value * factor.
struct Place {
  int cell = -1;
  int64_t element = 0;
  llvm::SmallVector<std::pair<const llvm::Value*, int64_t>, 2> index;
};

// The wires of a stream or Ram.
struct Wire {
  std::string suffix;
  unsigned bits;
  bool leaves;             // from the stage
  std::vector<int> cells;  // of which it is composed
};
struct Instance {
  Facade facade;
  std::string name;
  bool input = false;  // a stream that the stage reads; otherwise one that it writes
  uint64_t rows = 0;
  std::vector<Wire> wires = {};
};

class Memory {
 public:
  Memory(const llvm::Function& top, Findings& findings);

  const std::vector<Cell>& cells() const { return cells_; }
  const std::vector<Instance>& instances() const { return instances_; }
  int slots() const { return slots_; }
  const std::vector<int>& tables() const { return tables_; }  // cells
  llvm::APInt initial(const Cell& cell, int64_t element) const;

  // All objects that `pointer` may point into; empty when one of them is unknown.
  std::vector<Choice> choices(const llvm::Value* pointer) const;
  // False when no single value of `bits` bits stands there.
  bool find(const Address& address, unsigned bits, Place& place) const;

 private:
  struct Context;
  void add_object(const llvm::Value& object, const Layout& layout, Context context);
  void flatten(const Layout& layout, Context context);
  void add_cell(const Layout& leaf, const Context& context);
  void add_instance(const Layout& layout, const Context& context);
  void add_globals(const llvm::Function& top);
  bool note_access(const llvm::Instruction& access, Findings& findings);
  void assign_slots();
  bool walk(const llvm::Value* pointer, Choice& way, std::vector<Choice>& found) const;
  std::string unique(const std::string& name);

  const llvm::DataLayout& data_;
  std::map<const llvm::Value*, std::vector<int>> objects_;
  std::set<std::string> names_;
  std::vector<Cell> cells_;
  std::vector<Instance> instances_;
  std::vector<int> tables_;
  int slots_ = 0;
};

}  // namespace synth
