// Transmit side of the MAC: collects a frame whole (a frame once begun cannot wait for the NIC), pads it, and hands it
// to the line at max(now, line free). It takes the next frame while no more than `transmit_bytes` wait for the line.
#pragma once
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "hw/bus/beat.hpp"
#include "hw/bus/stream.hpp"
#include "models/frame.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class MacTx {
 public:
  using Observer = std::function<void(const Frame&)>;

  MacTx(const MacParams& params, const hw::Clock& clock, FrameReceiver& line)
      : params_(params), clock_(clock), line_(line) {}

  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  void step(hls::stream<hw::Beat<W>>& in) {
    if ((frame_.bytes.empty() && hw::world().now < room_) || in.empty()) return;
    const hw::Beat<W>& beat = in.read();
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(beat.data.w);
    if (frame_.bytes.empty()) frame_.bytes.reserve(largest_);
    frame_.bytes.insert(frame_.bytes.end(), bytes, bytes + beat.bytes.u64());
    if (bool(beat.last)) send(beat.tag.id);
  }
  hw::Cycles quiet() const { return quiet_until(room_); }
  uint64_t held() const { return frame_.bytes.size(); }

  uint64_t frames = 0, bytes = 0;  // sent; padding and FCS included, as an Ethernet counter has them

 private:
  void send(uint32_t tag) {
    largest_ = std::max(largest_, frame_.bytes.size());
    if (frame_.bytes.size() < kMinFrameBytes) frame_.bytes.resize(kMinFrameBytes);
    frame_.tag = tag;
    const hw::Picoseconds now = clock_.edge(hw::world().now);
    frame_.start = std::max(now, line_free_);
    if (hw::world().causes) frame_.begun = begin(*hw::world().causes, now);
    begun_ = frame_.begun;
    started_ = frame_.start;
    line_free_ = frame_.start + frame_time(frame_.bytes.size(), params_.gbps);
    const hw::Picoseconds waiting = line_time(params_.transmit_bytes, params_.gbps);
    room_ = line_free_ <= waiting ? 0 : clock_.edge_at_or_after(line_free_ - waiting);
    frames++;
    bytes += frame_.bytes.size() + kFcsBytes;
    for (const Observer& observer : observers_) observer(frame_);
    line_.receive(std::exchange(frame_, Frame()));
  }

  // The frame begins with its last beat, or when the line is free of the frame before.
  hw::EventId begin(hw::Causes& causes, hw::Picoseconds now) const {
    const bool waits = line_free_ > now;
    return causes.later(frame_.tag, frame_.start, waits ? begun_ : causes.here(frame_.tag),
                        {hw::Part::mac, waits ? frame_.start - started_ : 0});
  }

  MacParams params_;
  hw::Clock clock_;
  FrameReceiver& line_;
  std::vector<Observer> observers_;
  Frame frame_;
  size_t largest_ = kMinFrameBytes;              // what to reserve for a frame
  hw::Picoseconds line_free_ = 0, started_ = 0;  // of the last frame
  hw::EventId begun_ = 0;                        // the same, for who traces
  hw::Cycles room_ = 0;                          // the next frame is taken from this cycle on
};

}  // namespace models
