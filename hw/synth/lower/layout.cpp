#include "layout.hpp"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>

namespace synth {

namespace {

namespace dwarf = llvm::dwarf;

bool is_in(const llvm::DICompositeType& type, llvm::StringRef scope) {
  return type.getScope() && type.getScope()->getName() == scope;
}

Facade facade_of(const llvm::DICompositeType& type) {
  const llvm::StringRef name = type.getName();
  if (is_in(type, "hls") && name.startswith("stream<")) return Facade::stream;
  if (!is_in(type, "hw")) return Facade::none;
  if (name == "Tag") return Facade::tag;
  if (name == "Counter") return Facade::counter;
  if (name.startswith("Ram<")) return Facade::ram;
  if (name.startswith("RamForward<")) return Facade::ram_forward;
  return Facade::none;
}

const llvm::DIType* without_aliases(const llvm::DIType* type) {
  while (auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    const unsigned tag = derived->getTag();
    if (tag != dwarf::DW_TAG_typedef && tag != dwarf::DW_TAG_const_type && tag != dwarf::DW_TAG_volatile_type) break;
    type = derived->getBaseType();
  }
  return type;
}

unsigned width_argument(const llvm::DICompositeType& bits) {
  auto* parameter = llvm::cast<llvm::DITemplateValueParameter>(bits.getTemplateParams()[0]);
  return unsigned(llvm::mdconst::extract<llvm::ConstantInt>(parameter->getValue())->getZExtValue());
}

void finish(Layout& layout) {
  if (layout.kind == Layout::Kind::array) layout.bits = unsigned(layout.count) * layout.element().bits;
  if (layout.kind == Layout::Kind::structure && layout.facade != Facade::tag)
    for (const Layout& m : layout.members) layout.bits += m.bits;
}

Layout array_of(const llvm::DICompositeType& type) {
  Layout layout = layout_of(type.getBaseType());
  const auto ranges = type.getElements();
  for (unsigned i = ranges.size(); i-- > 0;) {
    auto* count = llvm::cast<llvm::DISubrange>(ranges[i])->getCount().get<llvm::ConstantInt*>();
    Layout outer;
    outer.kind = Layout::Kind::array;
    outer.count = count->getZExtValue();
    outer.size = outer.count * layout.size;
    outer.members.push_back(std::move(layout));
    finish(outer);
    layout = std::move(outer);
  }
  return layout;
}

Layout structure_of(const llvm::DICompositeType& type) {
  Layout layout;
  layout.kind = Layout::Kind::structure;
  layout.facade = facade_of(type);
  layout.size = type.getSizeInBits() / 8;
  for (const llvm::DINode* node : type.getElements()) {
    auto* member = llvm::dyn_cast<llvm::DIDerivedType>(node);
    if (!member || member->isStaticMember()) continue;
    if (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance) continue;
    Layout m = layout_of(member->getBaseType());
    m.offset = int64_t(member->getOffsetInBits() / 8);
    if (member->getName() != "v") m.name = member->getName().rtrim('_').str();
    layout.members.push_back(std::move(m));
  }
  finish(layout);
  return layout;
}

}  // namespace

Layout layout_of(const llvm::DIType* type) {
  type = without_aliases(type);
  Layout layout;
  if (!type) return layout;
  layout.size = type->getSizeInBits() / 8;
  layout.bits = unsigned(type->getSizeInBits());
  auto* composite = llvm::dyn_cast<llvm::DICompositeType>(type);
  if (!composite || composite->getTag() == dwarf::DW_TAG_enumeration_type) return layout;
  if (composite->getTag() == dwarf::DW_TAG_array_type) return array_of(*composite);
  if (is_in(*composite, "hw") && composite->getName().startswith("Bits<")) {
    layout.bits = width_argument(*composite);
    return layout;
  }
  return structure_of(*composite);
}

Layout layout_of(const llvm::Type* type, const llvm::DataLayout& data) {
  Layout layout;
  auto* mutable_type = const_cast<llvm::Type*>(type);
  layout.size = data.getTypeAllocSize(mutable_type);
  if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(type)) {
    layout.bits = integer->getBitWidth();
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    layout.kind = Layout::Kind::array;
    layout.count = array->getNumElements();
    layout.members.push_back(layout_of(array->getElementType(), data));
  } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(mutable_type)) {
    layout.kind = Layout::Kind::structure;
    const llvm::StructLayout* offsets = data.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); i++) {
      layout.members.push_back(layout_of(structure->getElementType(i), data));
      layout.members.back().offset = int64_t(offsets->getElementOffset(i));
      layout.members.back().name = std::to_string(i);
    }
  }
  finish(layout);
  return layout;
}

}  // namespace synth
