#include "sim/replay/nic_tables.hpp"

#include <algorithm>

#include "sim/config/error.hpp"

namespace sim {

std::optional<uint32_t> RowClaims::claim(uint32_t wanted) {
  const auto rows = uint32_t(taken_.size());
  for (uint32_t i = 0; i < rows; i++) {
    const uint32_t row = (wanted + i) % rows;
    if (taken_[row]) continue;
    taken_[row] = true;
    return row;
  }
  return std::nullopt;
}

const MemoryKeys::Region* MemoryKeys::find(uint32_t host, uint32_t remote_key) const {
  const auto found = regions_.find({host, remote_key});
  return found == regions_.end() ? nullptr : &found->second;
}

const MemoryKeys::Region* MemoryKeys::extend(uint32_t host, const traces::MemoryRegion& more) {
  const auto [place, is_new] = regions_.try_emplace({host, more.remote_key});
  Region& region = place->second;
  if (is_new) {
    const auto row = rows_.claim(more.remote_key >> 8);
    if (!row)
      throw InputError("--as: its endpoints have more than " + std::to_string(hw::kMaxRegions) +
                       " memory regions; allowed are as many as the NIC has rows: choose with --qp, --from and --to");
    const bool keeps = (more.remote_key >> 8) % hw::kMaxRegions == *row;
    region.nic_key = keeps ? more.remote_key : *row << 8 | (more.remote_key & 0xff);
    region.first = more.first_address;
    region.end = more.end_address;
    region.rights = more.rights;
    return &region;
  }
  if (region.covers({0, more.first_address, more.end_address, more.rights})) return nullptr;
  region.first = std::min(region.first, more.first_address);
  region.end = std::max(region.end, more.end_address);
  region.rights |= more.rights;
  return &region;
}

}  // namespace sim
