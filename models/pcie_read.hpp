// DMA reads of host memory, in order. A command is issued as read requests of at most MRRS bytes, one a cycle while
// tags and credits are free. A request crosses the link behind the posted writes before it (models/pcie_link.hpp),
// finds them in memory, waits for the memory (models/memory_latency.hpp), and its completions cross the link the other
// way, those of different requests in the order in which memory has them. Each piece is handed to the NIC in the order
// of the commands as soon as it is there, or at the rate of the DMA engine once the whole command is. Without other
// traffic a first piece of n link bytes takes
//
//   (24 + n) on the link + read_latency + memory latency + device_read_latency.
//
// The place of a request is known a cycle after it was issued, and memory answers no earlier: with latencies below the
// clock period a read waits for that edge.
//
// A beat is read from memory when it is handed to the NIC; PCIe lets later writes pass a read request. A command for
// card memory is read there, at its place in the order.
#pragma once
#include <algorithm>
#include <deque>

#include "hw/tokens.hpp"
#include "models/card_memory.hpp"
#include "models/edge_finder.hpp"
#include "models/host_memory.hpp"
#include "models/memory_latency.hpp"
#include "models/pcie_link.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class PcieRead {
 public:
  // `card`: null when there is none.
  PcieRead(const PcieParams& params, const hw::Clock& clock, HostMemory& memory, PcieLink& link,
           CardMemory* card = nullptr)
      : params_(params),
        clock_(clock),
        memory_(memory),
        link_(link),
        card_(card),
        link_time_(params),
        engine_time_(params.unlimited ? 0 : params.device_gbps),
        memory_latency_(params.memory, params.seed),
        credits_(params.nonposted_headers),
        edges_(clock),
        way_back_(std::min(params.write_latency, params.read_latency - params.write_latency)) {
    check(params);
  }

  void step(hls::stream<hw::DmaCommand>& commands, hls::stream<hw::Beat<W>>& data) {
    if (left_ == 0 && !commands.empty()) take(commands.read());
    if (on_the_way_) reach_memory();
    if (left_ != 0 && may_issue()) issue();
    if (!requests_.empty() && !data.full() && beat_is_there()) {
      if (hw::world().causes && beat_due_ == hw::world().now) explain_beat(*hw::world().causes);
      data.write(next_beat());
    }
  }
  hw::Cycles quiet() const {
    if (issued_ == hw::world().now) return 0;
    const hw::Cycles beat = requests_.empty() ? hw::kForever : quiet_until(beat_due_);
    return left_ == 0 || !tag_free() ? beat : std::min(beat, quiet_until(credit_due()));
  }
  uint64_t held() const { return left_ + requests_.size(); }

 private:
  static constexpr uint64_t kBeatBytes = W / 8;
  struct Request {
    uint64_t address, bytes;
    uint32_t tag;
    bool last;  // of its command
    bool from_card;
    hw::Picoseconds ready;  // memory has its data
    Grant up, down;         // of the request; of its completions, or of the card's port
  };
  struct Arrival {
    hw::Picoseconds time;
    bool sure;                  // else no earlier than that, and known after `time` and after the request's `ready`
    hw::Picoseconds start = 0;  // of the data on its way; for who traces, as is
    hw::EventId begins = 0;     // what happens then
  };

  bool tag_free() const { return params_.unlimited || requests_.size() < params_.outstanding_reads; }
  bool may_issue() const { return tag_free() && (free_of_credits() || credits_.next() <= now()); }
  bool free_of_credits() const { return from_card_ || params_.unlimited; }
  hw::Cycles credit_due() const {
    if (free_of_credits() || credits_.next() == kNotYet) return hw::kForever;
    return clock_.edge_at_or_after(credits_.next());
  }
  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }

  void take(const hw::DmaCommand& command) {
    address_ = command.address.u64();
    left_ = command.bytes.u64();
    tag_ = command.tag.id;
    from_card_ = card_ && card_->holds(address_);
    if (left_ == 0) hw::violation("DMA read of no bytes", "PCIe");
  }

  void issue() {
    const bool whole = from_card_ || params_.unlimited;
    const hw::EventId issued = hw::world().causes ? explain_issue(*hw::world().causes) : 0;
    const uint64_t bytes = whole ? left_ : std::min<uint64_t>(left_, params_.max_read_request);
    left_ -= bytes;
    issued_ = hw::world().now;
    requests_.push_back({address_, bytes, tag_, left_ == 0, from_card_, kNotYet, Grant(), Grant()});
    Request& r = requests_.back();
    address_ += bytes;
    if (from_card_) {
      r.ready = now();
      r.down = card_->read(now(), bytes, tag_, issued);
      return;
    }
    if (!params_.unlimited) credits_.spend(now(), 1);
    link_.to_host.send({now(), Priority::kReadRequest, kReadHeaderBytes, 0, tag_, issued}, &r.up);
    on_the_way_ = !r.up.given();
    if (r.up.given()) reach_memory();
  }
  // The request issued last: its place on the link is known, and with it when memory has the data.
  void reach_memory() {
    link_.to_host.settle();
    Request& r = requests_.back();
    on_the_way_ = false;
    if (!params_.unlimited) credits_.give_back(r.up.taken + params_.credit_latency, 1, r.up.is_taken);
    const hw::Picoseconds in_memory = r.up.taken + params_.read_latency - way_back_ + memory_latency_.next();
    r.ready = std::max(in_memory, now());
    hw::Causes* causes = hw::world().causes;
    const hw::EventId ready =
        causes ? causes->at_edge(r.tag, r.ready, in_memory, r.up.is_taken, {hw::Part::pcie, in_memory - r.up.taken})
               : 0;
    link_.to_nic.send({r.ready, Priority::kReadData, read_data_link_bytes(params_, r.bytes), 0, r.tag, ready}, &r.down);
  }

  // When the first `bytes` of a request are in the NIC.
  Arrival arrival(Request& r, uint64_t bytes) {
    if (r.from_card) return {card_->arrival(r.down, bytes), true, r.down.start, r.down.begins};
    if (r.ready == kNotYet) return {now(), false};
    if (!r.down.given()) link_.to_nic.settle();
    const hw::Picoseconds start = r.down.given() ? r.down.start : r.ready;
    const hw::Picoseconds time = start + link_time_.of(read_data_link_bytes(params_, bytes)) + way_back_;
    return {time + params_.device_read_latency, r.down.given(), start, r.down.begins};
  }
  // The completion that holds the byte before `end` of the first request.
  Arrival completion(uint64_t end) {
    Request& r = requests_.front();
    const uint64_t piece = completion_bytes(params_);
    arrived_ = r.from_card ? end : params_.unlimited ? r.bytes : std::min(pieces(end, piece) * piece, r.bytes);
    return arrival(r, arrived_);
  }
  // The same when the DMA engine waits for the whole of the first command and then moves it.
  Arrival moved(uint64_t end) {
    arrived_ = end;
    Arrival whole = command_in_;
    for (auto r = requests_.begin(); !whole.sure && r != requests_.end(); ++r) {
      const Arrival a = arrival(*r, r->bytes);
      if (a.time > whole.time) whole = {a.time, false, a.start, a.begins};
      if (!a.sure) break;
      whole.sure = r->last;
    }
    command_in_ = whole;
    whole.time += engine_time_.of(command_sent_ + end);
    return whole;
  }

  // The next beat is there in the running cycle; if not, `beat_due_` is when to look again.
  bool beat_is_there() {
    if (beat_due_ > hw::world().now) return false;
    const uint64_t end = std::min(sent_ + kBeatBytes, requests_.front().bytes);
    if (end > arrived_) find(end);
    return end <= arrived_ && beat_due_ <= hw::world().now;
  }
  void find(uint64_t end) {
    const bool cut_through = params_.device_gbps == 0 || params_.unlimited || requests_.front().from_card;
    const Arrival a = cut_through ? completion(end) : moved(end);
    beat_due_ = edges_.at_or_after(a.time);
    if (hw::world().causes) due_by_ = a;
    if (a.sure) return;
    arrived_ = 0;
    beat_due_ = std::max(hw::world().now + 1, beat_due_);
  }
  hw::Beat<W> next_beat() {
    const Request& request = requests_.front();
    HostMemory& memory = request.from_card ? card_->memory() : memory_;
    hw::Beat<W> beat;
    const uint64_t bytes = std::min(kBeatBytes, request.bytes - sent_);
    if (bytes == kBeatBytes)
      memory.template read_fixed<kBeatBytes>(request.address + sent_, beat.data.w);
    else
      memory.read(request.address + sent_, beat.data.w, bytes);
    beat.bytes = typename hw::Beat<W>::Count(bytes);
    beat.tag.id = request.tag;
    sent_ += bytes;
    if (sent_ == request.bytes) end_request(beat);
    return beat;
  }
  void end_request(hw::Beat<W>& beat) {
    const Request& request = requests_.front();
    beat.last = hw::Bits<1>(request.last);
    command_sent_ = request.last ? 0 : command_sent_ + request.bytes;
    if (request.last) command_in_ = {0, false};
    requests_.pop_front();
    sent_ = arrived_ = 0;
    beat_due_ = hw::world().now + 1;
  }

  // A request is issued with its command, or when a credit has come back for it.
  hw::EventId explain_issue(hw::Causes& causes) const {
    const hw::Picoseconds back = free_of_credits() ? 0 : credits_.next();
    if (back == 0 || clock_.edge_at_or_after(back) != hw::world().now) return causes.here(tag_);
    return causes.at_edge(tag_, now(), back, credits_.next_taken(), {hw::Part::pcie, params_.credit_latency});
  }
  // Why the next beat leaves in its first possible cycle: its last byte has come.
  void explain_beat(hw::Causes& causes) const {
    causes.held(due_by_.begins, due_by_.time, {hw::Part::pcie, due_by_.time - due_by_.start}, {});
  }

  PcieParams params_;
  hw::Clock clock_;
  HostMemory& memory_;
  PcieLink& link_;
  CardMemory* card_;
  ByteTime link_time_, engine_time_;
  MemoryLatency memory_latency_;
  Credits credits_;
  EdgeFinder edges_;
  hw::Picoseconds way_back_;         // of read_latency, the part between link and NIC
  uint64_t address_ = 0, left_ = 0;  // of the command being issued
  uint32_t tag_ = 0;
  bool from_card_ = false;
  bool on_the_way_ = false;           // the last request has no place on the link yet
  hw::Cycles issued_ = hw::kForever;  // cycle of the last request: a command may wait behind it
  std::deque<Request> requests_;
  uint64_t sent_ = 0;     // bytes of the first request that the NIC has
  uint64_t arrived_ = 0;  // bytes of it that are there at beat_due_; 0: look again then
  hw::Cycles beat_due_ = 0;
  uint64_t command_sent_ = 0;     // bytes of the first command in requests that are done
  Arrival command_in_{0, false};  // all of it
  Arrival due_by_{0, false};      // of the bytes that are there at beat_due_, for who traces
};

}  // namespace models
