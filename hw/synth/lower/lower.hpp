// Lowering of one stage: from the module that clang made to one Verilog module.
#pragma once
#include <string>

#include "findings.hpp"
#include "operators.hpp"

namespace llvm {
class Module;
}

namespace synth {

// Verilog of `stage` as a module called `name`; empty with findings when it cannot be lowered.
std::string lower(const llvm::Module& module, const std::string& stage, const std::string& name,
                  const Operators& operators, Findings& findings);

}  // namespace synth
