// DMA reads of host memory, in order. A command is issued as read requests of at most MRRS bytes, one a cycle while
// tags are free; the data of a request begins `read_latency` after it, or behind the data of the request before it,
// and arrives at the rate of the link, completion by completion (models/pcie.hpp). A beat is read from memory when it
// is handed to the NIC. Requests are not charged to the link from the NIC, completions do not overtake.
#pragma once
#include <algorithm>
#include <deque>

#include "hw/tokens.hpp"
#include "models/edge_finder.hpp"
#include "models/host_memory.hpp"
#include "models/pcie.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class PcieRead {
 public:
  PcieRead(const PcieParams& params, const hw::Clock& clock, HostMemory& memory)
      : params_(params), clock_(clock), memory_(memory), link_(params), edges_(clock) {
    check(params);
  }

  void step(hls::stream<hw::DmaCommand>& commands, hls::stream<hw::Beat<W>>& data) {
    if (left_ == 0 && !commands.empty()) take(commands.read());
    if (left_ != 0 && tag_free()) issue();
    if (!requests_.empty() && beat_due_ <= hw::world().now && !data.full()) {
      if (hw::world().causes && data_due_ == hw::world().now) explain(*hw::world().causes);
      data.write(next_beat());
    }
  }
  hw::Cycles quiet() const {
    if ((left_ != 0 && tag_free()) || issued_ == hw::world().now) return 0;
    return requests_.empty() ? hw::kForever : quiet_until(beat_due_);
  }
  uint64_t held() const { return left_ + requests_.size(); }

 private:
  static constexpr uint64_t kBeatBytes = W / 8;
  struct Request {
    uint64_t address, bytes;
    uint32_t tag;
    bool last;                // of its command
    hw::Picoseconds arrival;  // of its first byte
    hw::EventId begun;        // the same, for who traces
  };

  bool tag_free() const { return params_.unlimited || requests_.size() < params_.outstanding_reads; }

  void take(const hw::DmaCommand& command) {
    address_ = command.address.u64();
    left_ = command.bytes.u64();
    tag_ = command.tag.id;
    if (left_ == 0) hw::violation("DMA read of no bytes", "PCIe");
  }
  void issue() {
    const uint64_t bytes = params_.unlimited ? left_ : std::min<uint64_t>(left_, params_.max_read_request);
    const hw::Picoseconds first = clock_.edge(hw::world().now) + params_.read_latency;
    const hw::Picoseconds arrival = std::max(first, link_free_);
    if (hw::world().causes) begun_ = begin(*hw::world().causes, first, arrival);
    if (!params_.unlimited) link_free_ = arrival + link_.of(read_data_link_bytes(params_, bytes));
    started_ = arrival;
    left_ -= bytes;
    issued_ = hw::world().now;
    requests_.push_back({address_, bytes, tag_, left_ == 0, arrival, begun_});
    address_ += bytes;
    if (requests_.size() == 1) find_next_beat();
  }
  hw::Beat<W> next_beat() {
    const Request& request = requests_.front();
    hw::Beat<W> beat;
    const uint64_t bytes = std::min(kBeatBytes, request.bytes - sent_);
    if (bytes == kBeatBytes)
      memory_.template read_fixed<kBeatBytes>(request.address + sent_, beat.data.w);
    else
      memory_.read(request.address + sent_, beat.data.w, bytes);
    beat.bytes = typename hw::Beat<W>::Count(bytes);
    beat.tag.id = request.tag;
    sent_ += bytes;
    if (sent_ == request.bytes) {
      beat.last = hw::Bits<1>(request.last);
      requests_.pop_front();
      sent_ = arrived_ = 0;
    }
    find_next_beat();
    return beat;
  }
  // A beat is there when the completion with its last byte is.
  void find_next_beat() {
    if (requests_.empty()) return;
    const Request& request = requests_.front();
    const uint64_t end = std::min(sent_ + kBeatBytes, request.bytes);
    if (end > arrived_) {
      const uint64_t piece = completion_bytes(params_);
      arrived_ = params_.unlimited ? request.bytes : std::min(pieces(end, piece) * piece, request.bytes);
      data_due_ = beat_due_ = edges_.at_or_after(request.arrival + link_.of(read_data_link_bytes(params_, arrived_)));
    }
    beat_due_ = std::max(hw::world().now + 1, beat_due_);
  }

  // The data of a request begins its latency after it, or when the link is free of the data before.
  hw::EventId begin(hw::Causes& causes, hw::Picoseconds first, hw::Picoseconds arrival) const {
    return arrival == first ? causes.later(tag_, arrival, causes.here(tag_), {hw::Part::pcie, params_.read_latency})
                            : causes.later(tag_, arrival, begun_, {hw::Part::pcie, arrival - started_});
  }
  // Why the next beat leaves in its first possible cycle: the completion with its last byte has come.
  void explain(hw::Causes& causes) const {
    const Request& request = requests_.front();
    const hw::Picoseconds on_link = link_.of(read_data_link_bytes(params_, arrived_));
    causes.held(request.begun, request.arrival + on_link, {hw::Part::pcie, on_link}, {});
  }

  PcieParams params_;
  hw::Clock clock_;
  HostMemory& memory_;
  LinkTime link_;
  EdgeFinder edges_;
  uint64_t address_ = 0, left_ = 0;  // of the command being issued
  uint32_t tag_ = 0;
  hw::Cycles issued_ = hw::kForever;  // cycle of the last request: a command may wait behind it
  std::deque<Request> requests_;
  uint64_t sent_ = 0;                            // bytes of the first request that the NIC has
  uint64_t arrived_ = 0;                         // bytes of it that are there at beat_due_
  hw::Cycles beat_due_ = 0, data_due_ = 0;       // of the next beat, of its data
  hw::Picoseconds link_free_ = 0, started_ = 0;  // by the last request
  hw::EventId begun_ = 0;
};

}  // namespace models
