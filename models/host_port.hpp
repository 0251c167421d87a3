// Between the host's verbs and the NIC's control and work streams: one order a cycle in order, so that every row of a
// QP has left before its first work request does; one completion of each kind a cycle.
#pragma once
#include <tuple>
#include <variant>

#include "hw/tokens.hpp"
#include "models/pcie_host_path.hpp"
#include "models/verbs.hpp"
#include "models/waker.hpp"

namespace models {

class HostPort {
 public:
  HostPort(const PcieParams& params, const hw::Clock& clock, PcieLink& link, Device& device)
      : device_(params, clock, link, device) {
    device_.on_order([this](hw::Cycles cycle) { waker.at(cycle); });
  }
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;

  // Receive completions go first, as they left the NIC: each belongs to a message that the CPU waits for.
  template <class... T>
  void step(hls::stream<hw::Completion>& completions, hls::stream<hw::ReceiveCompletion>& receive_completions,
            hls::stream<T>&... orders) {
    device_.settle();
    if (!receive_completions.empty()) complete(receive_completions.read());
    if (!completions.empty()) complete(completions.read());
    if (device_.next_order() > hw::world().now) return;
    const std::tuple<hls::stream<T>&...> streams(orders...);
    const bool taken = std::visit(
        [&streams](const auto& token) {
          return put(std::get<hls::stream<std::decay_t<decltype(token)>>&>(streams), token);
        },
        device_.order().what);
    if (taken) device_.order_taken();
  }
  hw::Cycles quiet() const { return device_.quiet(); }
  uint64_t held() const { return device_.held(); }

  Waker waker;

 private:
  void complete(const hw::ReceiveCompletion& c) { device_.complete(c, c.tag.id, hw::Completes::receive); }
  void complete(const hw::Completion& c) {
    device_.complete(c, c.tag.id, bool(c.status) ? hw::Completes::failure : hw::Completes::send);
  }

  // False when the stream is full.
  template <class T>
  static bool put(hls::stream<T>& s, const T& token) {
    if (s.full()) return false;
    s.write(token);
    return true;
  }

  PcieHostPath<Device, Cqe> device_;
};

}  // namespace models
