#include "check.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "frontend.hpp"

namespace synth {

namespace {

// Functions outside the module, by the beginning of their (mangled) name.
struct Known {
  const char* prefix;
  const char* kind;
};
const Known kKnown[] = {{"_Znw", "heap"},
                        {"_Zna", "heap"},
                        {"_Zdl", "heap"},
                        {"_Zda", "heap"},
                        {"malloc", "heap"},
                        {"calloc", "heap"},
                        {"realloc", "heap"},
                        {"free", "heap"},
                        {"aligned_alloc", "heap"},
                        {"__cxa_guard", "static"},
                        {"__cxa_pure", "virtual"},
                        {"__cxa_", "exception"},
                        {"_ZSt9terminate", "exception"},
                        {"printf", "io"},
                        {"fprintf", "io"},
                        {"puts", "io"},
                        {"putchar", "io"},
                        {"fputs", "io"},
                        {"fputc", "io"},
                        {"fwrite", "io"},
                        {"fopen", "io"},
                        {"scanf", "io"},
                        {"_ZNSo", "io"},
                        {"_ZStls", "io"},
                        {"_ZNSi", "io"}};

const char* kind_of_call(llvm::StringRef callee) {
  for (const Known& k : kKnown)
    if (callee.startswith(k.prefix)) return k.kind;
  return "call";
}

bool is_system(const llvm::Function& f) {
  const llvm::DISubprogram* where = f.getSubprogram();
  return where && (where->getFilename().startswith("/usr/") || where->getFilename().contains("/include/c++/"));
}

bool is_memory_builtin(llvm::StringRef name) {
  return name == "memcpy" || name == "memset" || name == "memmove";
}

bool uses_vtable(const llvm::Instruction& i) {
  for (const llvm::Value* v : i.operands()) {
    auto* base = llvm::dyn_cast<llvm::GlobalVariable>(v->stripInBoundsConstantOffsets());
    if (base && base->getName().startswith("_ZTV")) return true;
  }
  return false;
}

bool is_floating(const llvm::Instruction& i) {
  if (i.getType()->isFPOrFPVectorTy()) return true;
  for (const llvm::Value* v : i.operands())
    if (v->getType()->isFPOrFPVectorTy()) return true;
  return false;
}

bool is_division(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
      return true;
    default:
      return false;
  }
}

class Checker {
 public:
  explicit Checker(const llvm::Module& module) : module_(module) {}

  Findings run() {
    for (const llvm::Function& f : module_)
      if (!f.isDeclaration() && !is_system(f) && !is_made_by_clang(f)) check_function(f);
    check_globals();
    check_recursion();
    if (findings_.empty()) check_loops();
    return std::move(findings_);
  }

 private:
  static bool is_made_by_clang(const llvm::Function& f) {
    for (const char* prefix : {"__cxx_global_", "_GLOBAL__", "__clang_call_terminate"})
      if (f.getName().startswith(prefix)) return true;
    return false;
  }

  void check_function(const llvm::Function& f) {
    for (const llvm::Instruction& i : llvm::instructions(f)) check_instruction(i);
  }

  void check_instruction(const llvm::Instruction& i) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) check_call(*call);
    if (is_floating(i)) findings_.add("float", i, "floating point");
    if (uses_vtable(i)) findings_.add("virtual", i, "an object with virtual functions is made");
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(&i);
    if (local && local->isArrayAllocation()) findings_.add("alloca", i, "a local array of variable length");
  }

  void check_call(const llvm::CallBase& call) {
    if (llvm::isa<llvm::IntrinsicInst>(call)) return;
    if (call.isInlineAsm()) return findings_.add("asm", call, "inline assembly");
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return findings_.add("indirect", call, "a call through a pointer, or of a virtual function");
    const std::string name = llvm::demangle(callee->getName().str());
    if (is_system(*callee) && !callee->isDeclaration())
      return findings_.add(kind_of_call(callee->getName()), call, "calls " + name + " of the system's headers");
    if (callee->isDeclaration() && !is_memory_builtin(callee->getName()))
      findings_.add(kind_of_call(callee->getName()), call, "calls " + name);
  }

  // State belongs into stages: what the functions may change is the stage and its ports, nothing else.
  void check_globals() {
    for (const llvm::Function& f : module_)
      if (f.getName().startswith("__cxx_global_var_init")) add_initialiser(f);
    for (const llvm::GlobalVariable& g : module_.globals()) {
      llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> found;
      g.getDebugInfo(found);
      if (g.isConstant() || found.empty()) continue;
      auto* scope = llvm::dyn_cast_or_null<llvm::DISubprogram>(found[0]->getVariable()->getScope());
      if (!scope) continue;
      for (const llvm::Function& f : module_)
        if (f.getSubprogram() == scope) add_static(f, *found[0]->getVariable());
    }
  }

  // The line of the object stands in the code that initialises it.
  void add_initialiser(const llvm::Function& f) {
    for (const llvm::Instruction& i : llvm::instructions(f))
      if (i.getDebugLoc() && i.getDebugLoc().getLine() != 0)
        return findings_.add("initialiser", i, "an object whose initial value is no constant");
    findings_.add("initialiser", f, "an object whose initial value is no constant");
  }

  void add_static(const llvm::Function& f, const llvm::DIGlobalVariable& variable) {
    const auto at = llvm::DILocation::get(module_.getContext(), variable.getLine(), 0,
                                          const_cast<llvm::DISubprogram*>(f.getSubprogram()));
    findings_.add("static", f, at, "static local '" + variable.getName().str() + "' keeps state outside the stage");
  }

  // Tarjan's components of the call graph: a cycle is a recursion.
  void check_recursion() {
    llvm::CallGraph graph(const_cast<llvm::Module&>(module_));
    for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
      if (!component.hasCycle()) continue;
      for (const llvm::CallGraphNode* node : *component) {
        const llvm::Function* f = node->getFunction();
        if (f && !is_system(*f)) add_recursion(*f, *component);
      }
    }
  }

  void add_recursion(const llvm::Function& f, const std::vector<llvm::CallGraphNode*>& component) {
    for (const llvm::Instruction& i : llvm::instructions(f)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
      if (!call || !call->getCalledFunction()) continue;
      for (const llvm::CallGraphNode* node : component)
        if (node->getFunction() == call->getCalledFunction())
          return findings_.add("recursion", i,
                               "calls itself, by way of " + llvm::demangle(node->getFunction()->getName().str()));
    }
  }

  // Loops and stored pointers show only after inlining, so they are looked for in every function that can be a top.
  void check_loops() {
    for (const llvm::Function& f : module_) {
      if (f.isDeclaration() || !f.hasExternalLinkage() || is_system(f)) continue;
      const auto module = inlined(module_, f.getName().str());
      llvm::Function& top = *module->getFunction(f.getName());
      check_bounds(top);
      check_values(top);
    }
  }

  void check_bounds(llvm::Function& top) {
    llvm::DominatorTree dominators(top);
    llvm::LoopInfo loops(dominators);
    llvm::TargetLibraryInfoImpl library;
    llvm::TargetLibraryInfo functions(library);
    llvm::AssumptionCache assumptions(top);
    llvm::ScalarEvolution evolution(top, functions, assumptions, dominators, loops);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const unsigned rounds = evolution.getSmallConstantMaxTripCount(loop);
      if (rounds == 0) findings_.add("loop", top, loop->getStartLoc(), "a loop without a constant bound");
      if (rounds > kMaxRounds)
        findings_.add("loop", top, loop->getStartLoc(),
                      "a loop of " + std::to_string(rounds) + " rounds, at most " + std::to_string(kMaxRounds));
    }
  }

  // A division inside a loop may be one of constants once the loop is unrolled: the lowering decides.
  void check_values(llvm::Function& top) {
    const llvm::DominatorTree dominators(top);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Instruction& i : llvm::instructions(top)) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
      if (store && store->getValueOperand()->getType()->isPointerTy()) findings_.add("pointer", i, "stores a pointer");
      if (llvm::isa<llvm::IntToPtrInst>(i) || llvm::isa<llvm::PtrToIntInst>(i))
        findings_.add("pointer", i, "a pointer is used as a number");
      if (is_division(i) && !loops.getLoopFor(i.getParent()))
        findings_.add("division", i, "division by what is no power of two");
    }
  }

  const llvm::Module& module_;
  Findings findings_;
};

}  // namespace

Findings check(const llvm::Module& module) {
  return Checker(module).run();
}

}  // namespace synth
