// A node: one NIC with the host, the PCIe link and the MAC around it, all in one clock domain, named in the SystemC
// hierarchy (nic0.rx.bth, nic0.host.pcie_read, ...). `Node` is what the rest of the simulator sees of it, whatever the
// width of its buses.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "models/frame.hpp"
#include "models/host.hpp"
#include "models/waker.hpp"
#include "sim/config/parameters.hpp"
#include "sim/kernel/clock_domain.hpp"
#include "sim/kernel/counters.hpp"
#include "sim/kernel/elaborate.hpp"

namespace sim {

// QP numbers count from here, one further on each node, so that the two ends of a connection have different numbers.
constexpr uint32_t kFirstQpn = 17;

class Node {
 public:
  using FrameObserver = std::function<void(const models::Frame&)>;

  virtual ~Node() = default;

  ClockDomain& domain() { return domain_; }
  const std::string& name() const { return name_; }
  models::HostMemory& memory() { return memory_; }
  models::Device& device() { return device_; }
  // The host as a workload sees it. Node n has the addresses 10.0.0.(n + 1) and 02:00:00:00:00:(n + 1).
  models::Host host() { return {device_, memory_, domain_.clock(), mac_, ip_}; }
  // Where frames from the line arrive, and where those for the line go. `connect` comes before the first run.
  virtual models::FrameReceiver& from_line() = 0;
  void connect(models::FrameReceiver& line) { uplink_.line = &line; }

  // The addresses for which the NIC answers ARP requests and pings, host()'s unless set. Before the first run.
  virtual void set_address(uint64_t mac, uint32_t ip) = 0;

  virtual void observe_sent(FrameObserver observer) = 0;
  virtual void observe_received(FrameObserver observer) = 0;
  // A workload or another model that acts on this node's clock; returns how to wake it.
  template <class S>
  models::Waker attach(const std::string& name, S& stage) {
    return {&domain_.domain().scheduler(), domain_.domain().add(name_ + "." + name, stage), false};
  }

  // The NIC's hardware counters (rx.bth.packets) and the MAC's, in the order of the pipeline.
  virtual std::vector<CounterValue> counters() = 0;
  virtual const Elaboration& elaboration() const = 0;

 protected:
  // Lets a node exist before what it is connected to.
  struct Uplink : models::FrameReceiver {
    models::FrameReceiver* line = nullptr;
    void receive(models::Frame&& frame) override {
      if (line) line->receive(std::move(frame));
    }
  };

  Node(unsigned number, const Config& config);

  std::string name_;
  ClockDomain domain_;
  models::HostMemory memory_;
  models::Device device_;
  uint64_t mac_;
  uint32_t ip_;
  Uplink uplink_;
};

// Node `number` is called nic<number>. Throws InputError for a width that is not built (nic.width).
std::unique_ptr<Node> make_node(unsigned number, const Config& config);
// The node of one width. Its definition (node_of.hpp) is compiled once a width, in a file of its own.
template <unsigned W>
std::unique_ptr<Node> make_node_of(unsigned number, const Config& config);

}  // namespace sim
