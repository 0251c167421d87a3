// The link's share of doorbells and completion queue entries. A host's port to the NIC keeps one of these: a doorbell
// with its WQE crosses the link to the NIC behind whatever goes there, a CQE crosses the other one behind the payload
// sent before it. How the port uses it, with a device that adds `write_latency` both ways by itself:
//
//   when an order is posted           path.ring();
//   first of all in step()            path.settle();
//   a completion from the NIC         path.complete(completions.read());
//                                     while (path.cqe_is_out()) device.complete(path.take_cqe());
//   whether the first order is there  path.order_due(device.next_order()) <= now
//   when it is handed on              path.order_taken();
//   quiet()                           least of quiet_until(path.order_due(device.next_order())) and path.quiet()
#pragma once
#include <algorithm>
#include <deque>

#include "models/pcie_link.hpp"
#include "models/waker.hpp"

namespace models {

template <class Cqe>
class PcieHostPath {
 public:
  PcieHostPath(const PcieParams& params, const hw::Clock& clock, PcieLink& link)
      : params_(params), clock_(clock), link_(link) {
    check(params);
  }

  // The CPU writes a doorbell in the running cycle.
  void ring() {
    orders_.emplace_back();
    link_.to_nic.send({now(), Priority::kDoorbell, kWriteHeaderBytes + params_.doorbell_bytes, 0}, &orders_.back());
  }
  void settle() {
    link_.to_nic.settle();
    link_.to_host.settle();
  }
  // The cycle in which the first order under way reaches the NIC; `latency_only` if it had the link for itself, and at
  // no cost. A lower bound until its place on the link is known, which it is by then; kForever stays so.
  hw::Cycles order_due(hw::Cycles latency_only) const {
    if (latency_only == hw::kForever || orders_.empty() || !orders_.front().given()) return latency_only;
    return std::max(latency_only, clock_.edge_at_or_after(orders_.front().end + params_.write_latency));
  }
  void order_taken() { orders_.pop_front(); }

  // The NIC gives a CQE in the running cycle.
  void complete(const Cqe& cqe) {
    cqes_.push_back({cqe, Grant()});
    link_.to_host.send({now(), Priority::kCqe, kWriteHeaderBytes + params_.cqe_bytes, params_.cqe_bytes},
                       &cqes_.back().grant);
  }
  // The host has taken the oldest CQE; it is visible `write_latency` later.
  bool cqe_is_out() const {
    return !cqes_.empty() && cqes_.front().grant.given() && cqes_.front().grant.taken <= now();
  }
  Cqe take_cqe() {
    const Cqe cqe = cqes_.front().cqe;
    cqes_.pop_front();
    return cqe;
  }
  hw::Cycles quiet() const {
    if (cqes_.empty()) return hw::kForever;
    const Grant& grant = cqes_.front().grant;
    return grant.given() ? quiet_until(clock_.edge_at_or_after(grant.taken)) : 0;
  }
  uint64_t held() const { return cqes_.size(); }

 private:
  struct Entry {
    Cqe cqe;
    Grant grant;
  };
  hw::Picoseconds now() const { return clock_.edge(hw::world().now); }

  PcieParams params_;
  hw::Clock clock_;
  PcieLink& link_;
  std::deque<Grant> orders_;
  std::deque<Entry> cqes_;
};

}  // namespace models
