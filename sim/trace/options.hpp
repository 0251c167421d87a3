// What a run is asked to tell beyond its result. Changes no result.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sim {

struct TraceOptions {
  bool account = false;                      // latency.csv and the table of where the time goes
  bool timeline = false;                     // timeline.json
  bool waves = false;                        // waves.vcd
  bool ladder = false;                       // the packets as text
  std::optional<double> from_us, to_us;      // timeline, waves and ladder: what lies in this window; nothing: no bound
  std::optional<std::string> stages;         // timeline and waves: stages and streams whose names match, * and ? as in
                                             // a shell; nothing: all
  std::string folder;                        // where files go; empty: none are written
  std::string latency_file = "latency.csv";  // in the folder

  bool any() const { return account || timeline || waves || ladder; }
};

// Throws InputError for a window that is none, and for options that no trace heeds.
void check(const TraceOptions& options);

}  // namespace sim
