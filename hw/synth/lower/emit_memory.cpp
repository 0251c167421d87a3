// The memory half of the emitter: what loads give, what stores leave, and what stands where paths meet.
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "emitter.hpp"
#include "verilog.hpp"

namespace synth {

namespace {

const std::string kTrue = "1'h1", kFalse = "1'h0";

unsigned row_bits(const Cell& cell) {
  return index_bits(uint64_t(cell.elements()));
}

}  // namespace

// Registers and inputs hold what they held at the start of the cycle; flags start at zero.
State Emitter::entry() const {
  State state;
  state.slots.resize(size_t(memory_.slots()));
  state.tables.resize(memory_.tables().size());
  for (const Cell& cell : memory_.cells()) {
    if (cell.slot < 0) continue;
    for (int64_t e = 0; e < cell.elements(); e++) state.slots[size_t(cell.slot + e)] = initial_value(memory_, cell, e);
  }
  return state;
}

std::string Emitter::load(const llvm::Instruction& i, State& state) {
  const unsigned bits = i.getType()->getIntegerBitWidth();
  const std::vector<Choice> choices = memory_.choices(i.getOperand(0));
  std::string value;
  for (size_t k = choices.size(); k-- > 0;) {
    Place place;
    memory_.find(choices[k].address, bits, place);
    std::string here = read(place, state);
    if (here.empty()) here = constant(bits, 0);
    value = value.empty() || value == here ? here
                                           : wire("which", {{taken(choices[k]), 1}, {here, bits}, {value, bits}}, bits);
  }
  return value;
}

void Emitter::store(const llvm::Instruction& i, State& state) {
  const Operand value = operand(i.getOperand(0));
  const std::vector<Choice> choices = memory_.choices(i.getOperand(1));
  for (const Choice& choice : choices) {
    Place place;
    memory_.find(choice.address, value.bits, place);
    write(place, taken(choice), value.text, state);
  }
}

// The condition of the selects and phis that lead to one of several objects.
std::string Emitter::taken(const Choice& choice) {
  std::string all = kTrue;
  for (const auto& [merge, operand_number] : choice.taken) {
    std::string here;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(merge)) {
      here = edge(*phi->getIncomingBlock(operand_number), *phi->getParent());
    } else {
      here = wire(operand_number == 1 ? "br.true" : "br.false", {operand(merge->getOperand(0))}, 1);
    }
    all = all == kTrue ? here : wire("both", {{all, 1}, {here, 1}}, 1);
  }
  return all;
}

std::string Emitter::row_number(const Place& place, unsigned bits) {
  std::string sum;
  for (const auto& [value, factor] : place.index) {
    std::string term = resized(use(value), value->getType()->getIntegerBitWidth(), bits);
    if (factor != 1) term = wire("mul", {{term, bits}, {constant(bits, uint64_t(factor)), bits}}, bits);
    sum = sum.empty() ? term : wire("add", {{sum, bits}, {term, bits}}, bits);
  }
  const uint64_t mask = bits < 64 ? (uint64_t(1) << bits) - 1 : ~uint64_t(0);
  const std::string fixed = constant(bits, uint64_t(place.element) & mask);
  if (sum.empty()) return fixed;
  return place.element == 0 ? sum : wire("add", {{sum, bits}, {fixed, bits}}, bits);
}

// Empty when nothing of meaning stands there.
std::string Emitter::read(const Place& place, const State& state) {
  const Cell& cell = memory_.cells()[size_t(place.cell)];
  if (cell.kind == Cell::Kind::tag) return "";
  const unsigned bits = row_bits(cell);
  if (cell.table >= 0) {
    const std::string row = row_number(place, bits);
    std::string value = wire("row", {{cell.name, cell.bits}, {row, bits}}, cell.bits);
    for (const TableWrite& w : state.tables[size_t(cell.table)])
      value = wire("forward", {{w.enable, 1}, {w.index, bits}, {row, bits}, {w.data, cell.bits}, {value, cell.bits}},
                   cell.bits);
    return value;
  }
  if (place.index.empty()) return state.slots[size_t(cell.slot + place.element)];
  const std::string row = row_number(place, bits);
  std::string value;
  for (int64_t e = cell.elements(); e-- > 0;) {
    const std::string& here = state.slots[size_t(cell.slot + e)];
    if (here.empty()) continue;
    value =
        value.empty()
            ? here
            : wire("element", {{row, bits}, {constant(bits, uint64_t(e)), bits}, {here, cell.bits}, {value, cell.bits}},
                   cell.bits);
  }
  return value;
}

void Emitter::write(const Place& place, const std::string& condition, const std::string& value, State& state) {
  const Cell& cell = memory_.cells()[size_t(place.cell)];
  if (cell.kind == Cell::Kind::tag) return;
  const unsigned bits = row_bits(cell);
  if (cell.table >= 0) {
    state.tables[size_t(cell.table)].push_back({condition, row_number(place, bits), value});
    return;
  }
  const auto put = [&](int64_t e, const std::string& when) {
    std::string& slot = state.slots[size_t(cell.slot + e)];
    slot = when == kTrue || slot.empty() ? value
                                         : wire("which", {{when, 1}, {value, cell.bits}, {slot, cell.bits}}, cell.bits);
  };
  if (place.index.empty()) return put(place.element, condition);
  const std::string row = row_number(place, bits);
  for (int64_t e = 0; e < cell.elements(); e++) {
    const std::string hit = wire("eq", {{row, bits}, {constant(bits, uint64_t(e)), bits}}, 1);
    put(e, condition == kTrue ? hit : wire("both", {{condition, 1}, {hit, 1}}, 1));
  }
}

// One value out of those that the paths bring; a path without one may bring anything.
std::string Emitter::merge_values(const std::vector<std::string>& conditions, const std::vector<std::string>& values,
                                  unsigned bits) {
  std::string value;
  for (size_t k = values.size(); k-- > 0;) {
    if (values[k].empty() || values[k] == value) continue;
    value = value.empty() ? values[k] : wire("merge", {{conditions[k], 1}, {values[k], bits}, {value, bits}}, bits);
  }
  return value;
}

State Emitter::merge(const llvm::BasicBlock& block) {
  const auto from = predecessors(block);
  if (from.size() == 1) return out_[from[0]];
  std::vector<std::string> conditions;
  std::vector<const State*> states;
  for (const llvm::BasicBlock* p : from) {
    conditions.push_back(edge(*p, block));
    states.push_back(&out_[p]);
  }
  State state;
  state.slots.resize(states[0]->slots.size());
  state.tables.resize(states[0]->tables.size());
  const auto merged = [&](const auto& value_in, unsigned bits) {
    std::vector<std::string> values;
    values.reserve(states.size());
    for (const State* s : states) values.push_back(value_in(*s));
    return merge_values(conditions, values, bits);
  };
  for (const Cell& cell : memory_.cells()) {
    const size_t first = cell.slot < 0 ? 0 : size_t(cell.slot);
    const size_t end = cell.slot < 0 ? 0 : first + size_t(cell.elements());
    for (size_t slot = first; slot < end; slot++)
      state.slots[slot] = merged([slot](const State& s) { return s.slots[slot]; }, cell.bits);
    if (cell.table < 0) continue;
    // The n-th stores of all paths share one write port: only one of the paths is taken.
    const size_t table = size_t(cell.table);
    size_t ports = 0;
    for (const State* s : states) ports = std::max(ports, s->tables[table].size());
    for (size_t n = 0; n < ports; n++) {
      const auto field = [table, n](std::string TableWrite::*member, const char* otherwise) {
        return [=](const State& s) { return n < s.tables[table].size() ? s.tables[table][n].*member : otherwise; };
      };
      state.tables[table].push_back({merged(field(&TableWrite::enable, kFalse.c_str()), 1),
                                     merged(field(&TableWrite::index, ""), row_bits(cell)),
                                     merged(field(&TableWrite::data, ""), cell.bits)});
    }
  }
  return state;
}

}  // namespace synth
