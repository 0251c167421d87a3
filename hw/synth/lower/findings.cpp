#include "findings.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include <algorithm>
#include <tuple>

namespace synth {

namespace {

std::string readable(const llvm::Function& f) {
  const std::string name = llvm::demangle(f.getName().str());
  return name.substr(0, name.find('('));
}

auto key(const Finding& f) {
  return std::tie(f.file, f.line, f.kind, f.message);
}

}  // namespace

const llvm::DILocation* source_line(const llvm::DebugLoc& at) {
  const llvm::DILocation* line = at.get();
  while (line && line->getInlinedAt() && line->getFilename().contains("/bus/")) line = line->getInlinedAt();
  return line && line->getLine() != 0 ? line : nullptr;
}

void Findings::add(const std::string& kind, const llvm::Function& in, const llvm::DebugLoc& at,
                   const std::string& message) {
  const llvm::DILocation* line = source_line(at);
  if (!line) return add(kind, in, message);
  list_.push_back({line->getFilename().str(), line->getLine(), kind, readable(in), message});
}

void Findings::add(const std::string& kind, const llvm::Instruction& at, const std::string& message) {
  add(kind, *at.getFunction(), at.getDebugLoc(), message);
}

void Findings::add(const std::string& kind, const llvm::Function& in, const std::string& message) {
  const llvm::DISubprogram* where = in.getSubprogram();
  list_.push_back(
      {where ? where->getFilename().str() : "?", where ? where->getLine() : 0, kind, readable(in), message});
}

std::vector<Finding> Findings::sorted() const {
  std::vector<Finding> result = list_;
  std::stable_sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) { return key(a) < key(b); });
  const auto same = [](const Finding& a, const Finding& b) { return key(a) == key(b); };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

std::string Findings::text() const {
  std::string text;
  for (const Finding& f : sorted())
    text += f.file + ":" + std::to_string(f.line) + ": [" + f.kind + "] " + f.function + ": " + f.message + "\n";
  return text;
}

}  // namespace synth
