// libFuzzer's target for the readers and the decoder: build/tests/traces/fuzz [-max_total_time=60] FOLDER...
// Its input is a capture file, and also a frame.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz_checks.hpp"

namespace {

// A file that lives in memory.
int memory_file() {
  static const int descriptor = memfd_create("capture", 0);
  return descriptor;
}

void stop_at(const std::string& problem) {
  if (problem.empty()) return;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memory_file();
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  stop_at(traces::test::problem_of_capture("/proc/self/fd/" + std::to_string(file)));
  stop_at(traces::test::problem_of_frame({data, size}));
  return 0;
}
