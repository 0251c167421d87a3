#include "lower.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "emitter.hpp"
#include "frontend.hpp"
#include "verilog.hpp"

namespace synth {

namespace {

void refuse_loops(llvm::Function& top, Findings& findings) {
  llvm::DominatorTree dominators(top);
  const llvm::LoopInfo loops(dominators);
  for (const llvm::Loop* loop : loops) findings.add("loop", top, loop->getStartLoc(), "a loop that cannot be unrolled");
}

}  // namespace

std::string lower(const llvm::Module& module, const std::string& stage, Findings& findings) {
  return lower_flat(*flattened(module, stage), stage, stage, verilog_operators(), findings);
}

std::string lower_flat(llvm::Module& flat, const std::string& stage, const std::string& name,
                       const Operators& operators, Findings& findings) {
  llvm::Function& top = *flat.getFunction(stage);
  refuse_loops(top, findings);
  if (!findings.empty()) return "";
  const Memory memory(top, findings);
  if (!findings.empty()) return "";
  const Netlist netlist = Emitter(top, memory, operators, findings).run();
  if (!findings.empty()) return "";
  return module_text(name, memory, operators, netlist);
}

}  // namespace synth
