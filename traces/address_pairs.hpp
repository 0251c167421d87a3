#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "traces/flat_map.hpp"
#include "traces/ip_address.hpp"

namespace traces {

/// Small numbers for (source, destination) pairs of addresses. A pair and its reverse are neighbours.
class AddressPairs {
 public:
  struct Pair {
    IpAddress source, destination;
  };

  uint32_t id_of(const IpAddress& source, const IpAddress& destination) {
    uint64_t key = key_of(source, destination);
    for (;; ++key) {  // another pair may have the same hash
      const uint32_t* found = ids_.find(key);
      if (found == nullptr) return insert(key, source, destination);
      const Pair& pair = pairs_[*found];
      if (pair.source == source && pair.destination == destination) return *found;
    }
  }

  const Pair& operator[](uint32_t id) const { return pairs_[id]; }

  /// The opposite direction; of a host that talks to itself the pair itself.
  uint32_t reverse(uint32_t id) const { return pairs_[id].source == pairs_[id].destination ? id : id ^ 1; }

  size_t size() const { return pairs_.size(); }

 private:
  static uint64_t key_of(const IpAddress& source, const IpAddress& destination) {
    uint64_t words[4];
    std::memcpy(words, source.bytes.data(), 16);
    std::memcpy(words + 2, destination.bytes.data(), 16);
    uint64_t sum = static_cast<uint64_t>(source.version);
    uint64_t factor = 0x9e3779b97f4a7c15;
    for (const uint64_t word : words) {
      sum += (word ^ word >> 32) * factor;
      factor += 0xd1342543de82ef96;  // even, so that the factor stays odd
    }
    return mix64(sum) >> 1;  // leaves the reserved key free
  }

  uint32_t insert(uint64_t key, const IpAddress& source, const IpAddress& destination) {
    const auto id = static_cast<uint32_t>(pairs_.size());
    pairs_.push_back({source, destination});
    pairs_.push_back({destination, source});
    ids_.try_emplace(key, id);
    if (source != destination) {
      uint64_t reverse_key = key_of(destination, source);
      while (ids_.find(reverse_key) != nullptr) ++reverse_key;
      ids_.try_emplace(reverse_key, id ^ 1);
    }
    return id;
  }

  FlatMap ids_;
  std::vector<Pair> pairs_;
};

}  // namespace traces
