// Latencies in buckets of an eighth of an octave: a percentile is right to one part in sixteen, in a fixed size.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace sim {

class LatencyHistogram {
 public:
  void add(int64_t latency_ns) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(latency_ns, 0));
    ++counts_[bucket_of(ns)];
    ++count_;
    least_ = std::min(least_, ns);
    most_ = std::max(most_, ns);
  }

  void add(const LatencyHistogram& other) {
    for (size_t i = 0; i < kBuckets; i++) counts_[i] += other.counts_[i];
    count_ += other.count_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
  }

  uint64_t count() const { return count_; }
  uint64_t least_ns() const { return count_ == 0 ? 0 : least_; }
  uint64_t most_ns() const { return most_; }

  /// The latency that `percent` (0 to 100) of all do not exceed: the middle of its bucket. 0 without any.
  uint64_t percentile_ns(double percent) const {
    if (count_ == 0) return 0;
    const auto rank =
        std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(percent / 100 * static_cast<double>(count_))));
    uint64_t below = 0;
    size_t bucket = 0;
    while ((below += counts_[bucket]) < rank) bucket++;
    const uint64_t middle = (begin_of(bucket) + begin_of(bucket + 1)) / 2;
    return std::clamp(middle, least_, most_);
  }

 private:
  static constexpr unsigned kStepBits = 3;  // eight buckets an octave
  static constexpr size_t kSteps = 1 << kStepBits;
  static constexpr size_t kOctaves = 40;  // up to 2^43 ns, two hours
  static constexpr size_t kBuckets = kSteps * kOctaves;

  // Values below kSteps have a bucket each; above, the octave and the three bits behind the leading one count.
  static size_t bucket_of(uint64_t ns) {
    if (ns < kSteps) return ns;
    const unsigned octave = 63u - static_cast<unsigned>(__builtin_clzll(ns)) - kStepBits;
    const size_t step = (ns >> octave) - kSteps;
    return std::min((octave + 1) * kSteps + step, kBuckets - 1);
  }
  static uint64_t begin_of(size_t bucket) {
    if (bucket < kSteps) return bucket;
    return (kSteps + bucket % kSteps) << (bucket / kSteps - 1);
  }

  std::array<uint32_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  uint64_t least_ = ~uint64_t{0}, most_ = 0;
};

}  // namespace sim
