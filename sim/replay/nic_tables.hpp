// Which row of the NIC's tables stands for which queue pair and which memory key of the capture. The captured number
// stays where its row is free; else another one takes its place, and packets that name it are made anew.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hw/limits.hpp"
#include "traces/ip_address.hpp"
#include "traces/memory_regions.hpp"

namespace sim {

// Hands out the rows of one table. A key belongs to the row of its low bits.
class RowClaims {
 public:
  explicit RowClaims(uint32_t rows) : taken_(rows) {}

  // The row `wanted` modulo the number of rows when it is free, else the next free one; nothing when all are taken.
  std::optional<uint32_t> claim(uint32_t wanted);
  void release(uint32_t row) { taken_[row] = false; }

 private:
  std::vector<bool> taken_;
};

// Memory keys of the endpoints in the NIC: each covers what the capture's requests touch, or what a table says.
class MemoryKeys {
 public:
  struct Region {
    uint32_t nic_key = 0;
    uint64_t first = 0, end = 0;
    uint8_t rights = 0;  // traces::MemoryRights

    bool covers(const Region& other) const {
      return first <= other.first && end >= other.end && (rights & other.rights) == other.rights;
    }
  };

  // The key that stands for `remote_key` of `host`; null while it has none.
  const Region* find(uint32_t host, uint32_t remote_key) const;
  // Makes the region cover `more`; the one that the NIC must learn, nothing when it knows it. Throws InputError when
  // all rows are taken.
  const Region* extend(uint32_t host, const traces::MemoryRegion& more);

 private:
  std::map<std::pair<uint32_t, uint32_t>, Region> regions_;
  RowClaims rows_{hw::kMaxRegions};
};

}  // namespace sim
