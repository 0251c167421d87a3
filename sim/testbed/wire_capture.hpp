// Writes what a node sends and receives to a pcap file, in the order of the first bits on its line. Times are
// simulated.
#pragma once
#include <map>
#include <string>
#include <tuple>

#include "sim/testbed/node.hpp"
#include "traces/pcap_writer.hpp"

namespace sim {

class WireCapture {
 public:
  WireCapture(Node& node, const std::string& file);
  WireCapture(const WireCapture&) = delete;
  WireCapture& operator=(const WireCapture&) = delete;
  // Writes what is still waiting; after the run.
  void finish() { write_until(~hw::Picoseconds(0)); }

 private:
  enum Direction { kReceived, kSent };
  // Frames are told in the order of the clock, which may differ from that of their first bits by less than this.
  static constexpr hw::Picoseconds kSettled = 2000000;

  void add(Direction direction, const models::Frame& frame);
  void write_until(hw::Picoseconds time);

  const hw::Clock& clock_;
  traces::PcapWriter writer_;
  uint64_t count_[2] = {0, 0};
  std::map<std::tuple<hw::Picoseconds, Direction, uint64_t>, std::vector<uint8_t>> waiting_;
};

}  // namespace sim
