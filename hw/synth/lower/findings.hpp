// Findings: why a source cannot become hardware, and where it stands.
#pragma once
#include <string>
#include <vector>

namespace llvm {
class DebugLoc;
class DILocation;
class Function;
class Instruction;
}  // namespace llvm

namespace synth {

// The line that a location stands for: code of the facades (hw/bus/) counts as the line of the stage that used it.
// Null when unknown.
const llvm::DILocation* source_line(const llvm::DebugLoc& at);

struct Finding {
  std::string file;
  unsigned line = 0;  // 0: unknown
  std::string kind, function, message;
};

class Findings {
 public:
  // Places the finding at the instruction's source line; code without a line counts as its function's.
  void add(const std::string& kind, const llvm::Instruction& at, const std::string& message);
  void add(const std::string& kind, const llvm::Function& in, const std::string& message);
  void add(const std::string& kind, const llvm::Function& in, const llvm::DebugLoc& at, const std::string& message);

  bool empty() const { return list_.empty(); }
  // By file and line, each once.
  std::vector<Finding> sorted() const;
  // One line each: `file:line: [kind] function: message`.
  std::string text() const;

 private:
  std::vector<Finding> list_;
};

}  // namespace synth
