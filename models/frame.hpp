// Ethernet frames between the NICs, and how long they take (IEEE 802.3 clause 4): 8 bytes of preamble before the
// frame, 4 of FCS and 12 of gap behind it. The FCS itself is not carried.
#pragma once
#include <cstdint>
#include <vector>

#include "hw/bus/causes.hpp"
#include "hw/bus/clock.hpp"

namespace models {

constexpr uint64_t kPreambleBytes = 8, kFcsBytes = 4, kGapBytes = 12, kMinFrameBytes = 60;

struct Frame {
  std::vector<uint8_t> bytes;  // from the destination address on, padded to 60, without FCS
  uint32_t tag = 0;            // hw::Tag of the packet
  hw::Picoseconds start = 0;   // first bit of the preamble, here
  hw::Picoseconds delay = 0;   // of the cables so far
  hw::EventId begun = 0;       // its first bit on the line of the sender, in a traced run
};

class FrameReceiver {
 public:
  virtual ~FrameReceiver() = default;
  // `frame.start` may lie ahead of the receiver's time, never behind it, and grows from call to call.
  virtual void receive(Frame&& frame) = 0;
};

// Time of `bytes` bytes at `gbps` Gb/s, rounded up to a picosecond.
constexpr hw::Picoseconds line_time(uint64_t bytes, unsigned gbps) {
  return (bytes * 8000 + gbps - 1) / gbps;
}
// From the start of a frame of `bytes` (60 and more) to the earliest start of the next one.
constexpr hw::Picoseconds frame_time(uint64_t bytes, unsigned gbps) {
  return line_time(kPreambleBytes + bytes + kFcsBytes + kGapBytes, gbps);
}

struct MacParams {
  unsigned gbps = 100;             // line rate in Gb/s
  unsigned transmit_bytes = 8192;  // data that may wait for the line before the NIC is held up
  unsigned receive_beats = 2048;   // receive buffer
};

}  // namespace models
