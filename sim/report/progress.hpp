#pragma once

#include <cstdint>
#include <string>

namespace sim {

/// What a progress line tells of a run.
struct Progress {
  uint64_t simulated_ps = 0;
  uint64_t cycles = 0;  // of the NIC's clock
  double wall_s = 0;
  uint64_t clock_hz = 0;
  uint64_t packets = 0;
  std::string fullest_stream;  // empty: none holds anything
  uint32_t fill = 0, capacity = 0;
};

/// One line without a newline, below 100 characters:
/// "1.234 ms simulated, 2.50 Mcycle/s (100x slower than hardware), 12345 packets, nic0.rx.payload_in 60/64".
std::string progress_line(const Progress& progress);

/// Shows the line over the previous one on standard error when that is a terminal, otherwise does nothing.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool wanted);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const Progress& progress);

 private:
  bool active_;
  bool shown_ = false;
};

}  // namespace sim
