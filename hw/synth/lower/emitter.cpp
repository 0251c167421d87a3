#include "emitter.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/Path.h>

namespace synth {

namespace {

const std::string kTrue = "1'h1";

unsigned width(const llvm::Value* v) {
  return v->getType()->getIntegerBitWidth();
}

std::string origin_of(const llvm::Instruction& i) {
  const llvm::DILocation* line = source_line(i.getDebugLoc());
  if (!line) return "";
  return llvm::sys::path::filename(line->getFilename()).str() + ":" + std::to_string(line->getLine());
}

// Instructions that name no hardware.
bool is_silent(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::dbg_declare:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::dbg_label:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
      return true;
    default:
      return false;
  }
}

// Intrinsics by name, with the number of operands that count (the rest say what may be assumed).
const std::map<std::string, unsigned> kIntrinsics = {
    {"umin", 2},  {"umax", 2},       {"smin", 2},  {"smax", 2}, {"uadd.sat", 2}, {"usub.sat", 2}, {"abs", 1},
    {"bswap", 1}, {"bitreverse", 1}, {"ctpop", 1}, {"cttz", 1}, {"ctlz", 1},     {"fshl", 3},     {"fshr", 3}};

// The kind of a comparison. Those that ask for the sign alone are one bit, which Yosys does not find by itself.
std::string kind_of(const llvm::ICmpInst& compare) {
  const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(compare.getOperand(1));
  if (bound && compare.getPredicate() == llvm::CmpInst::ICMP_SLT && bound->isZero()) return "negative";
  if (bound && compare.getPredicate() == llvm::CmpInst::ICMP_SGT && bound->isMinusOne()) return "not.negative";
  return llvm::CmpInst::getPredicateName(compare.getPredicate()).str();
}

}  // namespace

Emitter::Emitter(llvm::Function& top, const Memory& memory, const Operators& operators, Findings& findings)
    : top_(top), memory_(memory), operators_(operators), findings_(findings), dominators_(top), post_dominators_(top) {}

Netlist Emitter::run() {
  llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&top_);
  for (llvm::BasicBlock* block : blocks) {
    State state = block->isEntryBlock() ? entry() : merge(*block);
    for (llvm::Instruction& i : *block) {
      origin_ = origin_of(i);
      emit(i, state);
      if (!findings_.empty()) return netlist_;
    }
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) netlist_.end = state;
    out_[block] = std::move(state);
  }
  return std::move(netlist_);
}

void Emitter::emit(llvm::Instruction& i, State& state) {
  using llvm::isa;
  if (isa<llvm::GetElementPtrInst>(i) || isa<llvm::AllocaInst>(i) || i.isTerminator()) return;
  if (i.getType()->isPointerTy() && (isa<llvm::PHINode>(i) || isa<llvm::SelectInst>(i))) return;
  if (isa<llvm::StoreInst>(i)) return store(i, state);
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) return emit_intrinsic(*intrinsic);
  if (!i.getType()->isIntegerTy()) return findings_.add("unsupported", i, std::string(i.getOpcodeName()));
  if (isa<llvm::LoadInst>(i)) {
    values_[&i] = load(i, state);
  } else if (isa<llvm::PHINode>(i)) {
    emit_phi(i);
  } else if (isa<llvm::FreezeInst>(i)) {
    values_[&i] = use(i.getOperand(0));
  } else if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&i)) {
    if (!compare->getOperand(0)->getType()->isIntegerTy()) return findings_.add("pointer", i, "pointers are compared");
    emit_plain(i, kind_of(*compare), 2);
  } else {
    emit_plain(i, i.getOpcodeName(), i.getNumOperands());
  }
}

void Emitter::emit_plain(const llvm::Instruction& i, const std::string& kind, unsigned operands) {
  if (!operators_.count(kind)) return findings_.add("unsupported", i, "no hardware for '" + kind + "'");
  Operands list;
  for (unsigned k = 0; k < operands; k++) {
    if (!i.getOperand(k)->getType()->isIntegerTy()) return findings_.add("pointer", i, "a pointer is used as a value");
    list.push_back(operand(i.getOperand(k)));
  }
  values_[&i] = wire(kind, list, width(&i));
}

void Emitter::emit_intrinsic(const llvm::IntrinsicInst& i) {
  if (is_silent(i.getIntrinsicID())) return;
  const std::string name = llvm::Intrinsic::getBaseName(i.getIntrinsicID()).substr(5).str();
  const auto known = kIntrinsics.find(name);
  if (known == kIntrinsics.end() || !i.getType()->isIntegerTy())
    return findings_.add("unsupported", i, "no hardware for '" + name + "'");
  emit_plain(i, name, known->second);
}

void Emitter::emit_phi(const llvm::Instruction& i) {
  const auto& phi = llvm::cast<llvm::PHINode>(i);
  const auto from = predecessors(*phi.getParent());
  std::string value = use(phi.getIncomingValueForBlock(from.back()));
  for (size_t k = from.size() - 1; k-- > 0;) {
    const Operand other = operand(phi.getIncomingValueForBlock(from[k]));
    if (other.text == value) continue;
    value = wire("phi", {{edge(*from[k], *phi.getParent()), 1}, other, {value, width(&i)}}, width(&i));
  }
  values_[&i] = value;
}

// The condition of entering `to` from `from`, given that to's immediate dominator runs.
std::string Emitter::edge(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  const llvm::BasicBlock* dominator = dominators_.getNode(&to)->getIDom()->getBlock();
  const std::string path = reach(*dominator, from), here = branch(from, to);
  if (path == kTrue) return here;
  if (here == kTrue) return path;
  return wire("both", {{path, 1}, {here, 1}}, 1);
}

// The condition of leaving `from` towards `to`, given that `from` runs.
std::string Emitter::branch(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  const llvm::Instruction* end = from.getTerminator();
  if (auto* br = llvm::dyn_cast<llvm::BranchInst>(end)) {
    if (br->isUnconditional() || br->getSuccessor(0) == br->getSuccessor(1)) return kTrue;
    return wire(br->getSuccessor(0) == &to ? "br.true" : "br.false", {operand(br->getCondition())}, 1);
  }
  // A switch: one of the cases that lead to `to`; for its default, none of those that lead elsewhere.
  const auto& sw = llvm::cast<llvm::SwitchInst>(*end);
  const bool is_default = sw.getDefaultDest() == &to;
  const Operand value = operand(sw.getCondition());
  std::string any;
  for (const auto& c : sw.cases()) {
    if ((c.getCaseSuccessor() == &to) == is_default) continue;
    const std::string hit = wire("switch", {value, {constant(c.getCaseValue()->getValue()), value.bits}}, 1);
    any = any.empty() ? hit : wire("either", {{any, 1}, {hit, 1}}, 1);
  }
  if (!is_default) return any;
  return any.empty() ? kTrue : wire("br.false", {{any, 1}}, 1);
}

// The condition of coming to `to`, given that its dominator `from` runs.
std::string Emitter::reach(const llvm::BasicBlock& from, const llvm::BasicBlock& to) {
  if (&from == &to) return kTrue;
  const auto key = std::make_pair(&from, &to);
  const auto known = reach_.find(key);
  if (known != reach_.end()) return known->second;
  const llvm::BasicBlock* dominator = dominators_.getNode(&to)->getIDom()->getBlock();
  std::string here;
  if (post_dominators_.dominates(&to, dominator)) {
    here = kTrue;
  } else {
    for (const llvm::BasicBlock* p : predecessors(to)) {
      const std::string path = edge(*p, to);
      here = here.empty() ? path : wire("either", {{here, 1}, {path, 1}}, 1);
    }
  }
  const std::string before = reach(from, *dominator);
  const std::string both = before == kTrue ? here : here == kTrue ? before : wire("both", {{before, 1}, {here, 1}}, 1);
  return reach_[key] = both;
}

std::vector<const llvm::BasicBlock*> Emitter::predecessors(const llvm::BasicBlock& block) const {
  std::vector<const llvm::BasicBlock*> list;
  for (const llvm::BasicBlock* p : llvm::predecessors(&block))
    if (dominators_.isReachableFromEntry(p) && std::find(list.begin(), list.end(), p) == list.end()) list.push_back(p);
  return list;
}

std::string Emitter::wire(const std::string& kind, const Operands& operands, unsigned bits) {
  Operands list = operands;
  if (slices(operators_, kind)) list[0].text = named(list[0].text, list[0].bits);
  const std::string expression = spell(operators_, kind, list, bits);
  if (bits == 1 && expression == operands[0].text) return expression;
  std::string& name = known_[std::to_string(bits) + ":" + expression];
  if (name.empty()) {
    name = "_" + std::to_string(netlist_.wires.size());
    netlist_.wires.push_back({bits, name, expression, origin_});
  }
  return name;
}

// Verilog slices names only: gives a constant or a slice one.
std::string Emitter::named(const std::string& text, unsigned bits) {
  if (!isdigit(static_cast<unsigned char>(text[0])) && text.find('[') == std::string::npos) return text;
  std::string& name = known_[std::to_string(bits) + ":" + text];
  if (name.empty()) {
    name = "_" + std::to_string(netlist_.wires.size());
    netlist_.wires.push_back({bits, name, text, origin_});
  }
  return name;
}

Operand Emitter::operand(const llvm::Value* value) {
  return {use(value), width(value)};
}

std::string Emitter::use(const llvm::Value* value) {
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(value)) return constant(c->getValue());
  if (llvm::isa<llvm::UndefValue>(value)) return constant(width(value), 0);
  return values_.at(value);
}

std::string Emitter::resized(const std::string& text, unsigned from, unsigned to) {
  if (from == to) return text;
  return wire(from > to ? "trunc" : "zext", {{text, from}}, to);
}

}  // namespace synth
