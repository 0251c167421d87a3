#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "traces/psn_sequence.hpp"

namespace traces {

/// The READs and atomics of one requester that wait for their responses, as a tap sees them: latencies, and which
/// response PSNs are missing. Bounded: beyond kDepth the oldest is given up.
class OutstandingReads {
 public:
  static constexpr uint32_t kDepth = 64;
  /// A requester that goes on for that long has not missed the responses that the tap misses.
  static constexpr int64_t kHorizon_ns = 2'000'000'000;

  struct Response {
    PacketClass packet_class = PacketClass::kNew;
    std::optional<int64_t> latency_ns;  ///< from the first transmission of the request to its last response
  };

  void request(uint32_t psn, uint32_t count, int64_t time_ns);

  /// The PSNs that the newest request uses up turn out to be fewer or more.
  void correct_newest(uint32_t count);

  /// A request sent again, from `psn` on. True when a response of it was missing or had not come in order.
  bool retry(uint32_t psn);

  /// A READ or atomic response. `last` is that it ends its message.
  Response response(uint32_t psn, int64_t time_ns);

  /// The response `psn` is due: it has not come, or has been asked for again.
  bool awaits(uint32_t psn) const;
  /// A response of the READ that takes `psn` was skipped and has not been asked for again.
  bool misses(uint32_t psn) const;

  void finish();

  const Losses& losses() const { return losses_; }  ///< of responses, in PSNs
  uint64_t untimed() const { return untimed_; }     ///< requests whose last response the tap has not seen

 private:
  struct Read {
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t next = 0;     ///< response PSN that is due
    uint32_t missing = 0;  ///< responses skipped and not asked for again
    int64_t sent_ns = 0;
    bool complete = false;
    bool timed = false;
    bool tail_counted = false;     ///< the responses from `next` on, as lost
    uint32_t revocable = 0;        ///< of these: one that comes twice after the retry was only late
    bool revocable_range = false;  ///< they are a range of their own
    uint32_t under_way = 0;        ///< the first of these that has not come: they were sent before the retry
  };

  Read& at(uint32_t i) { return (*reads_)[(front_ + i) % kDepth]; }
  const Read& at(uint32_t i) const { return (*reads_)[(front_ + i) % kDepth]; }
  void ask_again(Read& read, uint32_t psn);
  void give_up_front(uint64_t Losses::*kind);
  void revoke_one(Read& read);
  void pop_complete();

  std::unique_ptr<std::array<Read, kDepth>> reads_;  ///< made at the first READ
  uint32_t front_ = 0, used_ = 0;
  Losses losses_;
  uint64_t untimed_ = 0;
};

}  // namespace traces
