// Emitter: the instructions of one straight-line function as wires, its loads and stores as values that follow the
// control flow. One call of the function is one clock cycle.
#pragma once
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory.hpp"
#include "operators.hpp"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace synth {

struct Assignment {
  unsigned bits;
  std::string name, expression;
  std::string origin;  // file:line of the source
};

struct TableWrite {
  std::string enable, index, data;
};

// What stands in memory at one point of the function.
struct State {
  std::vector<std::string> slots;               // value of each slot; empty: of no meaning
  std::vector<std::vector<TableWrite>> tables;  // stores so far in this step, oldest first
};

struct Netlist {
  std::vector<Assignment> wires;
  State end;  // at the return
};

class Emitter {
 public:
  Emitter(llvm::Function& top, const Memory& memory, const Operators& operators, Findings& findings);
  Netlist run();

 private:
  using Operands = std::vector<Operand>;

  State entry() const;
  void emit(llvm::Instruction& i, State& state);
  void emit_intrinsic(const llvm::IntrinsicInst& i);
  void emit_phi(const llvm::Instruction& phi);
  void emit_plain(const llvm::Instruction& i, const std::string& kind, unsigned operands);

  // Memory: loads, stores and what becomes of them where paths meet (emit_memory.cpp).
  std::string load(const llvm::Instruction& i, State& state);
  void store(const llvm::Instruction& i, State& state);
  std::string read(const Place& place, const State& state);
  void write(const Place& place, const std::string& condition, const std::string& value, State& state);
  std::string row_number(const Place& place, unsigned bits);
  State merge(const llvm::BasicBlock& block);
  std::string merge_values(const std::vector<std::string>& conditions, const std::vector<std::string>& values,
                           unsigned bits);
  std::string taken(const Choice& choice);

  // Conditions under which control goes from one block to another.
  std::string edge(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  std::string branch(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  std::string reach(const llvm::BasicBlock& from, const llvm::BasicBlock& to);
  std::vector<const llvm::BasicBlock*> predecessors(const llvm::BasicBlock& block) const;

  std::string wire(const std::string& kind, const Operands& operands, unsigned bits);
  std::string named(const std::string& text, unsigned bits);
  std::string use(const llvm::Value* value);
  Operand operand(const llvm::Value* value);
  std::string resized(const std::string& text, unsigned from, unsigned to);

  llvm::Function& top_;
  const Memory& memory_;
  const Operators& operators_;
  Findings& findings_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  Netlist netlist_;
  std::string origin_;
  std::unordered_map<std::string, std::string> known_;  // expression to wire
  std::map<const llvm::Value*, std::string> values_;
  std::map<const llvm::BasicBlock*, State> out_;
  std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, std::string> reach_;
};

}  // namespace synth
