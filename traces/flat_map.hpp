#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traces {

/// Spreads the bits of a 64-bit number over all of the result.
constexpr uint64_t mix64(uint64_t value) {
  value = (value ^ value >> 32) * 0x9e3779b97f4a7c15;
  value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9;
  return value ^ value >> 32;
}

/// From 64-bit keys to 32-bit values in one array: a look-up per packet touches one cache line and allocates nothing.
/// The key ~0 is reserved.
class FlatMap {
 public:
  FlatMap() : slots_(kFirstSize) {}

  /// Nothing (nullptr) when the key is not there. Valid until the next insertion.
  uint32_t* find(uint64_t key) {
    Slot& slot = slot_of(key);
    return slot.key == key ? &slot.value : nullptr;
  }

  /// The value of `key`, inserted as `value` if it was not there.
  uint32_t& try_emplace(uint64_t key, uint32_t value) {
    Slot* slot = &slot_of(key);
    if (slot->key == key) return slot->value;
    if (++used_ * 2 > slots_.size()) {
      grow();
      slot = &slot_of(key);
    }
    *slot = {key, value};
    return slot->value;
  }

  size_t size() const { return used_; }

 private:
  static constexpr size_t kFirstSize = 1024;
  static constexpr uint64_t kFree = ~uint64_t{0};

  struct Slot {
    uint64_t key = kFree;
    uint32_t value = 0;
  };

  Slot& slot_of(uint64_t key) {
    size_t at = mix64(key) & (slots_.size() - 1);
    while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kFree) slot_of(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace traces
