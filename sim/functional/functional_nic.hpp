// The NIC without its line, its host and SystemC: the stages that judge and the stages that ask, between the parsed
// packet and the packet to be framed, on the kernel of the clocked NIC. Nothing waits for memory or the line, and
// time-outs never run out.
#pragma once
#include <vector>

#include "hw/nic.hpp"
#include "sim/config/parameters.hpp"
#include "sim/kernel/elaborate.hpp"
#include "sim/replay/replay_nic.hpp"

namespace sim {

class FunctionalNic : public ReplayNic {
 public:
  explicit FunctionalNic(const Config& config);
  FunctionalNic(const FunctionalNic&) = delete;
  FunctionalNic& operator=(const FunctionalNic&) = delete;

  void observe_sent(Observer observer) override { line_.observer = std::move(observer); }
  void set_responder(uint32_t connection, const ResponderState& state) override;
  void set_requester(uint32_t connection, const RequesterState& state) override;
  void set_region(const OpenRegion& region) override;
  void post_receive(uint32_t connection, uint32_t length_bytes) override;
  void post_send(uint32_t connection, const WorkRequest& work) override;
  void receive(uint32_t connection, const TransportPacket& packet, traces::ByteSpan frame) override;
  void settle() override { domain_.run(hw::kForever); }

 private:
  // In the place of rx.payload: nothing has to reach memory before it is acknowledged.
  struct Placer {
    void step(hls::stream<hw::Placement>& in, hls::stream<hw::RxAck>& acks);
  };
  // In the place of tx.arbiter and what follows it.
  struct Line {
    void step(hls::stream<hw::TxPacket>& responses, hls::stream<hw::TxPacket>& requests);
    Observer observer;
  };
  // Ends of streams that nobody waits for.
  struct Ends {
    void step(hls::stream<hw::Completion>& completions, hls::stream<hw::TimerCommand>& timer);
  };
  struct Queue {
    uint16_t next_send = 0, next_receive = 0;
    bool receives = false;
  };

  void configure(const NicConfig& config);
  void wire_responder();
  void wire_requester();
  template <class Rows>
  void set(const Rows& rows);
  template <class T>
  void put(hls::stream<T>& stream, const T& token);
  Queue& queue(uint32_t connection);

  NicConfig config_;
  Domain domain_{DomainOptions()};
  Elaboration wiring_;
  hw::Cycles now_ = 0;  // of the last token that was put in
  std::vector<Queue> queues_;

  hw::tables::QpState qp_state_;
  hw::tables::MemoryRegion memory_region_;
  hw::tables::ReceiveQueue receive_queue_;
  hw::tables::Msn msn_;
  hw::tables::OutstandingReads outstanding_reads_;
  hw::tx::ResponseQueue response_queue_;
  hw::tx::WorkQueue work_queue_;
  hw::tx::FlowControl flow_control_;
  hw::tables::Retransmit retransmit_;
  hw::tx::AckMerge ack_merge_;
  Placer placer_;
  Line line_;
  Ends ends_;

  hls::stream<hw::RxTransport> qp_in_;
  hls::stream<hw::RxChecked> region_in_, receive_in_, msn_in_;
  hls::stream<hw::ReceivePosted> receive_posted_;
  hls::stream<hw::RxVerdict> verdict_;
  hls::stream<hw::Placement> placement_;
  hls::stream<hw::Response> response_;
  hls::stream<hw::ReadServed> read_served_;
  hls::stream<hw::RxAck> ack_, merged_ack_;
  hls::stream<hw::ReadIssued> read_issued_;
  hls::stream<hw::ReadAnswered> read_answered_;
  hls::stream<hw::Credit> credit_;
  hls::stream<hw::TxPacket> new_packet_, packet_, response_packet_;
  hls::stream<hw::ListCommand> list_;
  hls::stream<hw::TimerCommand> timer_;
  hls::stream<hw::TimerExpired> expired_;
  hw::NicPorts<64> port_;  // its queues and control streams alone
};

}  // namespace sim
