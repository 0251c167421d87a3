// Layout: where the values of an object lie in memory, under which names. Debug information gives it for the objects
// of the source (an initialiser can turn the IR type of an object anonymous), the IR type for all others.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class DataLayout;
class DIType;
class Type;
}  // namespace llvm

namespace synth {

// What the lowering knows by the name of the type (hw/bus/*_ports.hpp, counter.hpp, beat.hpp).
enum class Facade { none, tag, stream, ram, ram_forward, counter };

struct Layout {
  enum class Kind { scalar, structure, array };
  Kind kind = Kind::scalar;
  Facade facade = Facade::none;
  std::string name;             // of the member; empty at the top and for the one value inside a wrapper such as Psn
  int64_t offset = 0;           // bytes from the start of the enclosing object
  uint64_t size = 0;            // bytes
  unsigned bits = 0;            // all values inside, padding left out
  uint64_t count = 0;           // elements of an array
  std::vector<Layout> members;  // of an array: its element

  const Layout& element() const { return members.front(); }
};

Layout layout_of(const llvm::DIType* type);
Layout layout_of(const llvm::Type* type, const llvm::DataLayout& data);

}  // namespace synth
