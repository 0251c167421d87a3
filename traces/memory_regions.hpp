#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace traces {

/// Rights of remote access to memory, to be ored.
enum MemoryRights : uint8_t { kRemoteRead = 1, kRemoteWrite = 2, kRemoteAtomic = 4 };

/// "RWA", "R", "-" for none.
std::string rights_text(uint8_t rights);

/// The bytes [first, end) under one rkey, and what was or may be done with them.
struct MemoryRegion {
  uint32_t remote_key = 0;
  uint64_t first_address = 0;
  uint64_t end_address = 0;
  uint8_t rights = 0;
};

/// One RETH or AtomicETH.
struct MemoryAccess {
  uint32_t psn = 0;
  uint32_t remote_key = 0;
  uint64_t address = 0;
  uint32_t length = 0;
  uint8_t right = 0;
};

/// What the requests of one connection touch, less those that the responder refused. Bounded: an access waits in a
/// short ring for its refusal, and no more than kRegions rkeys are remembered.
class TouchedMemory {
 public:
  static constexpr size_t kRegions = 64;

  void access(const MemoryAccess& access);

  /// The responder refused `psn` for its rkey, its range or its rights: that access and those after it count for
  /// nothing.
  void refuse(uint32_t psn);

  /// Adds what another one has settled.
  void merge(const TouchedMemory& other);

  void finish();

  const std::vector<MemoryRegion>& regions() const { return regions_; }  ///< in order of first access
  uint64_t forgotten() const { return forgotten_; }                      ///< accesses with an rkey beyond kRegions

 private:
  static constexpr uint32_t kWaiting = 8;

  bool is_known(const MemoryAccess& access) const;
  void settle_oldest();
  void add(const MemoryRegion& touched);

  std::vector<MemoryRegion> regions_;
  MemoryRegion recent_;  ///< a copy of that of the newest access that was settled; without rights before
  uint64_t forgotten_ = 0;
  uint32_t front_ = 0, used_ = 0;
  std::array<MemoryAccess, kWaiting> waiting_{};
};

}  // namespace traces
