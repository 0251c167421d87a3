// Why something happened, for whoever accounts for time (simulation only). Streams tell by themselves which token
// released which step; what a model does at a time of its own, past any stream, it tells here. `world().causes` is null
// unless a run is traced.
#pragma once
#include <stdint.h>

#include "clock.hpp"

namespace hw {

class Scheduler;

typedef uint64_t EventId;  // something that happened at a time; 0: nothing known

// What a span of time outside of the stages is spent on.
enum class Part : uint8_t { host, pcie, mac, wire };
struct Span {
  Part part;
  Picoseconds ps;
};

// A post: the tag of its message, 0 for a row or a receive work request, and what happens then.
struct Post {
  uint32_t tag = 0;
  EventId event = 0;
};

// What a completion ends.
enum class Completes : uint8_t { send, receive, failure };

class Causes {
 public:
  virtual ~Causes() = default;

  // The running step, as far as it handles the packet `tag`.
  virtual EventId here(uint32_t tag) = 0;
  // Something of packet `tag` that the running step knows to happen at `time`, `spent` after `cause`.
  virtual EventId later(uint32_t tag, Picoseconds time, EventId cause, Span spent) = 0;
  // The same for what must wait for the edge at `edge` after all is ready at `ready`.
  virtual EventId at_edge(uint32_t tag, Picoseconds edge, Picoseconds ready, EventId cause, Span spent) = 0;
  // What the running step writes could not be written before, because of `cause` and the spans after it, in their
  // order; all was ready at `ready`, and the step waited for its edge.
  virtual void held(EventId cause, Picoseconds ready, Span first, Span second) = 0;
  // The running step makes sure that `stage` of `scheduler` is called in cycle `at` of that clock.
  virtual void woken(const Scheduler* scheduler, int stage, uint64_t at) = 0;
  // The running step posts this work request of `bytes` bytes; `receives`: it ends in a receive completion too. Returns
  // the tag of its message.
  virtual uint32_t posts(uint32_t qpn, uint32_t index, uint64_t bytes, bool receives) = 0;
  // What the running step rings a doorbell for: the work request that it has posted just now, or a row.
  virtual Post rings() = 0;
  // The running step takes an order that arrived at the edge `edge`, complete at `ready`, `spent` after `cause`, or
  // after its own post for cause 0.
  virtual void takes_order(Picoseconds edge, Picoseconds ready, EventId cause, Span spent) = 0;
  // `bytes` bytes of packet `tag` are in memory for the CPU to see with the event `visible`.
  virtual void placed(uint32_t tag, uint64_t bytes, EventId visible) = 0;
  // The completion of the message of packet `tag` is there for the CPU to see with the event `visible`.
  virtual void completed(uint32_t tag, Completes what, EventId visible) = 0;
};

}  // namespace hw
