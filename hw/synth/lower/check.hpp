// The synthesizability check (rule 11 of the stage contract), over IR in which nothing has been optimised away.
#pragma once
#include "findings.hpp"

namespace llvm {
class Module;
}

namespace synth {

// Loops of more rounds than this are refused: unrolled, they would be no hardware of a reasonable size.
constexpr unsigned kMaxRounds = 4096;

// All that keeps the functions of `module` from becoming hardware. Code of the system's headers is not looked into:
// calling it is the finding.
Findings check(const llvm::Module& module);

}  // namespace synth
