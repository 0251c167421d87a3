// Random numbers that depend on a seed, the name of who draws, and how many it drew: a model that is added or draws
// more often changes nobody else's. SplitMix64 (Steele et al., OOPSLA 2014) over a start of FNV-1a.
#pragma once
#include <cstdint>
#include <string>

namespace models {

class KeyedRandom {
 public:
  KeyedRandom(uint64_t seed, const std::string& name) : state_(mix(seed ^ fnv1a(name))) {}

  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  // Even from 0 to `most`, up to a part in 2^64 / most.
  uint64_t up_to(uint64_t most) { return most == ~uint64_t(0) ? next() : next() % (most + 1); }

 private:
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  static uint64_t fnv1a(const std::string& text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
    return hash;
  }

  uint64_t state_;
};

}  // namespace models
