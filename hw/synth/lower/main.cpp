// balboa-synth: the command line of the open route to hardware.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "frontend.hpp"
#include "lower.hpp"

namespace {

namespace fs = std::filesystem;

const char* const kUsage =
    "usage: balboa-synth STAGE -o DIR [-D NAME=VALUE]...   check and lower one stage to DIR/STAGE.v\n"
    "       balboa-synth --all -o DIR [-D NAME=VALUE]...   all stages\n"
    "       balboa-synth --check-only [STAGE]              the synthesizability check alone\n"
    "       balboa-synth --list                            the stages\n"
    "options: --source FILE   the tops (default: those of the NIC)     -I DIR   where its headers are\n"
    "exit: 0 good, 1 the source cannot become hardware, 2 bad usage\n";

struct Options {
  synth::Source source{BALBOA_SYNTH_DIR "/tops.cpp", {}, {BALBOA_SYNTH_DIR "/../.."}};
  std::string stage, directory;
  bool all = false, list = false, check_only = false;
};

int bad_usage(const std::string& message) {
  fprintf(stderr, "balboa-synth: %s\n%s", message.c_str(), kUsage);
  return 2;
}

// 0 when `options` is complete.
int parse(const std::vector<std::string>& arguments, Options& options) {
  for (size_t i = 0; i < arguments.size(); i++) {
    const std::string& a = arguments[i];
    if (a == "--all" || a == "--list" || a == "--check-only") {
      (a == "--all" ? options.all : a == "--list" ? options.list : options.check_only) = true;
    } else if (a == "-o" || a == "-D" || a == "-I" || a == "--source") {
      if (++i == arguments.size()) return bad_usage(a + " needs a value");
      if (a == "-o") options.directory = arguments[i];
      if (a == "-D") options.source.defines.push_back(arguments[i]);
      if (a == "-I") options.source.include_dirs.push_back(arguments[i]);
      if (a == "--source") options.source.file = arguments[i];
    } else if (a[0] == '-' || !options.stage.empty()) {
      return bad_usage("unknown argument '" + a + "'");
    } else {
      options.stage = a;
    }
  }
  if (options.list || options.check_only) return 0;
  if (options.stage.empty() != options.all) return bad_usage("name one stage, or --all");
  if (options.directory.empty()) return bad_usage("-o DIR is missing");
  return 0;
}

bool write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fprintf(stderr, "balboa-synth: cannot write %s\n", path.c_str());
  return bool(file);
}

bool copy_library(const fs::path& directory) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(BALBOA_SYNTH_DIR "/rtl", error))
    fs::copy_file(entry.path(), directory / entry.path().filename(), fs::copy_options::overwrite_existing, error);
  if (error) fprintf(stderr, "balboa-synth: cannot copy the Verilog library: %s\n", error.message().c_str());
  return !error;
}

int lower_all(const llvm::Module& module, const std::vector<std::string>& stages, const Options& options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (!copy_library(options.directory)) return 2;
  synth::Findings findings;
  for (const std::string& stage : stages) {
    synth::Findings here;
    const std::string text = synth::lower(module, stage, here);
    if (!here.empty()) {
      fputs(here.text().c_str(), stderr);
      findings = here;
    } else if (!write_file(fs::path(options.directory) / (stage + ".v"), text)) {
      return 2;
    }
  }
  return findings.empty() ? 0 : 1;
}

int run(const Options& options) {
  if (!fs::exists(options.source.file)) return bad_usage("no such file: " + options.source.file);
  llvm::LLVMContext context;
  const auto module = synth::compile(context, options.source);
  if (!module) return 1;
  std::vector<std::string> stages = synth::stage_names(*module);
  if (!options.stage.empty() && std::find(stages.begin(), stages.end(), options.stage) == stages.end())
    return bad_usage("no stage '" + options.stage + "'; --list names them");
  if (options.list) {
    for (const std::string& s : stages) puts(s.c_str());
    return 0;
  }
  const synth::Findings findings = synth::check(*module);
  fputs(findings.text().c_str(), stderr);
  if (!findings.empty()) return 1;
  if (options.check_only) return 0;
  if (!options.stage.empty()) stages = {options.stage};
  return lower_all(*module, stages, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const int status = parse(std::vector<std::string>(argv + 1, argv + argc), options);
  return status != 0 ? status : run(options);
}
