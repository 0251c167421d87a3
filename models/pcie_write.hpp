// Posted DMA writes to host memory, in order: the data crosses the link at its rate, TLP by TLP as the NIC delivers it
// (models/pcie.hpp), and becomes visible `write_latency` later, all of a command at once. When more than `posted_bytes`
// wait for the link the next command is not taken, and the NIC backs up.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "hw/tokens.hpp"
#include "models/edge_finder.hpp"
#include "models/host_memory.hpp"
#include "models/pcie.hpp"
#include "models/waker.hpp"

namespace models {

template <unsigned W>
class PcieWrite {
 public:
  // The command and when its bytes become visible in memory; called as soon as that is known.
  using Observer = std::function<void(const hw::DmaCommand&, hw::Picoseconds visible)>;

  PcieWrite(const PcieParams& params, const hw::Clock& clock, HostMemory& memory)
      : params_(params), clock_(clock), memory_(memory), link_(params), edges_(clock) {
    check(params);
  }

  void observe(Observer observer) { observers_.push_back(std::move(observer)); }

  void step(hls::stream<hw::DmaCommand>& commands, hls::stream<hw::Beat<W>>& data) {
    if (!active_ && hw::world().now >= room_ && !commands.empty()) {
      command_ = commands.read();
      active_ = true;
      if (!bool(command_.bytes)) hw::violation("DMA write of no bytes", "PCIe");
    }
    if (active_ && !data.empty()) take(data.read());
  }
  hw::Cycles quiet() const { return active_ ? hw::kForever : quiet_until(room_); }
  uint64_t held() const { return active_; }

 private:
  void take(const hw::Beat<W>& beat) {
    if (filled_ == 0) {
      first_beat_ = hw::world().now;
      if (hw::world().causes) begun_ = hw::world().causes->here(command_.tag.id);
    }
    const size_t bytes = beat.bytes.u64();
    if (filled_ + bytes > command_.bytes.u64()) hw::violation("more data than the command asks for", "PCIe");
    if (bytes == W / 8)
      std::memcpy(data_.data() + filled_, beat.data.w, W / 8);
    else
      std::memcpy(data_.data() + filled_, beat.data.w, bytes);
    filled_ += bytes;
    if (bool(beat.last)) finish();
  }
  void finish() {
    if (filled_ != command_.bytes.u64()) hw::violation("less data than the command asks for", "PCIe");
    const hw::Cycles visible = memory_.post(visible_cycle(), command_.address.u64(), data_.data(), filled_);
    for (const Observer& observer : observers_) observer(command_, clock_.edge(visible));
    if (hw::world().causes) explain(*hw::world().causes, clock_.edge(visible));
    filled_ = 0;
    active_ = false;
  }
  // Why the bytes become visible when they do: the last beat, the first one, or the write before takes the link last.
  void explain(hw::Causes& causes, hw::Picoseconds visible) {
    const hw::Picoseconds now = clock_.edge(hw::world().now);
    const uint32_t tag = command_.tag.id;
    hw::EventId crossed = causes.here(tag);
    if (!params_.unlimited) {
      const hw::Picoseconds all = link_.of(write_link_bytes(params_, filled_)), first = clock_.edge(first_beat_);
      const bool by_last = link_free_ > first + all && crossed_at_ + all < link_free_;
      const hw::EventId cause = by_last ? crossed : first + all == link_free_ ? begun_ : crossed_;
      crossed = causes.later(tag, link_free_, cause, {hw::Part::pcie, by_last ? link_free_ - now : all});
      crossed_ = crossed;
      crossed_at_ = link_free_;
    }
    const hw::Picoseconds end = params_.unlimited ? now : link_free_;
    causes.placed(
        tag, filled_,
        causes.at_edge(tag, visible, end + params_.write_latency, crossed, {hw::Part::pcie, params_.write_latency}));
  }

  hw::Cycles visible_cycle() {
    const hw::Cycles now = hw::world().now;
    if (params_.unlimited && params_.write_latency == 0) return now + 1;
    const hw::Picoseconds time = clock_.edge(now);
    const hw::Picoseconds end = params_.unlimited ? time : cross_link(time);
    return std::max(now + 1, edges_.at_or_after(end + params_.write_latency));
  }
  // When the last byte has crossed the link, if the last beat came at `time`.
  hw::Picoseconds cross_link(hw::Picoseconds time) {
    const hw::Picoseconds begin = first_beat_ == hw::world().now ? time : clock_.edge(first_beat_);
    const uint64_t last_tlp = filled_ - (pieces(filled_, params_.max_payload) - 1) * params_.max_payload;
    link_free_ = std::max(std::max(link_free_, begin) + link_.of(write_link_bytes(params_, filled_)),
                          time + link_.of(kWriteHeaderBytes + last_tlp));
    const hw::Picoseconds waiting = link_.of(params_.posted_bytes);
    if (link_free_ > time + waiting) room_ = clock_.edge_at_or_after(link_free_ - waiting);
    return link_free_;
  }

  PcieParams params_;
  hw::Clock clock_;
  HostMemory& memory_;
  LinkTime link_;
  EdgeFinder edges_;  // of the visible times
  std::vector<Observer> observers_;
  hw::DmaCommand command_;
  bool active_ = false;
  std::array<uint8_t, 4096 + W / 8> data_;
  size_t filled_ = 0;
  hw::Cycles first_beat_ = 0;
  hw::Picoseconds link_free_ = 0, crossed_at_ = 0;  // after the last write, as told to who traces
  hw::EventId begun_ = 0, crossed_ = 0;             // first beat of the command; end of the write before on the link
  hw::Cycles room_ = 0;                             // the next command is taken from this cycle on
};

}  // namespace models
