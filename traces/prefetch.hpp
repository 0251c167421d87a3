#pragma once

#include <cstddef>

namespace traces {

/// Begins to load all of `object`. Of thousands of connections none is in the cache when its packet comes; without this
/// a replay waits for memory half of its time.
template <class T>
void prefetch(const T* object) {
  constexpr size_t kLine = 64;
  const char* const bytes = reinterpret_cast<const char*>(object);
  for (size_t at = 0; at < sizeof(T); at += kLine) __builtin_prefetch(bytes + at, 1);
}

}  // namespace traces
