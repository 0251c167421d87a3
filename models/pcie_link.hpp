// The two directions of a NIC's slot, shared by all who send on them:
//   to the host   posted writes of payload, CQEs, read requests;
//   to the NIC    completions of reads, doorbells with their WQE.
//
// A direction sends TLPs one at a time in the order in which they are ready, those of one time by `Priority`. A TLP
// waits for those before it, so a read request never passes a posted write (base specification 2.4.1). A sender says in
// cycle c what is ready at c's edge or later, and learns its place in a later cycle, when everything that is ready by
// then is known: so nobody can tell in which order the senders of one cycle were called. An unlimited link answers at
// once.
//
// A posted TLP leaves when the host has credits for it, one header and ceil(bytes / 16) data (2.6.1). The host takes
// TLPs in order at `host_write_gbps`, and the credits are back `credit_latency` later. Credits for read requests are
// kept by who sends them (models/pcie_read.hpp), so that a request without credit does not hold up the writes behind
// it.
#pragma once
#include <deque>
#include <queue>
#include <vector>

#include "hw/bus/causes.hpp"
#include "hw/bus/world.hpp"
#include "models/pcie.hpp"

namespace models {

constexpr hw::Picoseconds kNotYet = ~hw::Picoseconds(0);

// Credits for one kind of buffer at the far end. They come back in the order in which they were spent.
class Credits {
 public:
  explicit Credits(uint64_t total) : free_(total) {}

  // Spends `amount` at the first time from `from` on at which so many are there, which is returned; all those spent
  // before must have been given back, with a time. At most the total.
  hw::Picoseconds spend(hw::Picoseconds from, uint64_t amount);
  // When one is there: 0 now, kNotYet when nobody knows yet.
  hw::Picoseconds next() const { return free_ != 0 ? 0 : returns_.empty() ? kNotYet : returns_.front().time; }
  // Times never fall. `taken`: the far end takes the TLP that they were spent on, for who traces.
  void give_back(hw::Picoseconds time, uint64_t amount, hw::EventId taken) {
    returns_.push_back({time, amount, taken});
  }
  // Of the credit that is the next to come, where next() says when.
  hw::EventId next_taken() const { return returns_.front().taken; }
  // Of the credits that came back last to be spent.
  hw::EventId taken() const { return taken_; }

 private:
  struct Return {
    hw::Picoseconds time;
    uint64_t amount;
    hw::EventId taken;
  };
  uint64_t free_;
  hw::EventId taken_ = 0;
  std::deque<Return> returns_;
};

// Where a TLP has its place.
struct Grant {
  hw::Picoseconds start = kNotYet;       // on the link
  hw::Picoseconds end = 0;               // of its last byte
  hw::Picoseconds taken = 0;             // by the far end, after all posted TLPs before it
  hw::EventId begins = 0, is_taken = 0;  // the same in a traced run: at `start` and `taken`

  bool given() const { return start != kNotYet; }
};

// Among TLPs that are ready at the same time; a CQE comes behind the payload before it.
enum class Priority : uint8_t { kPayload, kCqe, kReadRequest, kReadData, kDoorbell };

struct Tlp {
  hw::Picoseconds ready;
  Priority priority;
  uint64_t link_bytes;    // with its headers; several TLPs back to back may go as one
  uint64_t posted_bytes;  // that need credits and the host's attention; 0: neither
  uint32_t tag = 0;       // of its packet; for who traces, as is
  hw::EventId cause = 0;  // what happens at `ready`
};

class PcieWire {
 public:
  PcieWire(const PcieParams& params, const hw::Clock& clock);

  // `tlp.ready` lies at the edge of the running cycle or later. `grant` is filled in by then or by a later settle(),
  // and must stay where it is until it is.
  void send(const Tlp& tlp, Grant* grant);
  // Gives every TLP its place that is ready before the edge of the running cycle.
  void settle() {
    if (!waiting_.empty() && waiting_.top().tlp.ready < now()) place_waiting();
  }

 private:
  struct Waiting {
    Tlp tlp;
    uint64_t number;  // within a priority: the order in which they were sent
    Grant* grant;
    bool operator<(const Waiting& o) const {  // the top of the queue is the largest
      if (tlp.ready != o.tlp.ready) return tlp.ready > o.tlp.ready;
      if (tlp.priority != o.tlp.priority) return tlp.priority > o.tlp.priority;
      return number > o.number;
    }
  };

  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }
  void place_waiting();
  Grant place(const Tlp& tlp);
  // `returned`: the event that gave back the credits it waited for last, if it did.
  void explain(hw::Causes& causes, const Tlp& tlp, hw::EventId returned, Grant& grant);

  hw::Clock clock_;
  ByteTime link_time_, host_time_;
  hw::Picoseconds credit_latency_;
  bool unlimited_;
  Credits headers_, data_;
  std::priority_queue<Waiting> waiting_;
  uint64_t sent_ = 0;
  hw::Picoseconds free_ = 0;   // the link, from then on
  hw::Picoseconds taken_ = 0;  // the last posted TLP
  Grant last_, last_posted_;   // for who traces
};

struct PcieLink {
  PcieLink(const PcieParams& params, const hw::Clock& clock) : to_host(params, clock), to_nic(params, clock) {}
  PcieLink(const PcieLink&) = delete;
  PcieLink& operator=(const PcieLink&) = delete;

  PcieWire to_host, to_nic;
};

}  // namespace models
