// From C++ to the LLVM IR of one stage: clang makes unoptimised IR, the passes here make straight-line code of it.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace synth {

struct Source {
  std::string file;
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::vector<std::string> include_dirs;
};

// Unoptimised IR with debug information, HW_LOWER defined; null when clang refuses (it has said why on stderr).
std::unique_ptr<llvm::Module> compile(llvm::LLVMContext& context, const Source& source);

// Names of the stages of a module, in order: functions NAME beside which a state object NAME_stage stands.
std::vector<std::string> stage_names(const llvm::Module& module);

// A copy in which `top` alone is left, all it calls inlined, loops not yet unrolled: what the loop check looks at.
std::unique_ptr<llvm::Module> inlined(const llvm::Module& module, const std::string& top);

// The same, all loops with constant bounds unrolled and the result simplified: what is lowered.
std::unique_ptr<llvm::Module> flattened(const llvm::Module& module, const std::string& top);

}  // namespace synth
