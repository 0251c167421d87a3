// READ responses: each READ that was fed is executed once by each side, response by response the same.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

class ReadJudge {
 public:
  explicit ReadJudge(Peer peer) : peer_(peer) {}

  // A READ that was fed: its responses are [psn, psn + psns).
  void request(uint32_t psn, uint32_t psns, bool again, VerdictCounts& counts);
  void response(Side side, const Sighting& response, VerdictCounts& counts);
  // The endpoint answers the READ of `psn`, and the NIC has not.
  bool is_answered(uint32_t psn) const;
  // The responses of the NIC that wait, from `psn` on: the endpoint refused that PSN. How many there were.
  uint64_t refuse(uint32_t psn, const Sighting& nak, VerdictCounts& counts);
  void give_up(VerdictCounts& counts, const char* reason);
  // `covered`: the last PSN that the endpoint acknowledged.
  void finish(uint32_t covered, VerdictCounts& counts);

 private:
  // Consecutive responses of one side that are alike: one, or several Middles.
  struct Run {
    Sighting first;
    uint32_t offset = 0, count = 1;  // in the READ
  };
  // One execution of a READ.
  struct Execution {
    uint32_t psn = 0, psns = 0;
    uint32_t next[2] = {0, 0};  // per side: offset of the response that comes next
    bool again = false;
    Side ahead = kCaptured;
    std::vector<Run> waiting;  // of the side that is ahead

    bool holds(uint32_t psn) const;
    bool is_done() const { return waiting.empty() && next[kCaptured] >= psns && next[kSimulated] >= psns; }
  };

  size_t find(Side side, const TransportPacket& response) const;
  void meet(Execution& read, Side side, const Sighting& response, VerdictCounts& counts);
  void pass(Execution& read, Side side, uint32_t offset, VerdictCounts& counts);
  void close(size_t end, Side side, VerdictCounts& counts);
  void compare(const Execution& read, const Sighting& captured, const Sighting& simulated, VerdictCounts& counts);
  bool is_asked_again(size_t i) const;

  Peer peer_;
  std::vector<Execution> reads_;  // in the order of the requests
};

}  // namespace sim
