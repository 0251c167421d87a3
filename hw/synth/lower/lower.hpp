// Lowering of one stage: from the module that clang made to one Verilog module.
#pragma once
#include <string>

#include "findings.hpp"
#include "operators.hpp"

namespace llvm {
class Module;
}

namespace synth {

// Verilog of `stage`; empty with findings when it cannot be lowered.
std::string lower(const llvm::Module& module, const std::string& stage, Findings& findings);

// The second half of it: from a flattened module (frontend.hpp) to a Verilog module called `name`.
std::string lower_flat(llvm::Module& flat, const std::string& stage, const std::string& name,
                       const Operators& operators, Findings& findings);

}  // namespace synth
