// One direction of a cable: a propagation delay, and the faults that a plan asks for. The rate belongs to the MACs.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "models/frame.hpp"
#include "models/packet_faults.hpp"

namespace models {

// Which frames of a link go wrong: by their number, counted from 1, and by what they are.
struct FaultPlan {
  std::set<uint64_t> dropped;
  std::shared_ptr<PacketFaults> packets;  // of both links of a cable; null: none
  unsigned direction = 0;                 // of this link in `packets`

  FaultPlan& drop(uint64_t frame) {
    dropped.insert(frame);
    return *this;
  }
};

class Link : public FrameReceiver {
 public:
  Link(hw::Picoseconds delay, FrameReceiver& peer, FaultPlan faults = FaultPlan())
      : delay_(delay), peer_(peer), faults_(std::move(faults)) {}

  void receive(Frame&& frame) override;

  hw::Picoseconds delay() const { return delay_; }

  uint64_t frames = 0;   // that entered the link
  uint64_t dropped = 0;  // of these, lost by plan

 private:
  hw::Picoseconds delay_;
  FrameReceiver& peer_;
  FaultPlan faults_;
};

}  // namespace models
