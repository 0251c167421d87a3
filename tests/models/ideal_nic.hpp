// Two hosts, each with a NIC of known timing: a work request taken in cycle c has moved its bytes in c + delay,
// completes the peer's receive then if it takes one, and completes itself in c + 2 * delay.
#pragma once
#include <deque>
#include <map>

#include "models/transfer.hpp"
#include "tests/models/kernel.hpp"

namespace test {

const hw::Clock kClock(250000000);

class IdealNic {
 public:
  IdealNic(models::Device& device, models::HostMemory& own, models::HostMemory& peer, hw::Cycles delay)
      : device_(device), own_(own), peer_(peer), delay_(delay) {
    device.on_order([this](hw::Cycles cycle) { waker.at(cycle); });
  }
  // Before the first step. QP first_qpn + i of this device is connected with QP peer's first_qpn + i.
  void join(IdealNic& peer_nic, uint32_t offset) {
    peer_nic_ = &peer_nic;
    offset_ = offset;
  }

  void step() {
    while (!done_.empty() && done_.front().first <= hw::world().now) {
      device_.complete(done_.front().second);
      done_.pop_front();
    }
    while (!received_.empty() && received_.front().first <= hw::world().now) {
      device_.complete(received_.front().second);
      received_.pop_front();
    }
    while (device_.next_order() <= hw::world().now) {
      if (const hw::Wqe* wqe = std::get_if<hw::Wqe>(&device_.order().what)) take(*wqe);
      if (const hw::ReceiveWqe* wqe = std::get_if<hw::ReceiveWqe>(&device_.order().what))
        receives_[uint32_t(wqe->qpn.u64())].push_back(*wqe);
      device_.order_taken();
    }
  }
  hw::Cycles quiet() const {
    hw::Cycles next = device_.next_order();
    if (!done_.empty()) next = std::min(next, done_.front().first);
    if (!received_.empty()) next = std::min(next, received_.front().first);
    return models::quiet_until(next);
  }

  models::Waker waker;
  uint64_t fail_from = ~uint64_t(0);  // work requests from this one on complete with an error
  bool corrupt = false;
  uint64_t misplaced = ~uint64_t(0);  // the work request that goes where the one before it went

 private:
  void take(const hw::Wqe& wqe) {
    const bool reads = wqe.operation == hw::Bits<2>(hw::kOpRead), sends = wqe.operation == hw::Bits<2>(hw::kOpSend);
    const uint64_t bytes = wqe.length.u64();
    uint64_t there = wqe.remote_address.u64(), here = wqe.local_address.u64();
    if (sends || bool(wqe.has_immediate)) {
      const hw::ReceiveWqe r = peer_nic_->receive(wqe, sends, delay_);
      if (sends) there = r.address.u64();
    }
    uint64_t& target = reads ? here : there;
    if (taken_ == misplaced) target = last_target_;
    last_target_ = target;
    move(reads ? peer_ : own_, reads ? there : here, reads ? own_ : peer_, target, bytes);
    hw::Completion c;
    c.qpn = wqe.qpn;
    c.index = wqe.index;
    c.status = hw::Bits<4>(taken_ >= fail_from ? hw::kRetriesExceeded : hw::kSuccess);
    taken_++;
    done_.emplace_back(hw::world().now + 2 * delay_, c);
  }
  void move(models::HostMemory& from, uint64_t source, models::HostMemory& to, uint64_t target, uint64_t bytes) {
    std::vector<uint8_t> data(bytes);
    from.read(source, data.data(), bytes);
    if (corrupt && bytes != 0) data[bytes / 2] ^= 1;
    if (bytes != 0) to.post(hw::world().now + delay_, target, data.data(), bytes);
  }
  hw::ReceiveWqe receive(const hw::Wqe& wqe, bool sends, hw::Cycles delay) {
    std::deque<hw::ReceiveWqe>& queue = receives_[uint32_t(wqe.qpn.u64()) - offset_];
    EXPECT_FALSE(queue.empty()) << "no receive is posted";
    if (queue.empty()) return {};
    const hw::ReceiveWqe r = queue.front();
    queue.pop_front();
    hw::ReceiveCompletion c;
    c.qpn = r.qpn;
    c.index = r.index;
    c.bytes = wqe.length;
    c.immediate = wqe.immediate;
    c.has_immediate = wqe.has_immediate;
    c.is_write = hw::Bits<1>(!sends);
    received_.emplace_back(hw::world().now + delay, c);
    waker.at(hw::world().now + delay);
    return r;
  }

  models::Device& device_;
  models::HostMemory &own_, &peer_;
  hw::Cycles delay_;
  IdealNic* peer_nic_ = nullptr;
  uint32_t offset_ = 0;  // from a QPN of this device to its peer's
  uint64_t taken_ = 0, last_target_ = 0;
  std::map<uint32_t, std::deque<hw::ReceiveWqe>> receives_;
  std::deque<std::pair<hw::Cycles, hw::Completion>> done_;
  std::deque<std::pair<hw::Cycles, hw::ReceiveCompletion>> received_;
};

inline models::DeviceParams no_latency(uint32_t first_qpn) {
  models::DeviceParams p;
  p.doorbell_latency = p.completion_latency = 0;
  p.first_qpn = first_qpn;
  return p;
}

struct Pair {
  Bench bench;
  Kernel kernel;
  models::HostMemory memory_a, memory_b;
  models::Device device_a{no_latency(17)}, device_b{no_latency(1000)};
  models::Host a{device_a, memory_a, kClock, 0xa, 0xa}, b{device_b, memory_b, kClock, 0xb, 0xb};
  IdealNic nic_a, nic_b;

  Pair(Calling calling, hw::Cycles delay)
      : kernel(calling), nic_a(device_a, memory_a, memory_b, delay), nic_b(device_b, memory_b, memory_a, delay) {
    nic_a.join(nic_b, 1000 - 17);
    nic_b.join(nic_a, 17 - 1000);
    nic_a.waker = kernel.add(nic_a);
    nic_b.waker = kernel.add(nic_b);
  }
  template <class S>
  void add(S& stage) {
    stage.waker = kernel.add(stage);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
  models::Sides sides(unsigned qps, unsigned depth) {
    models::Queues queues;
    queues.qps = qps;
    queues.max_send_wr = queues.max_recv_wr = depth;
    return models::connect_sides(a, b, queues, {});
  }
};

}  // namespace test
