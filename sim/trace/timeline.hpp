// timeline.json in the trace-event format of Chrome, which Perfetto opens (docs/where-the-time-goes.md): a process a
// NIC, a track a stage with a slice for each run of steps on one packet, an async slice a packet and node, an arrow
// from a request's frame to the step that takes its acknowledgement, and a counter a FIFO.
#pragma once
#include <iosfwd>
#include <unordered_map>
#include <vector>

#include "sim/trace/recorder.hpp"
#include "sim/trace/window.hpp"

namespace sim {

class Timeline : public TraceListener {
 public:
  // About 60 MB of file.
  static constexpr size_t kMostEvents = 400000;

  Timeline(const Recorder& recorder, const TraceWindow& window) : recorder_(recorder), window_(window) {}

  void step(unsigned stage, uint32_t tag, Picoseconds time) override;
  void moved(unsigned node, const StreamTrack& stream, hw::Cycles cycle) override;

  // For after the run.
  void write(std::ostream& out);
  bool empty() const { return slices_.empty() && counts_.empty(); }
  // The first time that is not in the file because it is full; 0: it holds the whole window.
  Picoseconds full_at() const { return full_at_; }

 private:
  struct Slice {
    unsigned stage = 0;
    uint32_t tag = 0;
    Picoseconds from = 0, to = 0;  // to: end of the last step's cycle
  };
  struct Count {
    unsigned node;
    const hw::StreamBase* stream;
    Picoseconds time;
    uint64_t fill;
  };
  struct Life {
    Picoseconds from, to;
    unsigned first_stage, last_stage;
  };
  struct Request {
    unsigned sender = 0, taker = 0;  // stages: the MAC of the sender; who takes the acknowledgement
    Picoseconds sent = 0, acknowledged = 0;
  };

  bool room(Picoseconds time);
  bool wanted(unsigned stage);
  Picoseconds cycle_of(unsigned stage) const { return recorder_.nodes()[stage / Recorder::kStages]->clock.edge(1); }
  void note_request(unsigned stage, uint32_t tag, Picoseconds time);

  const Recorder& recorder_;
  TraceWindow window_;
  std::vector<Slice> slices_;
  std::unordered_map<unsigned, size_t> open_;  // by stage: its last slice
  std::vector<Count> counts_;
  std::map<std::pair<uint32_t, unsigned>, Life> lives_;  // by tag and node
  std::map<uint32_t, Request> requests_;                 // by tag
  std::vector<int8_t> wanted_;                           // by stage: 0 not asked yet, 1 yes, -1 no
  Picoseconds full_at_ = 0;
};

}  // namespace sim
