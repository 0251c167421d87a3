#include "models/host_memory.hpp"

#include <algorithm>
#include <cstring>

namespace models {

hw::Cycles HostMemory::post(hw::Cycles visible, uint64_t address, const void* from, size_t bytes) {
  if (visible <= hw::world().now) hw::violation("write visible in its own cycle", "host memory");
  settle();
  if (!posted_.empty()) visible = std::max(visible, posted_.back().visible);
  posted_.push_back({visible, address, bytes});
  const uint8_t* begin = static_cast<const uint8_t*>(from);
  posted_bytes_.insert(posted_bytes_.end(), begin, begin + bytes);
  if (!watches_.empty())
    for (auto w = watches_.lower_bound(address); w != watches_.end() && w->first - address < bytes; ++w)
      w->second(visible);
  return visible;
}

void HostMemory::let_in(hw::Cycles until) {
  while (!posted_.empty() && posted_.front().visible <= until) {
    const Posted& p = posted_.front();
    copy_in(p.address, posted_bytes_.data() + posted_head_, p.bytes);
    posted_head_ += p.bytes;
    posted_.pop_front();
  }
  if (posted_head_ * 2 < posted_bytes_.size()) return;
  posted_bytes_.erase(posted_bytes_.begin(), posted_bytes_.begin() + std::ptrdiff_t(posted_head_));
  posted_head_ = 0;
}

void HostMemory::copy_out(uint64_t address, uint8_t* to, size_t bytes) {
  while (bytes != 0) {
    const size_t offset = address % kPageBytes, n = std::min(bytes, kPageBytes - offset);
    if (const Page* page = find(address / kPageBytes, false))
      std::memcpy(to, page->data() + offset, n);
    else
      std::memset(to, 0, n);
    address += n;
    to += n;
    bytes -= n;
  }
}

void HostMemory::copy_in(uint64_t address, const uint8_t* from, size_t bytes) {
  while (bytes != 0) {
    const size_t offset = address % kPageBytes, n = std::min(bytes, kPageBytes - offset);
    std::memcpy(find(address / kPageBytes, true)->data() + offset, from, n);
    address += n;
    from += n;
    bytes -= n;
  }
}

HostMemory::Page* HostMemory::find(uint64_t number, bool create) {
  Recent& recent = recent_[number % recent_.size()];
  if (recent.page && recent.number == number) return recent.page;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    if (!create) return nullptr;
    found = pages_.emplace(number, std::make_unique<Page>()).first;
    found->second->fill(0);
  }
  recent = {number, found->second.get()};
  return recent.page;
}

}  // namespace models
