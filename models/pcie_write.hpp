// Posted DMA writes to host memory, in order. A TLP is made up as soon as the NIC has delivered MPS bytes or the last
// of a command, waits for its place on the link and for credits (models/pcie_link.hpp), and all of a command is visible
// `write_latency` after the host has taken the last one. When more than `posted_bytes` wait for the link the next
// command is not taken, and the NIC backs up. A command for card memory goes there as a whole.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "hw/tokens.hpp"
#include "models/card_memory.hpp"
#include "models/edge_finder.hpp"
#include "models/host_memory.hpp"
#include "models/pcie_link.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class PcieWrite {
 public:
  // The command and when its bytes become visible in memory; called as soon as that is known.
  using Observer = std::function<void(const hw::DmaCommand&, hw::Picoseconds visible)>;

  // `card`: null when there is none.
  PcieWrite(const PcieParams& params, const hw::Clock& clock, HostMemory& memory, PcieLink& link,
            CardMemory* card = nullptr)
      : params_(params), clock_(clock), memory_(memory), link_(link), card_(card), edges_(clock) {
    check(params);
  }

  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  void step(hls::stream<hw::DmaCommand>& commands, hls::stream<hw::Beat<W>>& data) {
    settle();
    if (!active_ && has_room() && !commands.empty()) {
      if (hw::world().causes && room_.given()) explain_start(*hw::world().causes);
      start(commands.read());
    }
    if (active_ && !data.empty()) take(data.read());
  }
  hw::Cycles quiet() const {
    return active_ || has_room() ? hw::kForever : quiet_until(clock_.edge_at_or_after(sent_.front().grant.start));
  }
  uint64_t held() const { return active_ || complete_; }

 private:
  struct Sent {
    uint64_t bytes;
    Grant grant;
  };

  bool has_room() const { return waiting_ <= params_.posted_bytes; }

  // Takes notice of what the TLP sent in the cycle before was granted, and of what has begun to cross the link.
  void settle() {
    if (sent_.empty()) return;
    link_.to_host.settle();
    if (complete_) finish();
    const hw::Picoseconds now = clock_.edge(hw::world().now);
    const bool waits = hw::world().causes && !has_room();
    for (; !sent_.empty() && sent_.front().grant.start <= now; sent_.pop_front()) {
      waiting_ -= sent_.front().bytes;
      if (waits && has_room()) room_ = sent_.front().grant;
    }
  }
  void start(const hw::DmaCommand& command) {
    command_ = command;
    active_ = true;
    to_card_ = card_ && card_->holds(command.address.u64());
    filled_ = cut_ = 0;
    if (!bool(command.bytes)) hw::violation("DMA write of no bytes", "PCIe");
  }
  void take(const hw::Beat<W>& beat) {
    const size_t bytes = beat.bytes.u64();
    if (filled_ + bytes > command_.bytes.u64()) hw::violation("more data than the command asks for", "PCIe");
    if (bytes == W / 8)
      std::memcpy(data_.data() + filled_, beat.data.w, W / 8);
    else
      std::memcpy(data_.data() + filled_, beat.data.w, bytes);
    filled_ += bytes;
    const bool last = bool(beat.last);
    if (last && filled_ != command_.bytes.u64()) hw::violation("less data than the command asks for", "PCIe");
    const bool whole = to_card_ || params_.unlimited;
    if (last || (!whole && filled_ - cut_ == params_.max_payload)) send();
    if (last) end();
  }
  void send() {
    const uint64_t bytes = filled_ - cut_;
    const hw::Picoseconds now = clock_.edge(hw::world().now);
    cut_ = filled_;
    waiting_ += bytes;
    sent_.push_back({bytes, Grant()});
    Grant& grant = sent_.back().grant;
    const uint32_t tag = command_.tag.id;
    const hw::EventId cause = hw::world().causes ? hw::world().causes->here(tag) : 0;
    if (to_card_)
      grant = card_->write(now, bytes, tag, cause);
    else
      link_.to_host.send({now, Priority::kPayload, kWriteHeaderBytes + bytes, bytes, tag, cause}, &grant);
  }
  // A granted command is posted at once, others in the next cycle, by when every grant is known.
  void end() {
    active_ = false;
    complete_ = true;
    if (sent_.back().grant.given()) finish();
  }
  void finish() {
    const hw::Picoseconds latency = to_card_ ? 0 : params_.write_latency;
    const Grant& grant = sent_.back().grant;
    HostMemory& memory = to_card_ ? card_->memory() : memory_;
    const hw::Cycles visible =
        memory.post(visible_cycle(grant.taken + latency), command_.address.u64(), data_.data(), filled_);
    for (const Observer& observer : observers_) observer(command_, clock_.edge(visible));
    if (hw::world().causes) explain_visible(*hw::world().causes, grant, latency, clock_.edge(visible));
    complete_ = false;
  }
  hw::Cycles visible_cycle(hw::Picoseconds time) { return std::max(hw::world().now + 1, edges_.at_or_after(time)); }

  // A command that waited for room is taken when the TLP that made it has begun.
  void explain_start(hw::Causes& causes) {
    if (clock_.edge_at_or_after(room_.start) == hw::world().now) causes.held(room_.begins, room_.start, {}, {});
    room_ = Grant();
  }
  void explain_visible(hw::Causes& causes, const Grant& last, hw::Picoseconds latency, hw::Picoseconds visible) const {
    const uint32_t tag = command_.tag.id;
    causes.placed(tag, filled_,
                  causes.at_edge(tag, visible, last.taken + latency, last.is_taken, {hw::Part::pcie, latency}));
  }

  PcieParams params_;
  hw::Clock clock_;
  HostMemory& memory_;
  PcieLink& link_;
  CardMemory* card_;
  EdgeFinder edges_;  // of the visible times
  std::vector<Observer> observers_;
  hw::DmaCommand command_;
  bool active_ = false;    // data is still to come
  bool complete_ = false;  // all data is there, but not yet posted to memory
  bool to_card_ = false;
  std::array<uint8_t, kMaxTransferBytes + W / 8> data_;
  size_t filled_ = 0, cut_ = 0;  // bytes of the command that came, and that are in TLPs
  std::deque<Sent> sent_;        // not yet on the link
  uint64_t waiting_ = 0;         // bytes of them
  Grant room_;                   // of the TLP that made room for the next command, for who traces
};

}  // namespace models
