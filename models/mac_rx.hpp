// Receive side of the MAC: a beat is offered at the first clock edge at or after the arrival of its last byte. The line
// does not wait: when the beats of a frame do not fit into the buffer as it stands when the frame's first beat is due,
// the whole frame is dropped and counted.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "hw/bus/beat.hpp"
#include "hw/bus/stream.hpp"
#include "models/edge_finder.hpp"
#include "models/frame.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class MacRx : public FrameReceiver {
 public:
  using Observer = std::function<void(const Frame&)>;

  MacRx(const MacParams& params, const hw::Clock& clock) : params_(params), clock_(clock), edges_(clock) {}

  // Sees every frame that arrives, dropped or not, when its first beat is due.
  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  void receive(Frame&& frame) override {
    const hw::Cycles due = clock_.edge_at_or_after(arrival(frame, first_beat(frame)));
    waker.at(due);
    arriving_.push_back({std::move(frame), due});
  }

  void step(hls::stream<hw::Beat<W>>& out) {
    while (!arriving_.empty() && arriving_.front().due <= hw::world().now) admit();
    if (buffered_.empty() || beat_due_ > hw::world().now || out.full()) return;
    const Frame& frame = buffered_.front();
    hw::Beat<W> beat;
    const size_t bytes = std::min<size_t>(kBeatBytes, frame.bytes.size() - sent_);
    std::memcpy(beat.data.w, frame.bytes.data() + sent_, bytes);
    beat.bytes = typename hw::Beat<W>::Count(bytes);
    beat.tag.id = frame.tag;
    sent_ += bytes;
    beat.last = hw::Bits<1>(sent_ == frame.bytes.size());
    if (hw::world().causes && beat_due_ == hw::world().now) explain(*hw::world().causes, frame);
    out.write(beat);
    fill_--;
    if (bool(beat.last)) {
      buffered_.pop_front();
      sent_ = 0;
    }
    find_next_beat();
  }
  hw::Cycles quiet() const {
    const hw::Cycles frame = arriving_.empty() ? hw::kForever : arriving_.front().due;
    return std::min(quiet_until(frame), buffered_.empty() ? hw::kForever : quiet_until(beat_due_));
  }
  uint64_t held() const { return fill_ + arriving_.size(); }

  uint64_t frames = 0, bytes = 0;  // received; padding and FCS included
  uint64_t dropped = 0;            // of these, frames that found the buffer full
  Waker waker;

 private:
  static constexpr size_t kBeatBytes = W / 8;
  struct Arriving {
    Frame frame;
    hw::Cycles due;  // of its first beat
  };

  hw::Picoseconds arrival(const Frame& frame, size_t end) const {
    return frame.start + line_time(kPreambleBytes + end, params_.gbps);
  }
  static size_t first_beat(const Frame& frame) { return std::min(kBeatBytes, frame.bytes.size()); }

  // Why the beat that ends at `sent_` leaves in its first possible cycle: its last byte has come.
  void explain(hw::Causes& causes, const Frame& frame) const {
    const hw::Picoseconds ready = arrival(frame, sent_), on_line = line_time(kPreambleBytes + sent_, params_.gbps);
    causes.held(frame.begun, ready, {hw::Part::mac, on_line}, {hw::Part::wire, frame.delay});
  }

  void admit() {
    Frame frame = std::move(arriving_.front().frame);
    arriving_.pop_front();
    frames++;
    bytes += frame.bytes.size() + kFcsBytes;
    for (const Observer& observer : observers_) observer(frame);
    const uint64_t beats = (frame.bytes.size() + kBeatBytes - 1) / kBeatBytes;
    if (fill_ + beats > params_.receive_beats) {
      dropped++;
      return;
    }
    fill_ += beats;
    buffered_.push_back(std::move(frame));
    if (buffered_.size() == 1) find_next_beat();
  }
  void find_next_beat() {
    if (buffered_.empty()) return;
    const Frame& frame = buffered_.front();
    beat_due_ = edges_.at_or_after(arrival(frame, std::min(sent_ + kBeatBytes, frame.bytes.size())));
  }

  MacParams params_;
  hw::Clock clock_;
  EdgeFinder edges_;
  std::vector<Observer> observers_;
  std::deque<Arriving> arriving_;
  std::deque<Frame> buffered_;
  uint64_t fill_ = 0;        // beats admitted and not yet offered
  size_t sent_ = 0;          // bytes of the first buffered frame that are gone
  hw::Cycles beat_due_ = 0;  // of its next beat
};

}  // namespace models
