// Lowers the probes, rightly and with each planted error, and writes the top of their co-simulation: all probes on
// the same inputs, every mutant beside its original with a bit that stays set once their outputs have differed.
// usage: generate PROBES.cpp INCLUDE_DIR RTL_DIR OUT_DIR
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "frontend.hpp"
#include "lower.hpp"
#include "mutants.hpp"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kOutBits = 64;

[[noreturn]] void fail(const std::string& message) {
  fprintf(stderr, "generate: %s\n", message.c_str());
  exit(1);
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool replace(std::string& text, const std::string& from, const std::string& to) {
  bool any = false;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    any = true;
  }
  return any;
}

class Generator {
 public:
  Generator(const llvm::Module& module, const fs::path& rtl) : module_(module), rtl_(rtl) {}

  void run(const fs::path& out) {
    lower_probes();
    for (const mutants::Spelling& s : mutants::kSpellings) misspell(s);
    fifos();
    for (const mutants::LibraryError& e : mutants::kLibraryErrors) break_library(e);
    write_top(out / "synth_top.v");
    std::ofstream list(out / "mutants.txt");
    for (const mutants::Planted& p : planted_) list << p.where << ": " << p.meaning << "\n";
  }

 private:
  std::string lowered(const std::string& stage, const std::string& name, const synth::Operators& operators) {
    std::unique_ptr<llvm::Module>& flat = flat_[stage];
    if (!flat) flat = synth::flattened(module_, stage);
    synth::Findings findings;
    std::string text = synth::lower_flat(*flat, stage, name, operators, findings);
    if (!findings.empty()) fail(findings.text());
    return text;
  }

  void lower_probes() {
    const std::vector<std::string> stages = synth::stage_names(module_);
    for (size_t i = 0; i < stages.size(); i++) {
      const std::string original = lowered(stages[i], stages[i], synth::verilog_operators());
      originals_.push_back({stages[i], original});
      modules_ += original;
      const std::string n = std::to_string(i);
      instances_ += "  " + stages[i] + " probe_" + n +
                    probe_ports("pop[" + n + "]", "push[" + n + "]", slice("wdata", i, kOutBits));
    }
  }

  // A mutant of the probe that is called as the kind, or else of every probe that uses it.
  void misspell(const mutants::Spelling& s) {
    synth::Operators operators = synth::verilog_operators();
    operators.at(s.kind) = s.wrong;
    std::string called = s.kind;
    replace(called, ".", "");
    bool used = false;
    for (const bool by_name : {true, false}) {
      for (size_t i = 0; i < originals_.size() && !used; i++) {
        const auto& [probe, original] = originals_[i];
        if (by_name && probe != called && probe != called + "_") continue;
        if (lowered(probe, probe, operators) == original) continue;
        used = true;
        plant_in_probe(i, lowered(probe, next_name(probe), operators), std::string(s.kind) + " as " + s.wrong);
      }
    }
    if (!used) fail("no probe uses '" + std::string(s.kind) + "'");
  }

  std::string next_name(const std::string& of) { return of + "__" + std::to_string(planted_.size()); }

  void plant_in_probe(size_t probe, const std::string& text, const std::string& meaning) {
    const std::string n = std::to_string(planted_.size()), p = std::to_string(probe), m = "m" + n;
    modules_ += text;
    instances_ += "  wire " + m + "_pop, " + m + "_push;\n  wire [63:0] " + m + "_wdata;\n  " +
                  next_name(originals_[probe].first) + " mutant_" + n +
                  probe_ports(m + "_pop", m + "_push", m + "_wdata");
    differ(m + "_pop != pop[" + p + "] | " + m + "_push != push[" + p + "] | (push[" + p + "] & " + m +
           "_wdata != " + slice("wdata", probe, kOutBits) + ")");
    planted_.push_back({meaning, originals_[probe].first});
  }

  void fifos() {
    for (size_t i = 0; i < std::size(mutants::kFifos); i++) instances_ += fifo("hw_fifo", i, "", "f_");
  }

  // A FIFO on the inputs of case i; `prefix` of its output wires, the top's own when it is f_.
  std::string fifo(const std::string& module, size_t i, const std::string& suffix, const std::string& prefix) {
    const mutants::FifoCase& c = mutants::kFifos[i];
    const std::string n = std::to_string(i);
    const bool own = prefix == "f_";
    return "  " + module + " #(.W(16), .CAP(" + std::to_string(c.capacity) + "), .DEPTH(" + std::to_string(c.depth) +
           "), .KIND(" + std::to_string(c.kind) + ")) fifo_" + n + suffix +
           " (.clk(clk), .rst_n(rst_n), .push(f_push[" + n + "]), .wdata(f_wdata), .pop(f_pop[" + n + "]), .wready(" +
           prefix + "wready" + (own ? "[" + n + "]" : "") + "), .rvalid(" + prefix + "rvalid" +
           (own ? "[" + n + "]" : "") + "), .rdata(" + (own ? slice("f_rdata", i, 16) : prefix + "rdata") + "));\n";
  }

  // A broken Ram is planted in both Ram probes and counts when one of them notices; a broken FIFO in all cases.
  void break_library(const mutants::LibraryError& e) {
    const std::string name = next_name(e.module);
    std::string text = read(rtl_ / (std::string(e.module) + ".v"));
    if (!replace(text, e.right, e.wrong)) fail(std::string("not in ") + e.module + ".v: " + e.right);
    replace(text, "module hw_", "module " + name + "_hw_");
    for (const char* part : {"count", "pointer", "delay", "reg", "lutram", "fast", "block"})
      replace(text, std::string("  hw_fifo_") + part + " ", "  " + name + "_hw_fifo_" + part + " ");
    modules_ += text;
    std::string any;
    if (std::string(e.module) == "hw_ram") {
      any = broken_ram(name);
    } else {
      any = broken_fifo(name);
    }
    differ(any);
    planted_.push_back({e.meaning, e.module});
  }

  std::string broken_ram(const std::string& name) {
    std::string any;
    for (size_t i = 0; i < originals_.size(); i++) {
      std::string text = originals_[i].second;
      const std::string probe = originals_[i].first, m = name + probe, p = std::to_string(i);
      if (!replace(text, "hw_ram #", name + "_hw_ram #")) continue;
      replace(text, "module " + probe + " ", "module " + m + " ");
      modules_ += text;
      instances_ += "  wire " + m + "_pop, " + m + "_push;\n  wire [63:0] " + m + "_wdata;\n  " + m + " i_" + m +
                    probe_ports(m + "_pop", m + "_push", m + "_wdata");
      any += (any.empty() ? "" : " | ") + std::string("(push[") + p + "] & " + m +
             "_wdata != " + slice("wdata", i, kOutBits) + ")";
    }
    return any;
  }

  std::string broken_fifo(const std::string& name) {
    std::string any;
    for (size_t i = 0; i < std::size(mutants::kFifos); i++) {
      const std::string n = std::to_string(i), m = name + "_" + n + "_";
      instances_ += "  wire " + m + "wready, " + m + "rvalid;\n  wire [15:0] " + m + "rdata;\n" +
                    fifo(name + "_hw_fifo", i, "_" + name, m);
      any += (any.empty() ? "" : " | ") + m + "wready != f_wready[" + n + "] | " + m + "rvalid != f_rvalid[" + n +
             "] | (f_rvalid[" + n + "] & " + m + "rdata != " + slice("f_rdata", i, 16) + ")";
    }
    return any;
  }

  static std::string slice(const std::string& bus, size_t i, size_t bits) {
    return bus + "[" + std::to_string(i * bits + bits - 1) + ":" + std::to_string(i * bits) + "]";
  }

  static std::string probe_ports(const std::string& pop, const std::string& push, const std::string& wdata) {
    return " (.clk(clk), .rst_n(rst_n), .in_rdata(rdata), .in_rvalid(rvalid), .in_pop(" + pop + "), .out_wdata(" +
           wdata + "), .out_wready(wready), .out_push(" + push + "));\n";
  }

  void differ(const std::string& condition) {
    seen_ += "    if (!rst_n) seen[" + std::to_string(planted_.size()) + "] <= 1'b0;\n    else if (" + condition +
             ") seen[" + std::to_string(planted_.size()) + "] <= 1'b1;\n";
  }

  void write_top(const fs::path& path) const {
    const size_t probes = originals_.size(), fifo_count = std::size(mutants::kFifos);
    std::ofstream v(path);
    v << "// verilator lint_off PINMISSING\nmodule synth_top (input clk, input rst_n, input [135:0] rdata, input "
         "rvalid, input wready,\n"
      << "  output [" << probes - 1 << ":0] pop, output [" << probes - 1 << ":0] push, output ["
      << probes * kOutBits - 1 << ":0] wdata,\n  input [" << fifo_count - 1 << ":0] f_push, input [" << fifo_count - 1
      << ":0] f_pop, input [15:0] f_wdata,\n  output [" << fifo_count - 1 << ":0] f_wready, output [" << fifo_count - 1
      << ":0] f_rvalid, output [" << fifo_count * 16 - 1 << ":0] f_rdata,\n  output reg [" << planted_.size() - 1
      << ":0] seen);\n"
      << instances_ << "  always @(posedge clk) begin\n"
      << seen_ << "  end\nendmodule\n"
      << modules_;
  }

  const llvm::Module& module_;
  const fs::path rtl_;
  std::map<std::string, std::unique_ptr<llvm::Module>> flat_;
  std::vector<std::pair<std::string, std::string>> originals_;  // probe, Verilog
  std::vector<mutants::Planted> planted_;
  std::string modules_, instances_, seen_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) fail("usage: generate PROBES.cpp INCLUDE_DIR RTL_DIR OUT_DIR");
  llvm::LLVMContext context;
  const auto module = synth::compile(context, {argv[1], {}, {argv[2]}});
  if (!module) return 1;
  fs::create_directories(argv[4]);
  Generator(*module, argv[3]).run(argv[4]);
  return 0;
}
