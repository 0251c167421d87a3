// Between the host's verbs and the NIC's control and work streams: one order a cycle in order, so that every row of a
// QP has left before its first work request does, and one completion a cycle.
#pragma once
#include "hw/tokens.hpp"
#include "models/verbs.hpp"
#include "models/waker.hpp"

namespace models {

class HostPort {
 public:
  explicit HostPort(Device& device) : device_(device) {
    device.on_order([this](hw::Cycles cycle) { waker.at(cycle); });
  }
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;

  void step(hls::stream<hw::Wqe>& send_queue, hls::stream<hw::Completion>& completions,
            hls::stream<hw::QpStateControl>& qp_state, hls::stream<hw::MsnControl>& msn,
            hls::stream<hw::RegionControl>& region, hls::stream<hw::ConnectionControl>& connection,
            hls::stream<hw::WorkQueueControl>& work_queue, hls::stream<hw::FlowControlControl>& flow_control) {
    if (!completions.empty()) device_.complete(completions.read());
    if (device_.next_order() > hw::world().now) return;
    const Ports ports{send_queue, qp_state, msn, region, connection, work_queue, flow_control};
    if (std::visit(ports, device_.order().what)) device_.order_taken();
  }
  hw::Cycles quiet() const { return quiet_until(device_.next_order()); }
  uint64_t held() const { return device_.held(); }

  Waker waker;

 private:
  // Writes an order to the stream of its type; false when that is full.
  struct Ports {
    hls::stream<hw::Wqe>& send_queue;
    hls::stream<hw::QpStateControl>& qp_state;
    hls::stream<hw::MsnControl>& msn;
    hls::stream<hw::RegionControl>& region;
    hls::stream<hw::ConnectionControl>& connection;
    hls::stream<hw::WorkQueueControl>& work_queue;
    hls::stream<hw::FlowControlControl>& flow_control;

    template <class T>
    static bool put(hls::stream<T>& s, const T& token) {
      if (s.full()) return false;
      s.write(token);
      return true;
    }
    bool operator()(const hw::Wqe& t) const { return put(send_queue, t); }
    bool operator()(const hw::QpStateControl& t) const { return put(qp_state, t); }
    bool operator()(const hw::MsnControl& t) const { return put(msn, t); }
    bool operator()(const hw::RegionControl& t) const { return put(region, t); }
    bool operator()(const hw::ConnectionControl& t) const { return put(connection, t); }
    bool operator()(const hw::WorkQueueControl& t) const { return put(work_queue, t); }
    bool operator()(const hw::FlowControlControl& t) const { return put(flow_control, t); }
  };

  Device& device_;
};

}  // namespace models
