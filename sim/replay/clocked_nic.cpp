#include "sim/replay/clocked_nic.hpp"

#include <algorithm>

#include "sim/replay/nic_rows.hpp"
#include "traces/psn.hpp"

namespace sim {
namespace {

using hw::Picoseconds;

// Time for what the tables are set to before the first packet.
constexpr Picoseconds kSetUp = 1'000'000'000;
// The pipeline is empty so long after the last frame, READs of its longest request served too.
constexpr Picoseconds kDrain = 20'000'000;
// From the doorbell to the last table's row.
constexpr Picoseconds kRowsSettle = 1'000'000;
// An answer waits so long for the NIC to send what it answers.
constexpr Picoseconds kGatePatience = 200'000'000;
constexpr Picoseconds kRecheck = 256'000;
// Calls that wait; what is further ahead waits with the capture.
constexpr size_t kQueued = 64;

// The host's memory: receive buffers and the data of the endpoint's own requests, out of the way of most user space.
constexpr uint64_t kReceiveBuffers = uint64_t(0xf0) << 56, kSendBuffers = uint64_t(0xf1) << 56;
constexpr uint64_t kBufferBytes = uint64_t(1) << 32;  // of a connection
constexpr uint64_t kRingBytes = uint64_t(1) << 26;    // of the data of work requests, unless one is longer

uint64_t to_u64(const traces::MacAddress& mac) {
  uint64_t value = 0;
  for (const uint8_t byte : mac) value = value << 8 | byte;
  return value;
}

bool has_header(uint8_t opcode, traces::Header header) {
  const auto& headers = traces::operation_of(opcode).headers;
  return headers[0] == header || headers[1] == header;
}

}  // namespace

ClockedNic::ClockedNic(const Config& config, Node& node, Pace pace, std::function<bool()> source)
    : node_(node), clock_(config.nic.clock_hz), config_(config), pace_(pace), source_(std::move(source)) {
  node_.observe_sent([this](const models::Frame& frame) { sent(frame); });
  node_.observe_received([this](const models::Frame&) { arrived_++; });
  node_.attach("host.replay", *this);
}

void ClockedNic::set_time(int64_t time_ns) {
  if (!first_ns_) first_ns_ = time_ns;
  const auto since = Picoseconds(std::max<int64_t>(time_ns - *first_ns_, 0)) * 1000;
  due_ = std::max(due_, kSetUp + (pace_.kind == Pace::kCaptured ? since : 0));
}

uint32_t ClockedNic::number_of(const traces::IpAddress& address) {
  if (address.version == 4) return traces::load32({address.bytes.data(), 4}, 0);
  const auto next = uint32_t(0xf0000001 + ipv6_numbers_.size());  // of a class that is never used
  return ipv6_numbers_.emplace(address, next).first->second;
}

void ClockedNic::bind(uint32_t connection, const Binding& binding) {
  Connection& c = connections_[connection];
  c.binding = binding;
  c.own_ip = number_of(binding.address);
  c.peer_ip = number_of(binding.peer_address);
  c.wire_qpn = binding.peer_qpn;
  const auto taken = by_peer_.find({c.peer_ip, c.wire_qpn});
  if (c.wire_qpn == 0 || (taken != by_peer_.end() && taken->second != connection)) c.wire_qpn = 0x800000 | connection;
  by_peer_[{c.peer_ip, c.wire_qpn}] = connection;
  node_.set_address(to_u64(binding.mac), c.own_ip);
  hw::ConnectionControl row;
  row.qpn = hw::Qpn(binding.qpn);
  row.remote_qpn = hw::Qpn(c.wire_qpn);
  row.route.source_ip = hw::Bits<32>(c.own_ip);
  row.route.destination_ip = hw::Bits<32>(c.peer_ip);
  row.route.source_mac = hw::Bits<48>(to_u64(binding.mac));
  row.route.destination_mac = hw::Bits<48>(to_u64(binding.peer_mac));
  row.route.udp_source_port = hw::Bits<16>(binding.source_port);
  push(row);
}

void ClockedNic::push(const std::vector<models::Control>& rows) {
  bool drained = true;  // once is enough
  for (const models::Control& row : rows) push(row, std::exchange(drained, false));
}

void ClockedNic::set_responder(uint32_t connection, const ResponderState& state) {
  Connection& c = connections_.at(connection);
  c.receives = true;
  push(responder_rows(config_.nic, c.binding.qpn, state));
}

void ClockedNic::set_requester(uint32_t connection, const RequesterState& state) {
  Connection& c = connections_.at(connection);
  c.path_mtu = state.path_mtu;
  c.sent_psn.reset();
  push(requester_rows(config_.nic, c.binding.qpn, state));
  if (c.receives) return;
  c.receives = true;
  push(receiving_row(config_.nic, c.binding.qpn, {0, 0, state.path_mtu}));
}

void ClockedNic::set_region(const OpenRegion& region) {
  push(region_row(region));
}

void ClockedNic::post_receive(uint32_t connection, uint32_t length_bytes) {
  Connection& c = connections_.at(connection);
  push(receive_row(c.binding.qpn, kReceiveBuffers + connection * kBufferBytes, length_bytes, c.next_receive++));
}

uint64_t ClockedNic::local_address(uint32_t connection, uint64_t offset) const {
  return kSendBuffers + connection * kBufferBytes + offset;
}

void ClockedNic::stage_payload(uint32_t connection, uint64_t offset, traces::ByteSpan bytes) {
  node_.memory().write(local_address(connection, connections_.at(connection).local_offset + offset), bytes.data,
                       bytes.size);
}

void ClockedNic::seed_memory(uint64_t address, traces::ByteSpan bytes) {
  node_.memory().write(address, bytes.data, bytes.size);
}

void ClockedNic::post_send(uint32_t connection, const WorkRequest& w) {
  Connection& c = connections_.at(connection);
  push(work_row(c.binding.qpn, w, local_address(connection, c.local_offset), c.next_send++));
  c.local_offset += w.length;
  if (c.local_offset > kRingBytes) c.local_offset = 0;
}

traces::FrameFields ClockedNic::fields_of(const Connection& c, const TransportPacket& t) const {
  traces::FrameFields f;
  f.destination_mac = c.binding.mac;
  f.source_mac = c.binding.peer_mac;
  f.destination = c.own_ip;
  f.source = c.peer_ip;
  f.source_port = c.binding.source_port;
  f.bth.opcode = t.opcode;
  f.bth.solicited = t.solicited;
  f.bth.partition_key = uint16_t(config_.nic.partition_key);
  f.bth.dest_qp = c.binding.qpn;
  f.bth.ack_request = t.ack_request;
  f.bth.psn = t.psn;
  if (has_header(t.opcode, traces::Header::kReth)) f.reth = traces::Reth{t.virtual_address, t.remote_key, t.dma_length};
  if (has_header(t.opcode, traces::Header::kAeth)) f.aeth = traces::Aeth{t.syndrome, t.msn};
  if (has_header(t.opcode, traces::Header::kImmDt)) f.immediate = t.immediate;
  f.payload = t.payload;
  return f;
}

void ClockedNic::receive(uint32_t connection, const TransportPacket& t, traces::ByteSpan frame) {
  std::optional<std::pair<uint32_t, uint32_t>> after;
  if (traces::is_response(t.opcode)) after.emplace(connection, t.psn);
  if (frame.size != 0)
    push(std::vector<uint8_t>(frame.data, frame.data + frame.size), after);
  else
    push(traces::roce_frame(fields_of(connections_.at(connection), t)), after);
}

void ClockedNic::receive_frame(traces::ByteSpan frame) {
  if (frame.size != 0) push(std::vector<uint8_t>(frame.data, frame.data + frame.size));
}

void ClockedNic::push(const models::Control& control, bool drained) {
  actions_.push_back({due_, Row{control, drained}});
}

void ClockedNic::push(std::vector<uint8_t> bytes, std::optional<std::pair<uint32_t, uint32_t>> after) {
  actions_.push_back({due_, Frame{std::move(bytes), after}});
  frames_++;
}

void ClockedNic::fill() {
  while (!ended_ && actions_.size() < kQueued) ended_ = !source_();
}

void ClockedNic::step() {
  for (;;) {
    fill();
    if (actions_.empty()) {
      wake_ = hw::kForever;
      return;
    }
    if (!perform(actions_.front())) return;
    actions_.pop_front();
  }
}

hw::Cycles ClockedNic::quiet() const {
  return models::quiet_until(wake_);
}

// Not yet: false, and a wake-up then.
bool ClockedNic::wait_until(Picoseconds time) {
  if (time <= now()) return true;
  wake_ = std::max(clock_.edge_at_or_after(time), hw::world().now + 1);
  return false;
}

bool ClockedNic::perform(Action& action) {
  if (!wait_until(action.due)) return false;
  return std::visit([this](auto& what) { return perform(what); }, action.what);
}

bool ClockedNic::perform(Row& row) {
  if (row.drained && line_free_ != 0 && !wait_until(line_free_ + kDrain)) return false;
  node_.device().set_row(row.control);
  settled_ = now() + kRowsSettle;
  return true;
}

bool ClockedNic::perform(Frame& frame) {
  if (node_.device().orders() != 0 && !wait_until(now() + kRecheck)) return false;
  if (!wait_until(settled_) || !wait_until(rate_free_)) return false;
  if (frame.after) {
    const auto& sent = connections_.at(frame.after->first).sent_psn;
    const bool is_ready = sent && traces::distance24(*sent, frame.after->second) >= 0;
    if (!gated_) gate_since_ = now();
    gated_ = !is_ready && now() - gate_since_ < kGatePatience;
    if (gated_) return wait_until(now() + kRecheck);
  }
  gated_ = false;
  models::Frame out;
  out.bytes = std::move(frame.bytes);
  out.bytes.resize(std::max<size_t>(out.bytes.size(), models::kMinFrameBytes));
  out.start = std::max(clock_.edge(hw::world().now + 1), line_free_);
  const Picoseconds time = models::frame_time(out.bytes.size(), config_.link.gbps);
  line_free_ = out.start + time;
  if (pace_.kind == Pace::kRate)
    rate_free_ = std::max(rate_free_, now()) + Picoseconds(double(out.bytes.size()) * 8000 / pace_.gbps);
  if (pace_.kind == Pace::kLine) rate_free_ = out.start;
  node_.from_line().receive(std::move(out));
  return true;
}

void ClockedNic::sent(const models::Frame& frame) {
  sent_++;
  const traces::RocePacket roce = traces::decode_frame(frame.bytes);
  if (!roce.has_bth || roce.destination.version != 4) return;
  const auto found = by_peer_.find({number_of(roce.destination), roce.bth.dest_qp});
  if (found == by_peer_.end()) return;
  TransportPacket t = transport_of(roce);
  t.payload = roce.payload(frame.bytes);
  if (!traces::is_response(t.opcode)) {
    auto& newest = connections_.at(found->second).sent_psn;
    const uint32_t mtu = connections_.at(found->second).path_mtu;
    const bool is_read = traces::operation_of(t.opcode).verb == traces::Verb::kReadRequest && t.dma_length != 0;
    const uint32_t last = (t.psn + (is_read ? (t.dma_length - 1) / mtu : 0)) & traces::kPsnMask;
    if (!newest || traces::distance24(last, *newest) > 0) newest = last;
  }
  observer_(found->second, t);
}

}  // namespace sim
