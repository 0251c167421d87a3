// What a run is asked to tell beyond its result. Changes no result.
#pragma once
#include <cstdint>
#include <string>

namespace sim {

struct TraceOptions {
  bool account = false;              // latency.csv and the table of where the time goes
  bool timeline = false;             // timeline.json
  bool waves = false;                // waves.vcd
  bool ladder = false;               // the packets as text
  double from_us = 0, to_us = 1e12;  // timeline, waves and ladder: what lies in this window
  std::string stages = "*";          // timeline and waves: stages and streams whose names match, * and ? as in a shell
  std::string folder;                // where files go; empty: none are written

  bool any() const { return account || timeline || waves || ladder; }
};

// Throws InputError for options that contradict each other or say nothing.
void check_trace(const TraceOptions& options);

}  // namespace sim
