#include "traces/merged_reader.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "traces/byte_stream.hpp"
#include "traces/clock_offset.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

constexpr int64_t kFarthest_ns = int64_t{1} << 61;  // 73 years; so that no sum of times overflows

struct FileClock {
  int64_t ahead_ns = 0;  // of the first file
  std::string note;
};

// Compares with the files before, in their order, until one shares packets.
FileClock clock_of(const std::vector<std::string>& files, size_t file, const std::vector<FileClock>& before) {
  const std::string name = shown_name(files[file]);
  std::string why = "no packet of it could be found in a file before it";
  for (size_t reference = 0; reference < file; ++reference) {
    if (files[file] == kStandardInput || files[reference] == kStandardInput) continue;  // cannot be read twice
    const std::optional<ClockOffset> offset = clock_offset(files[reference], files[file]);
    if (!offset) continue;
    why = "its clock is more than 73 years from that of another file";
    if (std::abs(offset->median_ns) > kFarthest_ns) continue;
    const int64_t ahead_ns = before[reference].ahead_ns + offset->median_ns;
    if (std::abs(ahead_ns) > kFarthest_ns) continue;
    return {
        ahead_ns,
        format("%s: its clock is %+.3f us ahead of %s (median of %zu packets in both, %+.3f to %+.3f us), "
               "and is corrected by that",
               name.c_str(), static_cast<double>(offset->median_ns) / 1e3, files[reference].c_str(), offset->matches,
               static_cast<double>(offset->least_ns) / 1e3, static_cast<double>(offset->most_ns) / 1e3)};
  }
  return {0, name + ": " + why + ", so its clock is taken for that of " + shown_name(files[0])};
}

}  // namespace

MergedReader::MergedReader(const std::vector<std::string>& files) : files_(files) {
  std::vector<FileClock> clocks;
  int64_t latest = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    sources_.push_back({PcapReader(files[i], static_cast<uint32_t>(i)), 0, {}, false});
    clocks.push_back(i == 0 ? FileClock{} : clock_of(files, i, clocks));
    latest = std::max(latest, clocks.back().ahead_ns);
    if (i > 0) notes_.push_back(clocks.back().note);
  }
  // Times only ever move towards later, so that none becomes negative.
  for (size_t i = 0; i < files.size(); ++i) sources_[i].correction_ns = latest - clocks[i].ahead_ns;
  if (sources_.size() > 1) {
    for (Source& source : sources_) advance(source);
  }
}

void MergedReader::advance(Source& source) {
  try {
    source.has_head = source.reader.read(source.head);
    if (source.has_head && __builtin_add_overflow(source.head.time_ns, source.correction_ns, &source.head.time_ns)) {
      throw InputError(shown_name(source.reader.file()) + ": packet " + std::to_string(source.head.index) +
                       ": the corrected time is out of range; allowed: up to 2^63 - 1 ns");
    }
  } catch (const InputError& error) {
    source.has_head = false;
    errors_.emplace_back(error.what());
  }
}

bool MergedReader::read(Packet& packet) {
  if (sources_.size() == 1) return sources_.front().reader.read(packet);
  Source* earliest = nullptr;
  for (Source& source : sources_) {
    if (source.has_head && (!earliest || source.head.time_ns < earliest->head.time_ns)) earliest = &source;
  }
  if (earliest) {
    std::swap(packet, earliest->head);
    advance(*earliest);
    return true;
  }
  if (errors_.empty()) return false;
  const std::string error = errors_.front();
  errors_.erase(errors_.begin());
  throw InputError(error);
}

}  // namespace traces
