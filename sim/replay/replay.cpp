#include "sim/replay/replay.hpp"

#include <fmt/format.h>

#include <map>

#include "hw/limits.hpp"
#include "sim/config/error.hpp"
#include "traces/pcap_reader.hpp"

namespace sim {

namespace {

// The tables are set before the first frame arrives.
constexpr hw::Picoseconds kSetUpTime = 1000000000;

using FlowKey = std::pair<uint32_t, uint32_t>;  // peer's address and QPN, as our answers name them

uint32_t to_u32(const traces::IpAddress& a) {
  return uint32_t(a.bytes[0]) << 24 | uint32_t(a.bytes[1]) << 16 | uint32_t(a.bytes[2]) << 8 | a.bytes[3];
}
uint64_t to_u64(const std::array<uint8_t, 6>& mac) {
  uint64_t value = 0;
  for (const uint8_t byte : mac) value = value << 8 | byte;
  return value;
}

hw::PmtuCode pmtu_code(uint32_t bytes) {
  return hw::PmtuCode(uint64_t(__builtin_ctz(bytes) - 7));
}

// Sets the NIC's tables as the capture says that the endpoint had them.
class TableSetter {
 public:
  TableSetter(const std::string& file, models::Device& device) : file_(file), device_(device) {}

  void add(const traces::ReplayFlow& flow) {
    claim(rows_, flow.our_qpn % hw::kMaxQps, flow.our_qpn, "QPN", hw::kMaxQps);
    set_regions(flow);
    set_connection(flow);
    hw::MsnControl msn;
    msn.qpn = hw::Qpn(flow.our_qpn);
    msn.msn = hw::Bits<24>(flow.starting_msn);
    msn.pmtu = pmtu_code(flow.path_mtu);
    msn.max_reads = hw::Bits<5>(hw::kMaxReads);
    device_.set_row(msn);
    hw::QpStateControl state;
    state.qpn = hw::Qpn(flow.our_qpn);
    state.expected = hw::Psn(flow.first_psn);
    state.pmtu = pmtu_code(flow.path_mtu);
    state.receive = state.remote_write = state.remote_read = hw::Bits<1>(1);
    device_.set_row(state);
  }

 private:
  void set_regions(const traces::ReplayFlow& flow) {
    for (const traces::InferredRegion& r : flow.regions) {
      claim(keys_, (r.remote_key >> 8) % hw::kMaxRegions, r.remote_key, "rkey", hw::kMaxRegions);
      const auto& span = extended(r);
      hw::RegionControl region;
      region.rkey = hw::Bits<32>(r.remote_key);
      region.va = region.address = hw::Bits<64>(span.first);
      region.length = hw::Bits<64>(span.second - span.first);
      region.valid = region.remote_write = region.remote_read = hw::Bits<1>(1);
      device_.set_row(region);
    }
  }
  // Several flows may use one region: it spans what all of them touch.
  const std::pair<uint64_t, uint64_t>& extended(const traces::InferredRegion& r) {
    auto& span = spans_.emplace(r.remote_key, std::make_pair(r.first_address, r.end_address)).first->second;
    span = {std::min(span.first, r.first_address), std::max(span.second, r.end_address)};
    return span;
  }
  void set_connection(const traces::ReplayFlow& flow) {
    const traces::RocePacket& packet = flow.packets.front().roce;
    hw::ConnectionControl c;
    c.qpn = hw::Qpn(flow.our_qpn);
    c.remote_qpn = hw::Qpn(flow.peer_qpn.value_or(0));
    c.route.source_ip = hw::Bits<32>(to_u32(flow.ours));
    c.route.destination_ip = hw::Bits<32>(to_u32(flow.peer));
    c.route.source_mac = hw::Bits<48>(to_u64(packet.destination_mac));
    c.route.destination_mac = hw::Bits<48>(to_u64(packet.source_mac));
    c.route.udp_source_port = hw::Bits<16>(packet.source_port);
    device_.set_row(c);
  }
  // One row serves one key.
  void claim(std::map<uint32_t, uint32_t>& owners, uint32_t row, uint32_t key, const char* what, int rows) {
    const auto owner = owners.emplace(row, key).first;
    if (owner->second != key)
      throw InputError(fmt::format("{}: {} {:#x} and {:#x} fall on one row; allowed are keys that differ modulo {}",
                                   file_, what, owner->second, key, rows));
  }

  std::string file_;
  models::Device& device_;
  std::map<uint32_t, uint32_t> rows_, keys_;
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> spans_;
};

// The NIC answers ARP requests and pings for the endpoint.
void take_address(Node& node, const traces::ReplayFlow& flow) {
  node.set_address(to_u64(flow.packets.front().roce.destination_mac), to_u32(flow.ours));
}

// Gives the NIC every frame of the capture that the endpoint did not send itself, at its captured time.
class Feeder : public Activity {
 public:
  Feeder(const ReplayRun& run, Node& node, ReplayResult& result) : node_(node), result_(result) {
    traces::PcapReader reader(run.file);
    traces::Packet packet;
    try {
      while (reader.read(packet)) {
        reader.require_ethernet(packet);
        feed(run, packet);
      }
    } catch (const traces::InputError&) {
      if (result.capture.input_error.empty()) throw;  // told with the flows: what came before is replayed
    }
    node.observe_received([this](const models::Frame&) { arrived_++; });
  }
  bool done() const override { return arrived_ == result_.frames_fed; }
  uint64_t progress() const override { return arrived_; }
  bool watched() const override { return false; }

 private:
  void feed(const ReplayRun& run, traces::Packet& packet) {
    const traces::RocePacket roce = traces::decode_frame(packet.bytes);
    if (roce.source == run.as) return;
    if (packet.bytes.size() < packet.original_length || packet.bytes.empty()) {
      result_.frames_cut++;
      return;
    }
    if (!started_) first_ns_ = packet.time_ns;
    started_ = true;
    const int64_t after = std::max<int64_t>(packet.time_ns - first_ns_, 0);
    last_ = std::max(last_, kSetUpTime + hw::Picoseconds(after) * 1000);
    models::Frame frame;
    frame.bytes = packet.bytes;
    frame.start = last_;
    node_.from_line().receive(std::move(frame));
    result_.frames_fed++;
  }

  Node& node_;
  ReplayResult& result_;
  bool started_ = false;
  int64_t first_ns_ = 0;
  hw::Picoseconds last_ = 0;  // frames keep their order where the capture's clock went back
  uint64_t arrived_ = 0;
};

std::vector<AckFields> captured_acks(const traces::ReplayFlow& flow) {
  std::vector<AckFields> acks;
  for (const traces::CapturedResponse& r : flow.responses)
    if (r.aeth) acks.push_back({r.opcode, r.psn, r.aeth->syndrome, r.aeth->msn});
  return acks;
}

void collect(const models::Frame& frame, std::map<FlowKey, std::vector<AckFields>>& acks) {
  const traces::RocePacket roce = traces::decode_frame(frame.bytes);
  if (!roce.aeth) return;
  acks[{to_u32(roce.destination), roce.bth.dest_qp}].push_back(
      {roce.bth.opcode, roce.bth.psn, roce.aeth->syndrome, roce.aeth->msn});
}

}  // namespace

std::vector<std::string> ReplayResult::failures() const {
  std::vector<std::string> lines = outcome.problems;
  uint64_t matched = 0;
  for (const FlowVerdict& f : flows) {
    matched += f.acks.matched;
    const std::string qp = fmt::format("QP {:#x}: ", f.flow.our_qpn);
    if (!f.flow.ambiguous.empty()) lines.push_back(qp + "ambiguous: " + f.flow.ambiguous);
    if (!f.acks.all_match())
      lines.push_back(fmt::format("{}ACKs: {} match, {} different, {} missing, {} extra", qp, f.acks.matched,
                                  f.acks.different, f.acks.missing, f.acks.extra));
  }
  if (lines.empty() && matched == 0) lines.push_back("no ACK could be compared");
  return lines;
}

ReplayResult replay(const Config& config, const ReplayRun& run) {
  ReplayResult result;
  result.capture = traces::read_replay(run.file, run.as);
  Testbed bed(config, 1);
  Node& node = bed.node(0);
  TableSetter tables(run.file, node.device());
  for (const traces::ReplayFlow& flow : result.capture.flows) tables.add(flow);
  if (!result.capture.flows.empty()) take_address(node, result.capture.flows.front());
  std::map<FlowKey, std::vector<AckFields>> acks;
  node.observe_sent([&acks](const models::Frame& frame) { collect(frame, acks); });
  if (!run.pcap_folder.empty())
    bed.capture([&run](const std::string& n) { return run.pcap_folder + "/" + n + ".pcap"; });
  const Feeder feeder(run, node, result);
  result.outcome = bed.run(feeder, run.show_progress);
  for (traces::ReplayFlow& flow : result.capture.flows) {
    const FlowKey key(to_u32(flow.peer), flow.peer_qpn.value_or(0));
    AckComparison comparison = compare_acks(captured_acks(flow), acks[key]);
    result.flows.push_back({std::move(flow), std::move(comparison)});
  }
  result.counters = node.counters();
  return result;
}

nlohmann::ordered_json to_json(const ReplayResult& r) {
  nlohmann::ordered_json j;
  j["packets"] = r.capture.packets;
  j["frames_fed"] = r.frames_fed;
  j["frames_cut"] = r.frames_cut;
  for (const FlowVerdict& f : r.flows) {
    nlohmann::ordered_json flow;
    flow["peer"] = traces::to_string(f.flow.peer);
    flow["qpn"] = f.flow.our_qpn;
    if (!f.flow.ambiguous.empty()) flow["ambiguous"] = f.flow.ambiguous;
    flow["first_psn"] = f.flow.first_psn;
    flow["path_mtu_bytes"] = f.flow.path_mtu;
    flow["starting_msn"] = f.flow.starting_msn;
    flow["unsupported_opcodes"] = f.flow.unsupported_opcodes;
    flow["acks"] = {{"matched", f.acks.matched},
                    {"different", f.acks.different},
                    {"missing", f.acks.missing},
                    {"extra", f.acks.extra}};
    flow["examples"] = f.acks.examples;
    flow["assumptions"] = f.flow.assumptions;
    j["flows"].push_back(flow);
  }
  j["notes"] = r.capture.notes;
  j["end_ps"] = r.outcome.end;
  j["problems"] = r.failures();
  for (const CounterValue& c : r.counters) j["counters"]["nic0"][c.name] = c.value;
  return j;
}

}  // namespace sim
