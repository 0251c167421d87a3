#include "sim/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sim {

std::string progress_line(const Progress& p) {
  std::string line = fmt::format("{:.3f} ms simulated", static_cast<double>(p.simulated_ps) * 1e-9);
  if (p.wall_s > 0 && p.cycles > 0) {
    const double cycles_per_s = static_cast<double>(p.cycles) / p.wall_s;
    line += fmt::format(", {:.2f} Mcycle/s ({:.3g}x slower than hardware)", cycles_per_s * 1e-6,
                        static_cast<double>(p.clock_hz) / cycles_per_s);
  }
  line += fmt::format(", {} packets", p.packets);
  if (!p.fullest_stream.empty()) line += fmt::format(", {} {}/{}", p.fullest_stream, p.fill, p.capacity);
  return line;
}

ProgressDisplay::ProgressDisplay(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressDisplay::~ProgressDisplay() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressDisplay::show(const Progress& progress) {
  if (!active_) return;
  std::fprintf(stderr, "\r\033[K%s", progress_line(progress).c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace sim
