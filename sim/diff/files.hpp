// The files of two run folders as such: which of them only one has, and the lines of counters.txt and latency.csv.
#pragma once
#include <string>
#include <vector>

#include "sim/diff/run_files.hpp"

namespace sim {

/// What two runs do not share of a file.
struct FileDiff {
  std::string file, what;  // "counters.txt", "only A has it"
};

/// Streams: what it keeps does not grow with the files. Throws InputError for a line that no run writes, also in a file
/// that only one has: FILE:LINE, what is there, what must be.
std::vector<FileDiff> compare_files(const RunFiles& a, const RunFiles& b);

}  // namespace sim
