#include "sim/functional/functional_nic.hpp"

#include <algorithm>
#include <tuple>

#include "sim/replay/nic_rows.hpp"

namespace sim {
namespace {

using hw::in;
using hw::Kind;
using hw::out;

hw::RxTransport to_token(uint32_t connection, const TransportPacket& p) {
  hw::RxTransport t;
  t.opcode = hw::Bits<8>(p.opcode);
  t.qpn = hw::Qpn(connection);
  t.psn = hw::Psn(p.psn);
  t.ack_request = hw::Bits<1>(p.ack_request);
  t.solicited = hw::Bits<1>(p.solicited);
  t.va = hw::Bits<64>(p.virtual_address);
  t.rkey = hw::Bits<32>(p.remote_key);
  t.dma_length = hw::Bits<32>(p.dma_length);
  t.immediate = hw::Bits<32>(p.immediate);
  t.syndrome = hw::Bits<8>(p.syndrome);
  t.msn = hw::Bits<24>(p.msn);
  t.payload = hw::PacketBytes(p.payload_bytes);
  t.body = hw::Bits<1>(p.payload_bytes != 0);
  return t;
}

TransportPacket to_packet(const hw::TxPacket& t) {
  TransportPacket p;
  p.opcode = uint8_t(t.opcode.u64());
  p.psn = uint32_t(t.psn.v.u64());
  p.ack_request = bool(t.ack_request);
  p.solicited = bool(t.solicited);
  p.payload_bytes = uint32_t(t.payload.u64());
  if (hw::wire::has_reth(t.opcode)) {
    p.virtual_address = t.remote_address.u64();
    p.remote_key = uint32_t(t.rkey.u64());
    p.dma_length = uint32_t(t.dma_length.u64());
  }
  if (hw::wire::has_immediate(t.opcode)) p.immediate = uint32_t(t.immediate.u64());
  if (hw::wire::has_aeth(t.opcode)) {
    p.syndrome = uint8_t(t.syndrome.u64());
    p.msn = uint32_t(t.msn.u64());
  }
  return p;
}

}  // namespace

void FunctionalNic::Placer::step(hls::stream<hw::Placement>& in, hls::stream<hw::RxAck>& acks) {
  if (in.empty() || acks.full()) return;
  const hw::Placement& p = in.read();
  if (bool(p.acknowledges)) acks.write(p.ack);
}

void FunctionalNic::Line::step(hls::stream<hw::TxPacket>& responses, hls::stream<hw::TxPacket>& requests) {
  for (hls::stream<hw::TxPacket>* in : {&responses, &requests}) {
    if (in->empty()) continue;
    const hw::TxPacket& packet = in->read();
    observer(uint32_t(packet.qpn.u64()), to_packet(packet));
  }
}

void FunctionalNic::Ends::step(hls::stream<hw::Completion>& completions, hls::stream<hw::TimerCommand>& timer) {
  if (!completions.empty()) completions.read();
  if (!timer.empty()) timer.read();
}

FunctionalNic::FunctionalNic(const Config& config)
    : config_(config.nic), wiring_("nic0", config.nic.width_bits, domain_) {
  configure(config.nic);
  wire_responder();
  wire_requester();
  settle();
}

void FunctionalNic::configure(const NicConfig& c) {
  msn_.params.ack_every_packet = c.ack_every_packet;
  work_queue_.params.ack_interval = c.ack_interval_packets;
  work_queue_.params.window_packets = c.window_packets;
  work_queue_.params.entries = c.retransmit_entries;
  work_queue_.params.read_psns = std::min(c.read_packets, c.window_packets);
}

// As hw/nic.hpp joins them, names and sizes too.
void FunctionalNic::wire_responder() {
  const auto stream = [this](auto& s, const char* name, unsigned capacity = 8) {
    wiring_.stream(s, name, capacity, Kind::lutram);
  };
  stream(qp_in_, "rx.qp_in");
  stream(region_in_, "rx.region_in");
  stream(receive_in_, "rx.receive_in");
  stream(msn_in_, "rx.msn_in");
  stream(receive_posted_, "rx.receive_posted");
  stream(verdict_, "rx.verdict");
  stream(placement_, "rx.placement");
  stream(response_, "rx.response");
  stream(read_served_, "tx.read_served");
  stream(response_packet_, "tx.response_packet");
  stream(ack_, "rx.ack");
  stream(read_issued_, "tx.read_issued");
  stream(read_answered_, "tx.read_answered");
  auto& p = port_;
  wiring_.stage(qp_state_, "tables.qp_state", in(qp_in_), in(p.qp_state_control), in(receive_posted_), out(region_in_));
  wiring_.stage(memory_region_, "tables.memory_region", in(region_in_), in(p.region_control), out(receive_in_));
  wiring_.stage(receive_queue_, "tables.receive_queue", in(receive_in_), in(p.receive_queue),
                in(p.receive_queue_control), out(msn_in_), out(receive_posted_));
  wiring_.stage(msn_, "tables.msn", in(msn_in_), in(p.msn_control), in(read_served_), out(verdict_), out(response_));
  wiring_.stage(outstanding_reads_, "tables.outstanding_reads", in(verdict_), in(read_issued_),
                in(p.outstanding_reads_control), out(placement_), out(read_answered_));
  wiring_.stage(placer_, "rx.payload", in(placement_), out(ack_));
  wiring_.stage(response_queue_, "tx.response_queue", in(response_), in(p.response_queue_control),
                out(response_packet_), out(read_served_));
  wiring_.stage(line_, "tx.arbiter", in(response_packet_), in(packet_));
}

void FunctionalNic::wire_requester() {
  const auto stream = [this](auto& s, const char* name, unsigned capacity = 8) {
    wiring_.stream(s, name, capacity, Kind::lutram);
  };
  stream(packet_, "tx.packet");
  stream(new_packet_, "tx.new_packet");
  stream(merged_ack_, "tx.merged_ack");
  stream(credit_, "tx.credit");
  stream(list_, "tx.list");
  stream(timer_, "tx.timer_in");
  stream(expired_, "tx.expired", 4);
  stream(port_.completions, "completions", 16);
  auto& p = port_;
  wiring_.stage(work_queue_, "tx.work_queue", in(p.send_queue), in(p.work_queue_control), in(credit_),
                in(read_answered_), out(new_packet_));
  wiring_.stage(ack_merge_, "tx.ack_merge", in(ack_), out(merged_ack_));
  wiring_.stage(flow_control_, "tx.flow_control", in(new_packet_), in(merged_ack_), in(expired_),
                in(p.flow_control_control), out(list_), out(timer_), out(read_issued_), out(credit_));
  wiring_.stage(retransmit_, "tables.retransmit", in(list_), out(packet_), out(p.completions));
  wiring_.stage(ends_, "host.port", in(p.completions), in(timer_));
}

// One token a cycle, in the cycle behind all that has run.
template <class T>
void FunctionalNic::put(hls::stream<T>& stream, const T& token) {
  const auto next = [this] { return std::max(now_, domain_.scheduler().now() + 1) + 1; };
  hw::world().now = now_ = next();
  while (stream.full()) {
    domain_.run(now_ + 1);
    hw::world().now = now_ = next();
  }
  stream.write(token);
  domain_.run(now_ + 1);
}

template <class Rows>
void FunctionalNic::set(const Rows& rows) {
  auto& p = port_;
  const auto streams = std::tie(p.region_control, p.qp_state_control, p.receive_queue_control, p.msn_control,
                                p.outstanding_reads_control, p.response_queue_control, p.work_queue_control,
                                p.flow_control_control, p.receive_queue, p.send_queue);
  settle();
  for (const models::Control& row : rows)
    std::visit(
        [&](const auto& token) {
          using Token = std::decay_t<decltype(token)>;
          if constexpr (!std::is_same_v<Token, hw::ConnectionControl>)
            put(std::get<hls::stream<Token>&>(streams), token);
        },
        row);
  settle();
}

FunctionalNic::Queue& FunctionalNic::queue(uint32_t connection) {
  if (connection >= queues_.size()) queues_.resize(connection + 1);
  return queues_[connection];
}

void FunctionalNic::set_responder(uint32_t connection, const ResponderState& state) {
  queue(connection).receives = true;
  set(responder_rows(config_, connection, state));
}

void FunctionalNic::set_requester(uint32_t connection, const RequesterState& state) {
  set(requester_rows(config_, connection, state));
  if (queue(connection).receives) return;
  queue(connection).receives = true;
  set(std::array<models::Control, 1>{receiving_row(config_, connection, {0, 0, state.path_mtu})});
}

void FunctionalNic::set_region(const OpenRegion& region) {
  set(std::array<models::Control, 1>{region_row(region)});
}

void FunctionalNic::post_receive(uint32_t connection, uint32_t length_bytes) {
  const uint16_t index = queue(connection).next_receive++;
  set(std::array<models::Control, 1>{receive_row(connection, 0, length_bytes, index)});
}

void FunctionalNic::post_send(uint32_t connection, const WorkRequest& work) {
  const uint16_t index = queue(connection).next_send++;
  set(std::array<models::Control, 1>{work_row(connection, work, 0, index)});
}

void FunctionalNic::receive(uint32_t connection, const TransportPacket& packet, traces::ByteSpan) {
  put(qp_in_, to_token(connection, packet));
}

}  // namespace sim
