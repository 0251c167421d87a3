// Records a traced run: for every packet in every step of every stage, which earlier event released it. Exactly one
// does. In the order in which they are asked for:
//
//   spans  a cause named by a model, past all streams (hw/bus/causes.hpp): a frame on the line, data of the host
//   input  a token of the packet that became readable in this very cycle
//   own    the stage's step in the cycle before, which handled the same packet
//   room   an output that was full and got room in this very cycle
//   own    the stage's step in the cycle before, which handled another packet
//   own    the latest step of the stage that had to do with it: it took the packet, or what that is cut from, or a
//          credit for its QP; wrote the same output for another; or took a command that it has not passed on; the stage
//          waited for its own time
//   room   the same, where the output got room later than that: a stage may look for room some cycles before it writes
//
// Ports in the order of step(). What was released last is what counts, and all that is released in a cycle is released
// at once: whatever is asked for first would have held the step up as long as anything behind it.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/bus/clock.hpp"
#include "sim/kernel/elaborate.hpp"
#include "sim/trace/events.hpp"
#include "sim/trace/stream_track.hpp"

namespace sim {

// A work request on its way from the post to its completion.
struct TracedMessage {
  uint16_t node = 0;
  uint32_t qpn = 0, index = 0;  // of the work request, modulo 2^16
  uint64_t bytes = 0, placed = 0;
  bool receives = false;          // ends in a receive completion too
  EventId begun = 0, posted = 0;  // the CPU begins the post; rings the doorbell
  EventId visible = 0;            // all bytes are in the memory that they go to; 0: not yet, or no bytes
  EventId completed = 0;          // the completion is there for the CPU to see
  EventId received = 0;           // the receive completion is, for the target's
};

// What else looks at a traced run. Times grow within a node.
class TraceListener {
 public:
  virtual ~TraceListener() = default;
  // Stage `stage` has handled packet `tag` in this step.
  virtual void step(unsigned stage, uint32_t tag, Picoseconds time) = 0;
  // A token has entered or left the stream in this cycle; `stream` shows it as it is behind that.
  virtual void moved(unsigned node, const StreamTrack& stream, hw::Cycles cycle) = 0;
};

class Recorder : public hw::Causes {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override { hw::world().causes = nullptr; }

  // Observes the domain from now on. Nodes are numbered in the order of the calls.
  void observe(const std::string& node, Domain& domain, const hw::Clock& clock, const Elaboration& elaboration);
  // `finished(message)`: once for each message that has completed, when its data and all completions are visible too.
  void on_finished(std::function<void(const TracedMessage&)> finished) { finished_ = std::move(finished); }
  void add_listener(TraceListener& listener) { listeners_.push_back(&listener); }

  const EventLog& log() const { return log_; }
  // The message that a packet belongs to, as a tag of its own kind; 0: none.
  uint32_t message_of(uint32_t tag) const;
  // The request that a READ response answers; any other packet itself.
  uint32_t request_of(uint32_t tag) const;
  // The node that gave a packet its tag.
  static unsigned node_of(uint32_t tag);

  struct Node {
    std::string name;
    Domain* domain;
    hw::Clock clock;
    std::vector<StreamTrack> streams;
  };
  std::vector<std::unique_ptr<Node>>& nodes() { return nodes_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  static constexpr unsigned kStages = hw::Scheduler::kMaxStages;
  const StageRecord* stage(unsigned number) const;

  EventId here(uint32_t tag) override;
  EventId later(uint32_t tag, Picoseconds time, EventId cause, hw::Span spent) override;
  EventId at_edge(uint32_t tag, Picoseconds edge, Picoseconds ready, EventId cause, hw::Span spent) override;
  void held(EventId cause, Picoseconds ready, hw::Span first, hw::Span second) override;
  void woken(const hw::Scheduler* scheduler, int stage, uint64_t at) override;
  uint32_t posts(uint32_t qpn, uint32_t index, uint64_t bytes, bool receives) override;
  hw::Post rings() override;
  void takes_order(Picoseconds edge, Picoseconds ready, EventId cause, hw::Span spent) override;
  void placed(uint32_t tag, uint64_t bytes, EventId visible) override;
  void completed(uint32_t tag, hw::Completes what, EventId visible) override;

 private:
  // Its own observer of each domain.
  struct Observer : StepObserver {
    Recorder* recorder;
    unsigned node;
    void stepped(int stage, hw::Cycles cycle) override { recorder->stepped(node, stage, cycle); }
  };
  struct Touched {
    uint32_t tag = 0;
    EventId event = 0;
  };
  struct Waking {
    hw::Cycles due;
    EventId cause;
  };
  struct Stage {
    std::vector<StreamTrack*> inputs, outputs;
    std::vector<EventId> last_write;                            // by output
    std::array<Touched, 1024> touched;                          // latest event by tag; direct-mapped
    std::vector<Touched> kept;                                  // packets taken and not passed on, the latest last
    std::unordered_map<uint32_t, std::deque<EventId>> granted;  // by QPN: the last tokens that let it go on
    hw::Cycles shortest = hw::kForever;                         // from what is taken to a packet that is cut
    EventId last = 0;
    std::deque<Waking> wakings;  // of a stage without streams
    EventId wake = 0;            // the latest of them that is due
    bool takes_orders = false;   // the host's port
  };
  // The step that runs, or has just run.
  struct Step {
    hw::Cycles cycle = 0;
    Picoseconds time = 0;
    unsigned number = 0;  // of the stage
    Stage* stage = nullptr;
    struct Taken {
      StreamTrack* from;
      TrackedToken token;
    };
    std::vector<Taken> taken;
    std::vector<Touched> events;
    std::vector<Touched> parents;  // of the packets that it cuts
    std::vector<uint32_t> passed;
    hw::Post post;  // the latest
    struct {
      Picoseconds edge = 0, ready = 0;
      EventId cause = 0;
      hw::Span spent{};
    } order;
  };
  struct Held {
    bool named = false;
    EventId cause = 0;
    Picoseconds ready = 0;
    hw::Span first{}, second{};
  };

  void stepped(unsigned node, int stage, hw::Cycles cycle);
  Stage& stage_of(unsigned number);
  void begin_step(unsigned number, hw::Cycles cycle);
  void running();
  void take_inputs();
  void write_outputs();
  void write(size_t output);
  void end_step();
  void tell_moved(const StreamTrack& stream);
  struct Written {
    uint32_t tag, parent;  // parent: the message or request that a new packet is cut from, else 0
  };
  void note_grant(const TokenLook& look, EventId event);
  Written tag_of_written(const TokenLook& look);
  EventId cut_from(uint32_t parent, const TokenLook& look);
  EventId arrival(uint32_t tag);
  void finish_if_done(uint32_t message);
  void forget();

  EventId event_of(uint32_t tag) const;
  EventId add(uint32_t tag, EventId cause, Release release);
  EventId add_held(uint32_t tag);
  EventId add_read(uint32_t tag);
  EventId add_write(uint32_t tag, size_t output, EventId taken);
  EventId touched(uint32_t tag) const;
  EventId just_before(EventId event) const;
  EventId gave_room() const;

  EventLog log_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<TraceListener*> listeners_;
  std::function<void(const TracedMessage&)> finished_;
  Step step_;
  Held held_;
  bool stepping_ = false;                               // a model has told something in the step that runs
  std::vector<std::pair<unsigned, hw::Cycles>> woken_;  // by the step that runs: stage, cycle

  struct Packet {
    uint32_t message = 0, request = 0;  // request: of a READ response
  };
  std::vector<std::vector<Packet>> packets_;              // by node and number in the tag
  std::vector<uint32_t> messages_made_;                   // by node
  std::unordered_map<uint32_t, TracedMessage> messages_;  // on their way
};

}  // namespace sim
