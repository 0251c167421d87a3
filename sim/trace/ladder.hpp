// The packets of a run as text, a line a packet: when it left which node, what it was, when its first beat was with
// which node, or that it was lost.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "models/frame.hpp"
#include "sim/trace/window.hpp"

namespace sim {

class Ladder {
 public:
  static constexpr size_t kMostPackets = 100000;

  explicit Ladder(const TraceWindow& window) : window_(window) {}

  void sent(const std::string& node, const models::Frame& frame);
  void received(const std::string& node, const models::Frame& frame);

  std::string text() const;
  bool empty() const { return rungs_.empty(); }

 private:
  struct Rung {
    hw::Picoseconds start;
    std::string from, what, to;  // to: empty while it is under way, or lost
    hw::Picoseconds arrival;     // of the frame's first bit
  };
  // By its first bit and its sender's address: what a frame is known by at both ends.
  using Key = std::pair<hw::Picoseconds, std::string>;
  static Key key_of(hw::Picoseconds start, const models::Frame& frame);

  TraceWindow window_;
  std::vector<Rung> rungs_;
  std::map<Key, size_t> under_way_;
  bool full_ = false;
};

}  // namespace sim
