// All that differs between two runs, and the verdict.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/diff/captures.hpp"
#include "sim/diff/files.hpp"
#include "sim/diff/leaves.hpp"
#include "sim/diff/run_files.hpp"

namespace sim {

/// What a value of a result tells. The order is that of the report.
enum class Topic { latency, throughput, message_rate, outcome, time, counter, account };
constexpr size_t kTopics = 7;
const char* name_of(Topic topic);

/// The changes of one workload of the result.
struct WorkloadDiff {
  std::string workload;                              // "write_bw, 65536 bytes"
  std::array<std::vector<Change>, kTopics> changes;  // by Topic; counters and account: greatest change first
};

struct RunDiff {
  std::string folder_a, folder_b;
  std::vector<Change> parameters;
  std::vector<SenderDiff> senders;
  std::vector<WorkloadDiff> workloads;
  std::vector<Change> area;
  std::vector<FileDiff> files;
  std::vector<std::string> notes;  // what could not be compared, and why

  /// True when the runs did something else, one has a file that the other lacks, or their area is another. Parameters
  /// alone are no difference: they are what the runs were told, not what they did.
  bool differ() const;
  /// True when a latency, a throughput or a message rate changed by more than `percent` of A's, up or down, or when the
  /// outcome (errors, messages, memory) is another.
  bool moved_above(double percent) const;
};

/// Throws InputError when the runs cannot be compared; traces::InputError for a capture that cannot be read.
RunDiff compare_runs(const std::string& folder_a, const std::string& folder_b);

}  // namespace sim
