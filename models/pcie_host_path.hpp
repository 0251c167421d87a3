// The link's share of doorbells and completion queue entries: a device as a host's port sees it, with the PCIe link in
// between. A doorbell carries its WQE and crosses the link to the NIC behind whatever goes there; a CQE crosses the
// other one behind the payload sent before it, and reaches the device when the host has taken it. The device itself
// adds the `write_latency` of both ways.
//
// `Device` is models::Device or anything with its side to the NIC: on_order, next_order, order, order_taken, complete,
// held. The port calls settle() first in every step, and quiet() where it would ask for next_order().
#pragma once
#include <algorithm>
#include <deque>
#include <functional>

#include "models/pcie_link.hpp"
#include "models/waker.hpp"

namespace models {

template <class Device, class Cqe>
class PcieHostPath {
 public:
  PcieHostPath(const PcieParams& params, const hw::Clock& clock, PcieLink& link, Device& device)
      : params_(params), clock_(clock), link_(link), device_(device) {
    check(params);
  }
  PcieHostPath(const PcieHostPath&) = delete;
  PcieHostPath& operator=(const PcieHostPath&) = delete;

  // `callback(cycle)`: an order is there in that cycle at the earliest; to be called before the first order.
  void on_order(std::function<void(hw::Cycles)> callback) {
    device_.on_order([this, callback = std::move(callback)](hw::Cycles cycle) {
      ring();
      callback(cycle);
    });
  }
  // Takes notice of what has its place on the link, and lets the device have the CQEs that the host has taken.
  void settle() {
    link_.to_nic.settle();
    link_.to_host.settle();
    pass_on();
  }
  // The cycle in which the first order is there; no more than a lower bound until its place on the link is known, which
  // it is by then.
  hw::Cycles next_order() const {
    const hw::Cycles latency_only = device_.next_order();
    if (latency_only == hw::kForever || !doorbells_.front().grant.given()) return latency_only;
    return std::max(latency_only, clock_.edge_at_or_after(doorbells_.front().grant.end + params_.write_latency));
  }
  const auto& order() const { return device_.order(); }
  void order_taken() {
    if (hw::world().causes) explain_order(*hw::world().causes);
    device_.order_taken();
    doorbells_.pop_front();
  }
  // The NIC gives a CQE in the running cycle; of packet `tag`, for who traces.
  void complete(const Cqe& cqe, uint32_t tag = 0, hw::Completes what = hw::Completes::send) {
    const hw::EventId cause = hw::world().causes ? hw::world().causes->here(tag) : 0;
    cqes_.push_back({cqe, tag, what, Grant()});
    link_.to_host.send({now(), Priority::kCqe, kWriteHeaderBytes + params_.cqe_bytes, params_.cqe_bytes, tag, cause},
                       &cqes_.back().grant);
    pass_on();
  }
  hw::Cycles quiet() const { return std::min(quiet_until(next_order()), next_cqe()); }
  uint64_t held() const { return device_.held() + cqes_.size(); }

 private:
  struct Doorbell {
    hw::Picoseconds rung;
    Grant grant;
  };
  struct Entry {
    Cqe cqe;
    uint32_t tag;
    hw::Completes what;
    Grant grant;
  };

  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }
  void ring() {
    const hw::Post post = hw::world().causes ? hw::world().causes->rings() : hw::Post();
    doorbells_.push_back({now(), Grant()});
    link_.to_nic.send({now(), Priority::kDoorbell, kWriteHeaderBytes + params_.doorbell_bytes, 0, post.tag, post.event},
                      &doorbells_.back().grant);
  }
  void pass_on() {
    for (; !cqes_.empty() && cqes_.front().grant.given() && cqes_.front().grant.taken <= now(); cqes_.pop_front()) {
      device_.complete(cqes_.front().cqe);
      if (hw::world().causes) explain_completion(*hw::world().causes, cqes_.front());
    }
  }
  // Steps until the host has taken the oldest CQE.
  hw::Cycles next_cqe() const {
    if (cqes_.empty()) return hw::kForever;
    const Grant& grant = cqes_.front().grant;
    return grant.given() ? quiet_until(clock_.edge_at_or_after(grant.taken)) : 0;
  }

  // One that has not waited for the link is known by its own post: the device may have swapped those of one cycle.
  void explain_order(hw::Causes& causes) const {
    const Doorbell& d = doorbells_.front();
    const hw::Picoseconds arrival = d.grant.end + params_.write_latency;
    causes.takes_order(clock_.edge(next_order()), arrival, d.grant.start == d.rung ? 0 : d.grant.begins,
                       {hw::Part::pcie, arrival - d.grant.start});
  }
  // The device has a CQE in the running cycle.
  void explain_completion(hw::Causes& causes, const Entry& e) const {
    const hw::EventId given = causes.at_edge(e.tag, now(), e.grant.taken, e.grant.is_taken, {hw::Part::pcie, 0});
    const hw::Picoseconds ready = now() + params_.write_latency;
    const hw::Cycles visible = std::max(hw::world().now + 1, clock_.edge_at_or_after(ready));
    causes.completed(
        e.tag, e.what,
        causes.at_edge(e.tag, clock_.edge(visible), ready, given, {hw::Part::pcie, params_.write_latency}));
  }

  PcieParams params_;
  hw::Clock clock_;
  PcieLink& link_;
  Device& device_;
  std::deque<Doorbell> doorbells_;  // of the device's orders
  std::deque<Entry> cqes_;
};

}  // namespace models
