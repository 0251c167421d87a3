#include "sim/testbed/wire_capture.hpp"

namespace sim {

WireCapture::WireCapture(Node& node, const std::string& file) : clock_(node.domain().clock()), writer_(file) {
  node.observe_sent([this](const models::Frame& frame) { add(kSent, frame); });
  node.observe_received([this](const models::Frame& frame) { add(kReceived, frame); });
}

void WireCapture::add(Direction direction, const models::Frame& frame) {
  waiting_.emplace(std::make_tuple(frame.start, direction, count_[direction]++), frame.bytes);
  const hw::Picoseconds now = clock_.edge(hw::world().now);
  if (now > kSettled) write_until(now - kSettled);
}

void WireCapture::write_until(hw::Picoseconds time) {
  while (!waiting_.empty() && std::get<0>(waiting_.begin()->first) <= time) {
    const auto& first = *waiting_.begin();
    writer_.write(std::get<0>(first.first), {first.second.data(), first.second.size()});
    waiting_.erase(waiting_.begin());
  }
}

}  // namespace sim
