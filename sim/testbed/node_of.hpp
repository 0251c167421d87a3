// The node behind sim/testbed/node.hpp, for one width of its buses.
#pragma once
#include <algorithm>

#include "hw/nic.hpp"
#include "models/card_memory.hpp"
#include "models/host_port.hpp"
#include "models/mac.hpp"
#include "models/pcie_link.hpp"
#include "models/pcie_read.hpp"
#include "models/pcie_write.hpp"
#include "sim/testbed/node.hpp"

namespace sim {

namespace detail {

constexpr hw::Picoseconds kTimeoutUnit = 4096000;  // IBTA 9.7.6.1.3

inline models::MacParams mac_params(const LinkConfig& config) {
  models::MacParams p;
  p.gbps = config.gbps;
  return p;
}

// Each node draws memory latencies of its own.
inline models::PcieParams pcie_params(const Config& config, const std::string& name) {
  models::PcieParams p = config.pcie;
  p.seed = models::KeyedRandom(config.sim.seed, name).next();
  return p;
}

inline StageDepths stage_depths(const TimingConfig& config) {
  StageDepths depths;
  for (const auto& [stage, cycles] : config.depth_cycles)
    if (cycles != 0) depths[stage] = cycles;
  return depths;
}

// Collects the counters of every stage as the wiring names them.
class CounterList {
 public:
  template <class T>
  void stream(hls::stream<T>&, const char*, unsigned, hw::Kind) {}
  template <class T>
  void port(hls::stream<T>&, const char*, unsigned, hw::Kind) {}
  template <class A, class B>
  void independent(hls::stream<A>&, hls::stream<B>&) {}
  template <class S, class... P>
  void stage(S& stage, const char* name, P...) {
    for (CounterValue& c : counters_of(stage)) values.push_back({std::string(name) + "." + c.name, c.value});
  }

  std::vector<CounterValue> values;
};

}  // namespace detail

// `Use` as in hw::Nic: which stage stands in which place.
template <unsigned W, template <class> class Use = hw::Native>
class NodeOf : public Node {
 public:
  NodeOf(unsigned number, const Config& config)
      : Node(number, config),
        elaboration_(name_, W, domain_.domain(), detail::stage_depths(config.timing)),
        mac_tx_(detail::mac_params(config.link), domain_.clock(), uplink_),
        mac_rx_(detail::mac_params(config.link), domain_.clock()),
        pcie_(config.pcie, domain_.clock()),
        card_memory_(config.card),
        pcie_read_(detail::pcie_params(config, name_), domain_.clock(), memory_, pcie_, &card_memory_),
        pcie_write_(config.pcie, domain_.clock(), memory_, pcie_, &card_memory_),
        host_port_(config.pcie, domain_.clock(), pcie_, device_) {
    configure(config.nic, kFirstQpn + number);
    nic_.wire(elaboration_);
    wire_host();
    set_address(mac_, ip_);
  }

  models::FrameReceiver& from_line() override { return mac_rx_; }
  void set_address(uint64_t mac, uint32_t ip) override { host_network_.tell(mac, ip); }
  void observe_sent(FrameObserver observer) override { mac_tx_.observe(std::move(observer)); }
  void observe_received(FrameObserver observer) override { mac_rx_.observe(std::move(observer)); }
  const Elaboration& elaboration() const override { return elaboration_; }

  std::vector<CounterValue> counters() override {
    detail::CounterList list;
    nic_.wire(list);
    auto& v = list.values;
    v.push_back({"mac.tx.frames", mac_tx_.frames});
    v.push_back({"mac.tx.bytes", mac_tx_.bytes});
    v.push_back({"mac.rx.frames", mac_rx_.frames});
    v.push_back({"mac.rx.bytes", mac_rx_.bytes});
    v.push_back({"mac.rx.dropped", mac_rx_.dropped});
    return v;
  }

 private:
  // Frames that are neither RoCE v2 nor answered by the NIC leave it here; of the host's network stack nothing is
  // modelled but that it gives the NIC its address before the simulation begins.
  class HostNetwork {
   public:
    void step(hls::stream<hw::Beat<W>>& in, hls::stream<hw::AddressControl>& control) {
      if (!in.empty()) in.read();
      if (told_ || control.full()) return;
      control.write(address_);
      told_ = true;
    }
    void tell(uint64_t mac, uint32_t ip) {
      address_.mac = hw::Bits<48>(mac);
      address_.ip = hw::Bits<32>(ip);
    }

   private:
    hw::AddressControl address_;
    bool told_ = false;
  };

  // The timer scans every row that a QP of this node can have.
  void configure(const NicConfig& c, uint32_t first_qpn) {
    nic_.rx_icrc_check.params.check = c.icrc_check;
    nic_.rx_bth.params.partition_key = c.partition_key;
    nic_.rx_echo.params.ttl = c.ttl_hops;
    nic_.msn.params.ack_every_packet = c.ack_every_packet;
    nic_.work_queue.params.ack_interval = c.ack_interval_packets;
    nic_.work_queue.params.window_packets = c.window_packets;
    nic_.work_queue.params.entries = c.retransmit_entries;
    nic_.work_queue.params.read_psns = std::min(c.read_packets, c.window_packets);
    nic_.timer.params.qps = std::min<uint32_t>(hw::kMaxQps, first_qpn + c.qp_count);
    nic_.timer.params.unit_cycles = uint32_t(hw::Clock(c.clock_hz).edge_at_or_after(detail::kTimeoutUnit));
    nic_.tx_bth.params.partition_key = c.partition_key;
    nic_.tx_bth.params.migreq = c.migreq;
    nic_.tx_ip.params.tos = c.tos;
    nic_.tx_ip.params.ttl = c.ttl_hops;
  }

  void wire_host() {
    auto& p = nic_.port;
    auto& e = elaboration_;
    e.stage(mac_tx_, "mac.tx", hw::in(p.mac_tx));
    mac_rx_.waker = {&domain_.domain().scheduler(), e.stage(mac_rx_, "mac.rx", hw::out(p.mac_rx)), true};
    e.stage(host_network_, "host.network", hw::in(p.host_rx), hw::out(p.address_control));
    e.independent(p.host_rx, p.address_control);
    e.stage(pcie_read_, "host.pcie_read", hw::in(p.dma_read), hw::out(p.dma_read_data));
    e.stage(pcie_write_, "host.pcie_write", hw::in(p.dma_write), hw::in(p.dma_write_data));
    host_port_.waker = {
        &domain_.domain().scheduler(),
        e.stage(host_port_, "host.port", hw::in(p.completions), hw::in(p.receive_completions), hw::out(p.send_queue),
                hw::out(p.receive_queue), hw::out(p.qp_state_control), hw::out(p.region_control),
                hw::out(p.receive_queue_control), hw::out(p.msn_control), hw::out(p.outstanding_reads_control),
                hw::out(p.response_queue_control), hw::out(p.connection_control), hw::out(p.work_queue_control),
                hw::out(p.flow_control_control)),
        false};
    const auto completions_never_wait_for = [&e, &p](auto&... outputs) {
      (e.independent(p.completions, outputs), ...);
      (e.independent(p.receive_completions, outputs), ...);
    };
    completions_never_wait_for(p.send_queue, p.receive_queue, p.qp_state_control, p.region_control,
                               p.receive_queue_control, p.msn_control, p.outstanding_reads_control,
                               p.response_queue_control, p.connection_control, p.work_queue_control,
                               p.flow_control_control);
  }

  hw::Nic<W, Use> nic_;
  Elaboration elaboration_;
  models::MacTx<W> mac_tx_;
  models::MacRx<W> mac_rx_;
  models::PcieLink pcie_;
  models::CardMemory card_memory_;
  models::PcieRead<W> pcie_read_;
  models::PcieWrite<W> pcie_write_;
  models::HostPort host_port_;
  HostNetwork host_network_;
};

template <unsigned W>
std::unique_ptr<Node> make_node_of(unsigned number, const Config& config) {
  return std::make_unique<NodeOf<W>>(number, config);
}

}  // namespace sim
