#pragma once

#include <array>
#include <cstdint>

namespace traces {

/// PSNs that are missing in a capture, by what became of them.
struct Losses {
  uint64_t wire = 0;     ///< lost before the tap: a NAK names them, or a retry begins in them
  uint64_t behind = 0;   ///< the tap has seen them, and a NAK names them
  uint64_t tap = 0;      ///< lost by the tap alone: later ACKs cover them
  uint64_t unknown = 0;  ///< the capture does not tell
  uint64_t ranges = 0;   ///< runs of neighbouring PSNs, all four kinds
};

enum class PacketClass : uint8_t {
  kNew,
  kRetransmission,
  kOutOfOrder,  ///< fills a hole soon after it opened, without a sign of a retry
  kMirror,      ///< a copy by the tap or the network, see MirrorDetector
  kUntrusted,   ///< its ICRC is wrong or missing, so its fields say nothing
  kOther,       ///< not of an RC connection: other transports, CM and CNP
};

/// What one request did to its sequence.
struct SequenceStep {
  PacketClass packet_class = PacketClass::kNew;
  bool retry = false;         ///< begins a run of retransmissions
  bool fills_hole = false;    ///< the tap has not seen it before
  uint32_t gap = 0;           ///< PSNs skipped before it
  uint32_t reclassified = 0;  ///< packets before it, called out of order, that were the begin of a retry
};

/// The PSNs of one requester as a tap sees them: what is new, what is sent again and what is missing. Bounded: a fixed
/// number of holes is remembered, older ones become unknown.
class PsnSequence {
 public:
  /// A hole that is filled later than this was filled by a retry.
  static constexpr int64_t kReorderWindow_ns = 100'000;

  bool started() const { return started_; }
  void start(uint32_t psn);

  /// A request of `psn` that uses up `count` PSNs.
  SequenceStep step(uint32_t psn, uint32_t count, int64_t time_ns);

  /// The PSNs used up by the newest request turn out to be fewer or more.
  void correct_next(uint32_t next) { next_ = next; }

  /// All up to and including `psn` have arrived. True when that is progress.
  bool acknowledge(uint32_t psn);

  /// A NAK for a PSN sequence error: `psn` is missing at the responder, all before it has arrived. True when the tap
  /// has seen its last transmission, so that it was lost behind the tap.
  bool refuse(uint32_t psn);

  /// After the last packet: what is missing still is unknown.
  void finish();

  uint32_t first() const { return first_; }
  uint32_t next() const { return next_; }
  uint32_t acknowledged() const { return acknowledged_; }  ///< the newest one, once any_acknowledged()
  bool any_acknowledged() const { return any_acknowledged_; }
  bool outstanding() const;
  bool has_holes() const { return holes_used_ != 0; }
  /// `psn` is due in a run of retransmissions, or behind one that is due and was lost.
  bool continues_run(uint32_t psn) const;
  const Losses& losses() const { return losses_; }
  void add_losses(const Losses& more);

 private:
  static constexpr uint32_t kHoles = 8;

  struct Hole {
    uint32_t first = 0;
    uint32_t count = 0;
    int64_t opened_ns = 0;
    bool named = false;    ///< by a NAK, or a retry began in it
    bool again = false;    ///< of a retry: the tap has seen the transmission before
    bool counted = false;  ///< in Losses::ranges
  };

  void open(uint32_t first, uint32_t count, int64_t time_ns, bool again);
  bool skips_in_run(uint32_t psn) const;
  Hole* hole_with(uint32_t psn);
  static uint32_t held_by(const Hole& hole, uint32_t psn, uint32_t count);
  void fill(Hole& hole, uint32_t psn, uint32_t count);
  void lose(Hole& hole, uint64_t Losses::*kind, uint32_t count);
  void erase(uint32_t index);
  SequenceStep step_into(Hole& hole, uint32_t psn, uint32_t count, int64_t time_ns);
  SequenceStep step_again(uint32_t psn, uint32_t count, int64_t time_ns);

  bool started_ = false;
  bool any_acknowledged_ = false;
  bool in_run_ = false;
  uint32_t first_ = 0;
  uint32_t next_ = 0;
  uint32_t acknowledged_ = 0;
  uint32_t run_first_ = 0, run_next_ = 0;    ///< the run of retransmissions under way
  uint32_t late_count_ = 0, late_next_ = 0;  ///< neighbouring packets that came out of order
  bool refused_seen_ = false;                ///< refused_ was seen by the tap, and has not been sent again
  uint32_t refused_ = 0;
  uint32_t holes_used_ = 0;
  std::array<Hole, kHoles> holes_{};  ///< in the order in which they opened
  Losses losses_;
};

}  // namespace traces
