// Memory of a host: 64-bit addresses, pages of 4 KB that exist once they are written; everything else reads zero.
//
// The NIC's writes are posted: `post` says in which cycle the bytes become visible, always a later one than the
// running cycle, and every reader first lets in what is visible by then. So within a cycle nobody can tell in which
// order the stages were called. The CPU's own `write` is visible at once.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hw/bus/world.hpp"

namespace models {

class HostMemory {
 public:
  static constexpr size_t kPageBytes = 4096;

  // Copies `bytes` bytes as they stand in the running cycle. Addresses wrap at 2^64.
  void read(uint64_t address, void* to, size_t bytes) {
    settle();
    copy_out(address, static_cast<uint8_t*>(to), bytes);
  }
  // The same for a fixed number of bytes, for a beat.
  template <size_t BYTES>
  void read_fixed(uint64_t address, void* to) {
    settle();
    const size_t offset = address % kPageBytes;
    const Recent& recent = recent_[address / kPageBytes % std::tuple_size<decltype(recent_)>::value];
    if (recent.page && recent.number == address / kPageBytes && offset + BYTES <= kPageBytes)
      std::memcpy(to, recent.page->data() + offset, BYTES);
    else
      copy_out(address, static_cast<uint8_t*>(to), BYTES);
  }
  uint8_t read_byte(uint64_t address) {
    uint8_t byte;
    read(address, &byte, 1);
    return byte;
  }
  void write(uint64_t address, const void* from, size_t bytes) {
    settle();
    copy_in(address, static_cast<const uint8_t*>(from), bytes);
  }

  // A write that becomes visible in cycle `visible`, but not before the writes posted earlier. Watchers of its bytes
  // are told at once, with that cycle, which is returned.
  hw::Cycles post(hw::Cycles visible, uint64_t address, const void* from, size_t bytes);

  // `callback(cycle)` for every posted write that covers the byte at `address`: it becomes visible in `cycle`.
  void watch(uint64_t address, std::function<void(hw::Cycles)> callback) {
    watches_.emplace(address, std::move(callback));
  }

  // Lets in every posted write, visible or not yet: for checks after the end of a run.
  void settle_all() { let_in(hw::kForever); }
  size_t posted() const { return posted_.size(); }
  size_t pages() const { return pages_.size(); }

 private:
  using Page = std::array<uint8_t, kPageBytes>;
  struct Posted {
    hw::Cycles visible;
    uint64_t address;
    size_t bytes;
  };
  struct Recent {
    uint64_t number = 0;
    Page* page = nullptr;
  };

  void settle() {
    if (!posted_.empty() && posted_.front().visible <= hw::world().now) let_in(hw::world().now);
  }
  void let_in(hw::Cycles until);
  void copy_out(uint64_t address, uint8_t* to, size_t bytes);
  void copy_in(uint64_t address, const uint8_t* from, size_t bytes);
  // The page with this number; null when it does not exist and `create` is false.
  Page* find(uint64_t number, bool create);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, 256> recent_;  // by the low bits of the page number
  std::deque<Posted> posted_;
  std::vector<uint8_t> posted_bytes_;  // of all posted writes, in order, from posted_head_
  size_t posted_head_ = 0;
  std::multimap<uint64_t, std::function<void(hw::Cycles)>> watches_;
};

}  // namespace models
