// The line of a host, to tell when a message that comes on it had not been posted yet.
#pragma once
#include <algorithm>
#include <cstdint>

namespace sim {

class HostLine {
 public:
  // The place of a connection's last request in the order of the host's packets.
  using Turn = uint64_t;

  // Of a connection that has not sent: what has been since the host's first packet counts.
  Turn first_turn() const { return std::min<uint64_t>(packets_, 1); }

  void packet(int64_t time_ns) {
    packets_++;
    if (packets_ == 1 || time_ns - last_ns_ > kIdle_ns) behind_idle_ = packets_;
    last_ns_ = time_ns;
  }

  // Of the packet just seen, a request of the connection whose turn that is: whether the line was idle since the one
  // before. What had been posted then would have gone.
  bool was_idle_since(Turn& turn) {
    const bool idle = behind_idle_ > turn;
    turn = packets_;
    return idle;
  }

 private:
  static constexpr int64_t kIdle_ns = 500;  // without a packet

  uint64_t packets_ = 0;
  uint64_t behind_idle_ = 0;  // the last packet that came after an idle line
  int64_t last_ns_ = 0;
};

}  // namespace sim
