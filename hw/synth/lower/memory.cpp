#include "memory.hpp"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

namespace synth {

namespace {

// The debug information of a global object, null when there is none.
const llvm::DIType* debug_type(const llvm::GlobalVariable& g) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> found;
  g.getDebugInfo(found);
  return found.empty() ? nullptr : found.front()->getVariable()->getType();
}

std::string identifier(std::string name) {
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() || name.empty() ? path + name : path + "_" + name;
}

// Names and directions in the order of the struct's members.
struct WireForm {
  const char* suffix;
  bool leaves, flag;
};
const WireForm kStreamWires[] = {{"rdata", false, false}, {"rvalid", false, false}, {"pop", true, true},
                                 {"wdata", true, false},  {"wready", false, false}, {"push", true, true}};
const WireForm kRamWires[] = {{"rdata", false, false}, {"req", true, true}, {"ra", true, false},
                              {"we", true, true},      {"wa", true, false}, {"wd", true, false}};

}  // namespace

int64_t Cell::elements() const {
  int64_t n = 1;
  for (const Dimension& d : dimensions) n *= d.count;
  return n;
}

int64_t Cell::offset_of(int64_t element) const {
  int64_t at = offset;
  for (size_t i = dimensions.size(); i-- > 0; element /= dimensions[i].count)
    at += element % dimensions[i].count * dimensions[i].stride;
  return at;
}

unsigned Cell::low_of(int64_t element) const {
  unsigned at = low;
  for (size_t i = dimensions.size(); i-- > 0; element /= dimensions[i].count)
    at += unsigned(element % dimensions[i].count) * dimensions[i].bit_stride;
  return at;
}

std::string Cell::element_name(int64_t element) const {
  return dimensions.empty() ? name : name + "_" + std::to_string(element);
}

struct Memory::Context {
  Cell::Kind kind;
  std::string path;
  const llvm::Value* object = nullptr;
  const llvm::GlobalVariable* global = nullptr;
  bool input = false;
  int64_t offset = 0;
  unsigned low = 0, wire_bits = 0;
  std::vector<Dimension> dimensions = {};
  std::vector<int>* collect = nullptr;  // cells of the wire that is being built
  bool counter = false;
};

Memory::Memory(const llvm::Function& top, Findings& findings) : data_(top.getParent()->getDataLayout()) {
  add_globals(top);
  for (const llvm::Instruction& i : llvm::instructions(top)) {
    if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
      Context context{Cell::Kind::local, "local"};
      add_object(*local, layout_of(local->getAllocatedType(), data_), context);
    }
  }
  for (const llvm::Instruction& i : llvm::instructions(top))
    if (!note_access(i, findings)) return;
  assign_slots();
}

// Ports are told by their section (see tops.hpp), the state by its name; other objects matter where they are used.
void Memory::add_globals(const llvm::Function& top) {
  const std::string stage = top.getName().str();
  for (const llvm::GlobalVariable& g : top.getParent()->globals()) {
    const llvm::DIType* type = debug_type(g);
    const bool input = g.getSection() == "hw_in." + stage, output = g.getSection() == "hw_out." + stage;
    const bool port = type && (input || output);
    if (!port && g.use_empty()) continue;
    Context context{g.isConstant() ? Cell::Kind::constant : Cell::Kind::state, identifier(g.getName().str())};
    context.global = &g;
    context.input = input;
    if (port) context.path = g.getName().drop_front(stage.size() + 1).str();
    if (g.getName() == stage + "_stage") context.path.clear();
    if (!g.hasInitializer() || g.hasSection() != port) continue;
    add_object(g, type ? layout_of(type) : layout_of(g.getValueType(), data_), context);
  }
}

void Memory::add_object(const llvm::Value& object, const Layout& layout, Context context) {
  context.object = &object;
  objects_[&object];
  flatten(layout, context);
}

void Memory::flatten(const Layout& layout, Context context) {
  context.offset += layout.offset;
  context.path = joined(context.path, layout.name);
  if (layout.facade == Facade::tag) {
    context.kind = Cell::Kind::tag;
  } else if (layout.facade != Facade::none && layout.facade != Facade::counter) {
    return add_instance(layout, context);
  }
  if (layout.kind == Layout::Kind::scalar || layout.facade == Facade::tag) return add_cell(layout, context);
  if (layout.kind == Layout::Kind::array) {
    const Layout& element = layout.element();
    context.dimensions.push_back({int64_t(element.size), int64_t(layout.count), element.bits});
    return flatten(element, context);
  }
  for (const Layout& m : layout.members) {
    if (layout.facade == Facade::counter) context.counter = m.name.empty();  // its value alone is a port
    flatten(m, context);
    context.low += m.bits;
  }
}

void Memory::add_cell(const Layout& leaf, const Context& context) {
  Cell cell{context.kind, context.path, leaf.bits};
  if (cell.kind == Cell::Kind::state) cell.name = unique(identifier(cell.name) + "_q");
  if (cell.kind == Cell::Kind::constant) cell.name = unique(identifier(cell.name) + "_rom");
  cell.wire_bits = context.wire_bits;
  cell.low = context.low;
  cell.counter = context.counter;
  cell.global = context.global;
  cell.offset = context.offset;
  cell.dimensions = context.dimensions;
  objects_[context.object].push_back(int(cells_.size()));
  if (context.collect && cell.kind != Cell::Kind::tag) context.collect->push_back(int(cells_.size()));
  cells_.push_back(cell);
}

// A stream, Ram or RamForward: its members become wires. One inside an array is refused later, for want of a name.
void Memory::add_instance(const Layout& layout, const Context& context) {
  Instance instance{layout.facade, identifier(context.path)};
  instance.input = context.input;
  const WireForm* form = layout.facade == Facade::stream ? kStreamWires : kRamWires;
  if (layout.facade != Facade::stream) instance.rows = layout.members[6].count;
  for (unsigned i = 0; i < 6; i++) {
    Layout member = layout.members[i];
    member.name.clear();
    Wire wire{form[i].suffix, member.bits, form[i].leaves, {}};
    Context inside = context;
    inside.kind = !form[i].leaves ? Cell::Kind::input : form[i].flag ? Cell::Kind::flag : Cell::Kind::data;
    inside.path = instance.name + "_" + form[i].suffix;
    inside.low = 0;
    inside.wire_bits = member.bits;
    inside.collect = &wire.cells;
    inside.dimensions.clear();
    flatten(member, inside);
    // Members of a token keep the wire's name: they are slices of it.
    for (int c : wire.cells) cells_[c].name = inside.path;
    instance.wires.push_back(wire);
  }
  instances_.push_back(instance);
}

std::string Memory::unique(const std::string& name) {
  std::string candidate = name;
  for (int i = 2; !names_.insert(candidate).second; i++) candidate = name + std::to_string(i);
  return candidate;
}

// Learns from a load or store which cells are written and which arrays are indexed by a variable.
bool Memory::note_access(const llvm::Instruction& access, Findings& findings) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  if (!pointer) return true;
  const llvm::Type* type = llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&access));
  const std::string what = llvm::isa<llvm::StoreInst>(access) ? "store" : "load";
  if (!type->isIntegerTy()) return findings.add("pointer", access, what + " of a pointer or aggregate"), false;
  const std::vector<Choice> found = choices(pointer);
  if (found.empty()) return findings.add("address", access, what + " through a pointer to an unknown object"), false;
  for (const Choice& c : found) {
    Place place;
    if (!find(c.address, type->getIntegerBitWidth(), place)) {
      std::string line = what + " of " + std::to_string(type->getIntegerBitWidth());
      line += " bits that are not one value of an object";
      findings.add("address", access, line);
      return false;
    }
    Cell& cell = cells_[place.cell];
    if (what == "store" && (cell.kind == Cell::Kind::input || cell.kind == Cell::Kind::constant))
      return findings.add("address", access, "store to an input or constant"), false;
    cell.stored |= what == "store";
    cell.indexed |= !place.index.empty();
  }
  return true;
}

void Memory::assign_slots() {
  for (size_t i = 0; i < cells_.size(); i++) {
    Cell& cell = cells_[i];
    if (cell.kind == Cell::Kind::tag) continue;
    const bool object = cell.kind == Cell::Kind::state || cell.kind == Cell::Kind::constant;
    if (cell.indexed && object) {
      cell.table = int(tables_.size());
      tables_.push_back(int(i));
    } else {
      cell.slot = slots_;
      slots_ += int(cell.elements());
    }
  }
}

llvm::APInt Memory::initial(const Cell& cell, int64_t element) const {
  auto* type = llvm::Type::getIntNTy(cell.global->getContext(), cell.bits);
  auto* whole = const_cast<llvm::Constant*>(cell.global->getInitializer());
  const llvm::APInt offset(64, uint64_t(cell.offset_of(element)));
  auto* value = llvm::ConstantFoldLoadFromConst(whole, type, offset, data_);
  auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(value);
  return integer ? integer->getValue() : llvm::APInt(cell.bits, 0);
}

std::vector<Choice> Memory::choices(const llvm::Value* pointer) const {
  std::vector<Choice> found;
  Choice way;
  if (!walk(pointer, way, found)) found.clear();
  return found;
}

bool Memory::walk(const llvm::Value* pointer, Choice& way, std::vector<Choice>& found) const {
  if (objects_.count(pointer)) {
    found.push_back(way);
    found.back().address.object = pointer;
    return true;
  }
  if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    llvm::MapVector<llvm::Value*, llvm::APInt> index;
    llvm::APInt offset(64, 0);
    if (!gep->collectOffset(data_, 64, index, offset)) return false;
    Choice further = way;
    further.address.offset += offset.getSExtValue();
    for (auto& i : index) further.address.index.push_back({i.first, i.second.getSExtValue()});
    return walk(gep->getPointerOperand(), further, found);
  }
  auto* merge = llvm::dyn_cast<llvm::Instruction>(pointer);
  if (!merge || !(llvm::isa<llvm::SelectInst>(merge) || llvm::isa<llvm::PHINode>(merge))) return false;
  for (unsigned i = llvm::isa<llvm::SelectInst>(merge) ? 1 : 0; i < merge->getNumOperands(); i++) {
    Choice further = way;
    further.taken.push_back({merge, i});
    if (!walk(merge->getOperand(i), further, found)) return false;
  }
  return true;
}

bool Memory::find(const Address& address, unsigned bits, Place& place) const {
  for (int c : objects_.at(address.object)) {
    const Cell& cell = cells_[c];
    Place here{c, 0, {}};
    int64_t rest = address.offset - cell.offset, inner = cell.elements();
    auto index = address.index;
    bool fits = true;
    for (const Dimension& d : cell.dimensions) {
      inner /= d.count;
      int64_t k = rest >= 0 ? rest / d.stride : -((d.stride - 1 - rest) / d.stride);
      bool variable = false;
      for (auto& [value, scale] : index) {
        if (scale == 0 || scale % d.stride != 0) continue;
        here.index.push_back({value, scale / d.stride * inner});
        scale = 0;
        variable = true;
      }
      fits &= variable || (k >= 0 && k < d.count);
      here.element += k * inner;
      rest -= k * d.stride;
    }
    for (const auto& [value, scale] : index) fits &= scale == 0;
    if (!fits || rest < 0) continue;
    const bool tag = cell.kind == Cell::Kind::tag && rest < 1;
    if (!tag && (rest != 0 || cell.bits != bits)) continue;
    place = here;
    return true;
  }
  return false;
}

}  // namespace synth
