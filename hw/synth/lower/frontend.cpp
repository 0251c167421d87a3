#include "frontend.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace synth {

namespace {

// Exceptions stay on: the check has to see a throw, and invoke is lowered to call afterwards.
const char* const kFlags[] = {"-x",
                              "c++",
                              "-std=c++14",
                              "-DHW_LOWER",
                              "-O2",
                              "-g",
                              "-fstandalone-debug",
                              "-fno-strict-aliasing",
                              "-fno-vectorize",
                              "-fno-slp-vectorize",
                              "-Wno-bit-int-extension",
                              "-Xclang",
                              "-disable-llvm-passes",
                              "-c",
                              "-emit-llvm"};

const char* const kInline =
    "globaldce,function(lowerinvoke,simplifycfg),always-inline,globaldce,"
    "function(sroa,early-cse,simplifycfg,instcombine,loop-simplify,lcssa,loop(loop-rotate),sroa,instcombine,"
    "loop-simplify,lcssa,loop(indvars))";
const char* const kUnroll =
    "function(loop-simplify,lcssa,loop(loop-unroll-full),sroa,early-cse,gvn,instcombine,simplifycfg,dse,adce,"
    "instcombine,simplifycfg,mergereturn)";

// The unroller takes its limits from LLVM's own options only.
void lift_unroll_limits() {
  static bool done = false;
  if (done) return;
  done = true;
  const char* const arguments[] = {"balboa-synth", "-unroll-threshold=100000000",
                                   "-unroll-max-iteration-count-to-analyze=0"};
  llvm::cl::ParseCommandLineOptions(3, arguments);
}

void run(llvm::Module& module, const std::string& pipeline) {
  lift_unroll_limits();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

// A copy in which every function but `top` vanishes into its caller.
std::unique_ptr<llvm::Module> isolated(const llvm::Module& module, const std::string& top) {
  auto copy = llvm::CloneModule(module);
  for (llvm::Function& f : *copy) {
    if (f.isDeclaration() || f.getName() == top) continue;
    f.removeFnAttr(llvm::Attribute::NoInline);
    f.removeFnAttr(llvm::Attribute::OptimizeNone);
    f.addFnAttr(llvm::Attribute::AlwaysInline);
    f.setComdat(nullptr);
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  return copy;
}

struct TemporaryFile {
  llvm::SmallString<128> path;
  TemporaryFile() {
    if (llvm::sys::fs::createTemporaryFile("balboa-synth", "bc", path)) path.clear();
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }
};

}  // namespace

std::unique_ptr<llvm::Module> compile(llvm::LLVMContext& context, const Source& source) {
  const auto clang = llvm::sys::findProgramByName("clang++-16");
  if (!clang) {
    llvm::errs() << "balboa-synth: clang++-16 is not installed\n";
    return nullptr;
  }
  const TemporaryFile output;
  std::vector<std::string> arguments{*clang};
  arguments.insert(arguments.end(), std::begin(kFlags), std::end(kFlags));
  for (const std::string& d : source.defines) arguments.push_back("-D" + d);
  for (const std::string& d : source.include_dirs) arguments.push_back("-I" + d);
  arguments.insert(arguments.end(), {source.file, "-o", output.path.str().str()});
  const std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  if (llvm::sys::ExecuteAndWait(*clang, views) != 0) return nullptr;
  llvm::SMDiagnostic error;
  auto module = llvm::parseIRFile(output.path, error, context);
  if (!module) error.print("balboa-synth", llvm::errs());
  return module;
}

std::vector<std::string> stage_names(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& f : module)
    if (!f.isDeclaration() && module.getNamedGlobal((f.getName() + "_stage").str())) names.push_back(f.getName().str());
  return names;
}

std::unique_ptr<llvm::Module> inlined(const llvm::Module& module, const std::string& top) {
  auto copy = isolated(module, top);
  run(*copy, kInline);
  return copy;
}

std::unique_ptr<llvm::Module> flattened(const llvm::Module& module, const std::string& top) {
  auto copy = isolated(module, top);
  run(*copy, std::string(kInline) + "," + kUnroll);
  return copy;
}

}  // namespace synth
