#pragma once

#include <pthread.h>

#include <cstddef>

// The address sanitizer's own interface; null without it.
// NOLINTBEGIN(bugprone-reserved-identifier): its names
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, size_t* size);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace sim {

// SystemC 2.3.4 tells the address sanitizer of every switch between its stacks, but not where the program's own stack
// lies when it comes back to it. An exception would then leave the marks of the frames that it ends, and the sanitizer
// would take the next use of that memory for an overflow. To be called after sc_start.
inline void tell_sanitizer_of_own_stack() {
  if (!__sanitizer_start_switch_fiber || !__sanitizer_finish_switch_fiber) return;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, bottom, bytes);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

}  // namespace sim
