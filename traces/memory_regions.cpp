#include "traces/memory_regions.hpp"

#include <algorithm>
#include <limits>

#include "traces/psn.hpp"

namespace traces {

std::string rights_text(uint8_t rights) {
  std::string text;
  if (rights & kRemoteRead) text += 'R';
  if (rights & kRemoteWrite) text += 'W';
  if (rights & kRemoteAtomic) text += 'A';
  return text.empty() ? "-" : text;
}

void TouchedMemory::access(const MemoryAccess& access) {
  const bool wraps = access.address > std::numeric_limits<uint64_t>::max() - access.length;
  // A length of zero is legal with any rkey and address (docs/protocol.md D 21), so it tells nothing.
  if (access.length == 0 || wraps || is_known(access)) return;
  if (used_ == kWaiting) settle_oldest();
  waiting_[(front_ + used_++) % kWaiting] = access;
}

// Inside of what earlier accesses have touched, whatever becomes of it.
bool TouchedMemory::is_known(const MemoryAccess& access) const {
  return recent_.remote_key == access.remote_key && (recent_.rights & access.right) != 0 &&
         access.address >= recent_.first_address && access.address + access.length <= recent_.end_address;
}

void TouchedMemory::refuse(uint32_t psn) {
  uint32_t kept = used_;
  while (kept != 0 && distance24(waiting_[(front_ + kept - 1) % kWaiting].psn, psn) > 0) --kept;
  used_ = kept;
  if (kept == 0) return;
  // The newest that is not behind `psn` was refused, if it reaches that far; else the refused one was known before.
  constexpr uint32_t kSmallestMtu = 256;
  const MemoryAccess& last = waiting_[(front_ + kept - 1) % kWaiting];
  if (static_cast<uint32_t>(distance24(psn, last.psn)) <= last.length / kSmallestMtu) used_ = kept - 1;
}

void TouchedMemory::settle_oldest() {
  const MemoryAccess& access = waiting_[front_];
  front_ = (front_ + 1) % kWaiting;
  --used_;
  add({access.remote_key, access.address, access.address + access.length, access.right});
}

void TouchedMemory::add(const MemoryRegion& touched) {
  const auto known = std::find_if(regions_.begin(), regions_.end(),
                                  [&](const MemoryRegion& region) { return region.remote_key == touched.remote_key; });
  if (known == regions_.end() && regions_.size() == kRegions) {
    ++forgotten_;
    return;
  }
  MemoryRegion& region = known == regions_.end() ? regions_.emplace_back(touched) : *known;
  region.first_address = std::min(region.first_address, touched.first_address);
  region.end_address = std::max(region.end_address, touched.end_address);
  region.rights |= touched.rights;
  recent_ = region;
}

void TouchedMemory::merge(const TouchedMemory& other) {
  for (const MemoryRegion& region : other.regions_) add(region);
  forgotten_ += other.forgotten_;
}

void TouchedMemory::finish() {
  while (used_ != 0) settle_oldest();
}

}  // namespace traces
