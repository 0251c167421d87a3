// The log of events of a traced run: what happened where and when, and which earlier event released it. An event is one
// packet's part of one step of a stage, or something that a model knows to happen at a time of its own.
#pragma once
#include <algorithm>
#include <deque>
#include <vector>

#include "hw/bus/causes.hpp"
#include "hw/bus/world.hpp"

namespace sim {

using hw::EventId;
using hw::Picoseconds;

// Who released an event; names the stage that the time since then is charged to.
enum class Release : uint8_t {
  input,  // a token that became readable: its writer
  own,    // the stage itself, busy or waiting for its own time: the stage
  room,   // an output that got room: its reader
  spans,  // a cause that a model named, spans spent since then: each its own row, what is left over the stage
};

struct Event {
  Picoseconds time = 0;
  EventId cause = 0;   // smaller than the event's own number; 0: none known
  uint32_t tag = 0;    // of its packet, or of its message before that is cut into packets
  uint16_t stage = 0;  // node * Scheduler::kMaxStages + number in the node's domain
  Release release = Release::own;
  uint32_t spans = 0;  // with Release::spans: which
};

// In the order of time, behind what is left over of the time since the cause; last comes the wait for a clock edge.
struct Spans {
  hw::Span part[2];
  Picoseconds clock = 0;
};

class EventLog {
 public:
  EventId add(const Event& event) {
    if (chunks_.empty() || chunks_.back().events.size() == kChunk) {
      chunks_.emplace_back();
      chunks_.back().events.reserve(kChunk);
    }
    Chunk& chunk = chunks_.back();
    chunk.events.push_back(event);
    chunk.latest = std::max(chunk.latest, event.time);
    return next_++;
  }
  EventId add(Event event, const Spans& spans) {
    const bool fresh = chunks_.empty() || chunks_.back().events.size() == kChunk;
    event.release = Release::spans;
    event.spans = fresh ? 0 : uint32_t(chunks_.back().spans.size());
    const EventId id = add(event);
    chunks_.back().spans.push_back(spans);
    return id;
  }
  // Null: 0, or forgotten.
  const Event* find(EventId id) const {
    if (id < first_ || id >= next_) return nullptr;
    return &chunks_[(id - first_) / kChunk].events[(id - first_) % kChunk];
  }
  Picoseconds time_of(EventId id) const {
    const Event* event = find(id);
    return event ? event->time : 0;
  }
  const Spans& spans_of(EventId id) const { return chunks_[(id - first_) / kChunk].spans[find(id)->spans]; }

  // Forgets what lies before `time`, as far as that is whole chunks.
  void forget_before(Picoseconds time) {
    while (chunks_.size() > 1 && chunks_.front().latest < time) {
      chunks_.pop_front();
      first_ += kChunk;
    }
  }
  bool chunk_begins() const { return !chunks_.empty() && chunks_.back().events.size() == 1; }
  uint64_t size() const { return next_ - 1; }

 private:
  static constexpr size_t kChunk = 65536;
  struct Chunk {
    std::vector<Event> events;
    std::vector<Spans> spans;
    Picoseconds latest = 0;
  };
  std::deque<Chunk> chunks_;
  EventId first_ = 1, next_ = 1;
};

}  // namespace sim
