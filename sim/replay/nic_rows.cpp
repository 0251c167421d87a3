#include "sim/replay/nic_rows.hpp"

namespace sim {
namespace {

hw::PmtuCode pmtu_code(uint32_t bytes) {
  return hw::PmtuCode(uint64_t(__builtin_ctz(bytes) - 7));
}

template <class Control>
Control row_of(uint32_t qpn) {
  Control row;
  row.qpn = hw::Qpn(qpn);
  return row;
}

hw::Operation operation_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kSend:
      return hw::kOpSend;
    case WorkKind::kRead:
      return hw::kOpRead;
    case WorkKind::kWrite:
      break;
  }
  return hw::kOpWrite;
}

}  // namespace

models::Control receiving_row(const NicConfig& config, uint32_t qpn, const ResponderState& state) {
  auto row = row_of<hw::QpStateControl>(qpn);
  row.expected = hw::Psn(state.expected_psn);
  row.pmtu = pmtu_code(state.path_mtu);
  row.rnr_timer = hw::Bits<5>(config.min_rnr_timer);
  row.receive = row.remote_write = row.remote_read = hw::Bits<1>(1);
  return row;
}

std::vector<models::Control> responder_rows(const NicConfig& config, uint32_t qpn, const ResponderState& state) {
  auto msn = row_of<hw::MsnControl>(qpn);
  msn.msn = hw::Bits<24>(state.msn);
  msn.pmtu = pmtu_code(state.path_mtu);
  msn.max_reads = hw::Bits<5>(config.responder_resources);
  return {row_of<hw::ResponseQueueControl>(qpn), msn, row_of<hw::ReceiveQueueControl>(qpn),
          row_of<hw::QpStateControl>(qpn),  // stopped: what it holds of receives is forgotten
          receiving_row(config, qpn, state)};
}

std::vector<models::Control> requester_rows(const NicConfig& config, uint32_t qpn, const RequesterState& state) {
  auto reads = row_of<hw::OutstandingReadsControl>(qpn);
  reads.pmtu = pmtu_code(state.path_mtu);
  auto flow = row_of<hw::FlowControlControl>(qpn);
  flow.psn = hw::Psn(state.first_psn);
  flow.retry_count = hw::Bits<3>(config.retry_count);
  auto work = row_of<hw::WorkQueueControl>(qpn);
  work.pmtu = pmtu_code(state.path_mtu);
  work.max_reads = hw::Bits<5>(config.max_reads);
  return {reads, flow, work};
}

models::Control region_row(const OpenRegion& r) {
  hw::RegionControl row;
  row.rkey = hw::Bits<32>(r.remote_key);
  row.va = row.address = hw::Bits<64>(r.first);
  row.length = hw::Bits<64>(r.end - r.first);
  row.valid = hw::Bits<1>(1);
  row.remote_write = hw::Bits<1>(r.write);
  row.remote_read = hw::Bits<1>(r.read);
  return row;
}

models::Control work_row(uint32_t qpn, const WorkRequest& w, uint64_t local_address, uint16_t index) {
  auto row = row_of<hw::Wqe>(qpn);
  row.operation = hw::Bits<2>(operation_of(w.kind));
  row.has_immediate = hw::Bits<1>(w.has_immediate);
  row.solicited = hw::Bits<1>(w.solicited);
  row.local_address = hw::Bits<64>(local_address);
  row.remote_address = hw::Bits<64>(w.remote_address);
  row.rkey = hw::Bits<32>(w.remote_key);
  row.length = hw::Bits<32>(w.length);
  row.immediate = hw::Bits<32>(w.immediate);
  row.index = hw::Bits<16>(index);
  return row;
}

models::Control receive_row(uint32_t qpn, uint64_t address, uint32_t length_bytes, uint16_t index) {
  auto row = row_of<hw::ReceiveWqe>(qpn);
  row.address = hw::Bits<64>(address);
  row.length = hw::Bits<32>(length_bytes);
  row.index = hw::Bits<16>(index);
  return row;
}

}  // namespace sim
