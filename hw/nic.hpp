// The NIC: which stages exist, and which stream joins which. The only place that says so.
//
//   receive   mac_rx > ethernet > l3_length > icrc_check > packet_store > header_split > ip > udp > bth > ext_headers
//             > qp_state > memory_region > receive_queue > msn > outstanding_reads > payload > dma_write
//   transmit  send_queue > work_queue > flow_control > retransmit > arbiter > connection > payload > ext_headers
//             > bth > udp > ip > ethernet > frame > icrc_insert > frame_merge > mac_tx
//   between   responses and acknowledgements to send: msn > response_queue > arbiter
//             acknowledgements that came: rx.payload > ack_merge > flow_control
//             READs of ours: flow_control > outstanding_reads > work_queue
//             frames that are not RoCE v2: rx.ethernet > echo > host_rx; ARP and ICMP replies: echo > reply_store >
//             frame_merge
//
// `wire(v)` walks over all of it: the simulation builds its shells from it, tests check the graph, tools draw it.
//   v.stream(s, name, capacity, kind)          a stream inside the NIC
//   v.port(s, name, capacity, kind)            a stream that joins the NIC to the world
//   v.stage(stage, name, in(a), out(b), ...)   a stage and its ports, in the order of its step()
// Where an input never waits for some output of its stage, `v.independent(input, output)` says so; all other outputs
// may hold all inputs up. A test proves the resulting "may wait for" graph acyclic (rule 7).
#pragma once
#include "bus/ports.hpp"
#include "rx/bth.hpp"
#include "rx/echo.hpp"
#include "rx/ethernet.hpp"
#include "rx/ext_headers.hpp"
#include "rx/header_split.hpp"
#include "rx/icrc_check.hpp"
#include "rx/ip.hpp"
#include "rx/l3_length.hpp"
#include "rx/packet_store.hpp"
#include "rx/payload.hpp"
#include "rx/udp.hpp"
#include "tables/connection.hpp"
#include "tables/memory_region.hpp"
#include "tables/msn.hpp"
#include "tables/outstanding_reads.hpp"
#include "tables/qp_state.hpp"
#include "tables/receive_queue.hpp"
#include "tables/retransmit.hpp"
#include "tables/timer.hpp"
#include "tx/ack_merge.hpp"
#include "tx/arbiter.hpp"
#include "tx/bth.hpp"
#include "tx/ethernet.hpp"
#include "tx/ext_headers.hpp"
#include "tx/flow_control.hpp"
#include "tx/frame.hpp"
#include "tx/frame_merge.hpp"
#include "tx/icrc_insert.hpp"
#include "tx/ip.hpp"
#include "tx/payload.hpp"
#include "tx/response_queue.hpp"
#include "tx/udp.hpp"
#include "tx/work_queue.hpp"

namespace hw {

// The outside of a NIC.
template <unsigned W>
struct NicPorts {
  hls::stream<Beat<W>> mac_rx, mac_tx;  // frames without FCS
  hls::stream<Beat<W>> host_rx;         // frames that are not RoCE v2 and not answered by the NIC
  hls::stream<Wqe> send_queue;
  hls::stream<ReceiveWqe> receive_queue;
  hls::stream<Completion> completions;
  hls::stream<ReceiveCompletion> receive_completions;
  hls::stream<DmaCommand> dma_read, dma_write;
  hls::stream<Beat<W>> dma_read_data, dma_write_data;

  hls::stream<AddressControl> address_control;
  hls::stream<QpStateControl> qp_state_control;
  hls::stream<MsnControl> msn_control;
  hls::stream<RegionControl> region_control;
  hls::stream<ReceiveQueueControl> receive_queue_control;
  hls::stream<OutstandingReadsControl> outstanding_reads_control;
  hls::stream<ResponseQueueControl> response_queue_control;
  hls::stream<ConnectionControl> connection_control;
  hls::stream<WorkQueueControl> work_queue_control;
  hls::stream<FlowControlControl> flow_control_control;
};

// Which stage stands in a place: the one that is named there, unless a simulation tries another. `Use<S>` must have the
// ports of S; sim/foreign/ has an example.
template <class Stage>
using Native = Stage;

template <unsigned W, template <class> class Use = Native>
struct Nic {
  NicPorts<W> port;

  Use<rx::Ethernet<W>> rx_ethernet;
  Use<rx::L3Length<W>> rx_l3_length;
  Use<rx::IcrcCheck<W>> rx_icrc_check;
  Use<rx::PacketStore<W>> rx_packet_store;
  Use<rx::HeaderSplit<W>> rx_header_split;
  Use<rx::Ip> rx_ip;
  Use<rx::Udp> rx_udp;
  Use<rx::Bth> rx_bth;
  Use<rx::ExtHeaders> rx_ext_headers;
  Use<tables::QpState> qp_state;
  Use<tables::MemoryRegion> memory_region;
  Use<tables::ReceiveQueue> receive_queue;
  Use<tables::Msn> msn;
  Use<tables::OutstandingReads> outstanding_reads;
  Use<rx::Payload<W>> rx_payload;
  Use<rx::Echo<W>> rx_echo;
  Use<rx::PacketStore<W, kReplyBytes, rx::kDrops>> rx_reply_store;

  Use<tx::WorkQueue> work_queue;
  Use<tx::FlowControl> flow_control;
  Use<tables::Retransmit> retransmit;
  Use<tables::Timer> timer;
  Use<tx::AckMerge> ack_merge;
  Use<tx::ResponseQueue> response_queue;
  Use<tx::Arbiter> arbiter;
  Use<tables::Connection> connection;
  Use<tx::Payload> tx_payload;
  Use<tx::ExtHeaders> tx_ext_headers;
  Use<tx::Bth> tx_bth;
  Use<tx::Udp> tx_udp;
  Use<tx::Ip> tx_ip;
  Use<tx::Ethernet> tx_ethernet;
  Use<tx::Frame<W>> tx_frame;
  Use<tx::IcrcInsert<W>> tx_icrc_insert;
  Use<tx::FrameMerge<W>> tx_frame_merge;

  template <class V>
  void wire(V& v) {
    wire_ports(v);
    wire_between(v);
    wire_receive(v);
    wire_transmit(v);
  }

 private:
  hls::stream<Beat<W>> l3_in_, icrc_in_, store_in_, split_in_, payload_in_, echo_in_, reply_store_in_;
  hls::stream<RxHeader> ip_in_, udp_in_, bth_in_;
  hls::stream<RxPacket> ext_in_;
  hls::stream<RxTransport> qp_in_;
  hls::stream<RxChecked> region_in_, receive_in_, msn_in_;
  hls::stream<ReceivePosted> receive_posted_;
  hls::stream<RxVerdict> verdict_;
  hls::stream<Placement> placement_;
  hls::stream<Response> response_;
  hls::stream<ReadServed> read_served_;

  hls::stream<RxAck> ack_, merged_ack_;
  hls::stream<ReadIssued> read_issued_;
  hls::stream<ReadAnswered> read_answered_;
  hls::stream<Credit> credit_;
  hls::stream<TxPacket> new_packet_, packet_, response_packet_, connection_in_;
  hls::stream<ListCommand> list_;
  hls::stream<TimerCommand> timer_in_;
  hls::stream<TimerExpired> expired_;
  hls::stream<TxRouted> fetch_in_, tx_ext_in_;
  hls::stream<TxHeader> tx_bth_in_, tx_udp_in_, tx_ip_in_, tx_ethernet_in_;
  hls::stream<TxFrame> frame_in_;
  hls::stream<Beat<W>> icrc_insert_in_, roce_frame_, reply_;

  template <class V>
  void wire_ports(V& v) {
    v.port(port.mac_rx, "mac_rx", 16, Kind::lutram);
    v.port(port.mac_tx, "mac_tx", 16, Kind::lutram);
    v.port(port.host_rx, "host_rx", 64, Kind::lutram);
    v.port(port.send_queue, "send_queue", 16, Kind::lutram);
    v.port(port.receive_queue, "receive_queue", 16, Kind::lutram);
    v.port(port.completions, "completions", 16, Kind::lutram);
    v.port(port.receive_completions, "receive_completions", 16, Kind::lutram);
    v.port(port.dma_read, "dma_read", 16, Kind::lutram);
    v.port(port.dma_read_data, "dma_read_data", 64, Kind::lutram);
    v.port(port.dma_write, "dma_write", 16, Kind::lutram);
    v.port(port.dma_write_data, "dma_write_data", 64, Kind::lutram);
    v.port(port.address_control, "address_control", 4, Kind::lutram);
    v.port(port.qp_state_control, "qp_state_control", 4, Kind::lutram);
    v.port(port.msn_control, "msn_control", 4, Kind::lutram);
    v.port(port.region_control, "region_control", 4, Kind::lutram);
    v.port(port.receive_queue_control, "receive_queue_control", 4, Kind::lutram);
    v.port(port.outstanding_reads_control, "outstanding_reads_control", 4, Kind::lutram);
    v.port(port.response_queue_control, "response_queue_control", 4, Kind::lutram);
    v.port(port.connection_control, "connection_control", 4, Kind::lutram);
    v.port(port.work_queue_control, "work_queue_control", 4, Kind::lutram);
    v.port(port.flow_control_control, "flow_control_control", 4, Kind::lutram);
  }

  // Streams that both directions use.
  template <class V>
  void wire_between(V& v) {
    v.stream(response_, "rx.response", 8, Kind::lutram);
    v.stream(ack_, "rx.ack", 8, Kind::lutram);
    v.stream(merged_ack_, "tx.merged_ack", 8, Kind::lutram);
    v.stream(credit_, "tx.credit", 8, Kind::lutram);
    v.stream(read_issued_, "tx.read_issued", 8, Kind::lutram);
    v.stream(read_answered_, "tx.read_answered", 8, Kind::lutram);
    v.stream(read_served_, "tx.read_served", 8, Kind::lutram);
    v.stream(reply_, "tx.reply", 8, Kind::lutram);
  }

  template <class V>
  void wire_receive(V& v) {
    v.stream(l3_in_, "rx.l3_in", 8, Kind::lutram);
    v.stream(icrc_in_, "rx.icrc_in", 8, Kind::lutram);
    v.stream(store_in_, "rx.store_in", 8, Kind::lutram);
    v.stream(split_in_, "rx.split_in", 8, Kind::lutram);
    v.stream(ip_in_, "rx.ip_in", 8, Kind::lutram);
    v.stream(udp_in_, "rx.udp_in", 8, Kind::lutram);
    v.stream(bth_in_, "rx.bth_in", 8, Kind::lutram);
    v.stream(ext_in_, "rx.ext_in", 8, Kind::lutram);
    v.stream(payload_in_, "rx.payload_in", 64, Kind::lutram);
    v.stream(qp_in_, "rx.qp_in", 8, Kind::lutram);
    v.stream(receive_posted_, "rx.receive_posted", 8, Kind::lutram);
    v.stream(region_in_, "rx.region_in", 8, Kind::lutram);
    v.stream(receive_in_, "rx.receive_in", 8, Kind::lutram);
    v.stream(msn_in_, "rx.msn_in", 8, Kind::lutram);
    v.stream(verdict_, "rx.verdict", 8, Kind::lutram);
    v.stream(placement_, "rx.placement", 8, Kind::lutram);
    v.stream(echo_in_, "rx.echo_in", 8, Kind::lutram);
    v.stream(reply_store_in_, "rx.reply_store_in", 8, Kind::lutram);

    v.stage(rx_ethernet, "rx.ethernet", in(port.mac_rx), out(l3_in_), out(echo_in_));
    v.stage(rx_l3_length, "rx.l3_length", in(l3_in_), out(icrc_in_));
    v.stage(rx_icrc_check, "rx.icrc_check", in(icrc_in_), out(store_in_));
    v.stage(rx_packet_store, "rx.packet_store", in(store_in_), out(split_in_));
    v.stage(rx_header_split, "rx.header_split", in(split_in_), out(ip_in_), out(payload_in_));
    v.stage(rx_ip, "rx.ip", in(ip_in_), out(udp_in_));
    v.stage(rx_udp, "rx.udp", in(udp_in_), out(bth_in_));
    v.stage(rx_bth, "rx.bth", in(bth_in_), out(ext_in_));
    v.stage(rx_ext_headers, "rx.ext_headers", in(ext_in_), out(qp_in_));
    v.stage(qp_state, "tables.qp_state", in(qp_in_), in(port.qp_state_control), in(receive_posted_), out(region_in_));
    v.stage(memory_region, "tables.memory_region", in(region_in_), in(port.region_control), out(receive_in_));
    v.stage(receive_queue, "tables.receive_queue", in(receive_in_), in(port.receive_queue),
            in(port.receive_queue_control), out(msn_in_), out(receive_posted_));
    v.independent(receive_in_, receive_posted_);
    v.stage(msn, "tables.msn", in(msn_in_), in(port.msn_control), in(read_served_), out(verdict_), out(response_));
    v.stage(outstanding_reads, "tables.outstanding_reads", in(verdict_), in(read_issued_),
            in(port.outstanding_reads_control), out(placement_), out(read_answered_));
    v.stage(rx_payload, "rx.payload", in(payload_in_), in(placement_), out(port.dma_write), out(port.dma_write_data),
            out(port.receive_completions), out(ack_));
    v.stage(rx_echo, "rx.echo", in(echo_in_), in(port.address_control), out(port.host_rx), out(reply_store_in_));
    v.independent(port.address_control, port.host_rx);
    v.independent(port.address_control, reply_store_in_);
    v.stage(rx_reply_store, "rx.reply_store", in(reply_store_in_), out(reply_));
    v.independent(reply_store_in_, reply_);
  }

  template <class V>
  void wire_transmit(V& v) {
    v.stream(new_packet_, "tx.new_packet", 8, Kind::lutram);
    v.stream(list_, "tx.list", 8, Kind::lutram);
    v.stream(timer_in_, "tx.timer_in", 8, Kind::lutram);
    v.stream(expired_, "tx.expired", 4, Kind::lutram);
    v.stream(packet_, "tx.packet", 8, Kind::lutram);
    v.stream(response_packet_, "tx.response_packet", 8, Kind::lutram);
    v.stream(connection_in_, "tx.connection_in", 8, Kind::lutram);
    v.stream(fetch_in_, "tx.fetch_in", 8, Kind::lutram);
    v.stream(tx_ext_in_, "tx.ext_in", 512, Kind::bram);  // packets whose payload is on its way from the host
    v.stream(tx_bth_in_, "tx.bth_in", 8, Kind::lutram);
    v.stream(tx_udp_in_, "tx.udp_in", 8, Kind::lutram);
    v.stream(tx_ip_in_, "tx.ip_in", 8, Kind::lutram);
    v.stream(tx_ethernet_in_, "tx.ethernet_in", 8, Kind::lutram);
    v.stream(frame_in_, "tx.frame_in", 8, Kind::lutram);
    v.stream(icrc_insert_in_, "tx.icrc_insert_in", 8, Kind::lutram);
    v.stream(roce_frame_, "tx.roce_frame", 16, Kind::lutram);

    v.stage(work_queue, "tx.work_queue", in(port.send_queue), in(port.work_queue_control), in(credit_),
            in(read_answered_), out(new_packet_));
    v.independent(port.send_queue, new_packet_);
    v.independent(port.work_queue_control, new_packet_);
    v.independent(credit_, new_packet_);
    v.independent(read_answered_, new_packet_);
    v.stage(ack_merge, "tx.ack_merge", in(ack_), out(merged_ack_));
    v.independent(ack_, merged_ack_);
    v.stage(flow_control, "tx.flow_control", in(new_packet_), in(merged_ack_), in(expired_),
            in(port.flow_control_control), out(list_), out(timer_in_), out(read_issued_), out(credit_));
    v.stage(retransmit, "tables.retransmit", in(list_), out(packet_), out(port.completions));
    v.stage(timer, "tables.timer", in(timer_in_), out(expired_));
    v.independent(timer_in_, expired_);
    v.stage(response_queue, "tx.response_queue", in(response_), in(port.response_queue_control), out(response_packet_),
            out(read_served_));
    v.independent(response_, response_packet_);
    v.independent(response_, read_served_);
    v.independent(port.response_queue_control, response_packet_);
    v.independent(port.response_queue_control, read_served_);
    v.stage(arbiter, "tx.arbiter", in(response_packet_), in(packet_), out(connection_in_));
    v.stage(connection, "tables.connection", in(connection_in_), in(port.connection_control), out(fetch_in_));
    v.stage(tx_payload, "tx.payload", in(fetch_in_), out(tx_ext_in_), out(port.dma_read));
    v.stage(tx_ext_headers, "tx.ext_headers", in(tx_ext_in_), out(tx_bth_in_));
    v.stage(tx_bth, "tx.bth", in(tx_bth_in_), out(tx_udp_in_));
    v.stage(tx_udp, "tx.udp", in(tx_udp_in_), out(tx_ip_in_));
    v.stage(tx_ip, "tx.ip", in(tx_ip_in_), out(tx_ethernet_in_));
    v.stage(tx_ethernet, "tx.ethernet", in(tx_ethernet_in_), out(frame_in_));
    v.stage(tx_frame, "tx.frame", in(frame_in_), in(port.dma_read_data), out(icrc_insert_in_));
    v.stage(tx_icrc_insert, "tx.icrc_insert", in(icrc_insert_in_), out(roce_frame_));
    v.stage(tx_frame_merge, "tx.frame_merge", in(roce_frame_), in(reply_), out(port.mac_tx));
  }
};

}  // namespace hw
