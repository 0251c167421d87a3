#include "traces/inference.hpp"

#include <algorithm>
#include <cinttypes>
#include <limits>
#include <map>
#include <set>

#include "traces/psn.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

constexpr int kPathMtus[] = {256, 512, 1024, 2048, 4096};
constexpr uint8_t kSyndromeRemoteAccess = 0x62;  // NAK, remote access error (IBTA 9.7.5.2.8)

bool is_trusted_request(const FlowPacket& packet) {
  return packet.is_trusted() && packet.is_request();
}

bool is_positive(const Aeth& aeth) {
  return aeth.syndrome >> 5 == 0;
}

/// The smallest legal path MTU that holds `payload` bytes, and the largest one when none does.
uint32_t legal_path_mtu(int payload) {
  const auto mtu = std::lower_bound(std::begin(kPathMtus), std::end(kPathMtus) - 1, payload);
  return static_cast<uint32_t>(*mtu);
}

void infer_first_psn(ReplayFlow& flow) {
  const auto first = std::find_if(flow.packets.begin(), flow.packets.end(), is_trusted_request);
  flow.first_psn = first->roce.bth.psn;
  flow.assumptions.push_back(format("first expected PSN %u: first captured request (packet %" PRIu64 ")",
                                    flow.first_psn, first->packet.index));
  if (!starts_message(first->roce.bth.opcode)) {
    flow.assumptions.push_back(format("the capture starts inside a message: packet %" PRIu64 " is %s",
                                      first->packet.index, opcode_name(first->roce.bth.opcode).c_str()));
  }
  for (auto later = first; later != flow.packets.end(); ++later) {
    if (!is_trusted_request(*later) || distance24(later->roce.bth.psn, flow.first_psn) >= 0) continue;
    flow.assumptions.push_back(format("packet %" PRIu64 " of PSN %u, older than the first, is taken as a duplicate",
                                      later->packet.index, later->roce.bth.psn));
    break;
  }
}

void infer_path_mtu(ReplayFlow& flow) {
  int largest = 0;
  for (const FlowPacket& packet : flow.packets) {
    if (!is_trusted_request(packet)) continue;
    const int payload = packet.roce.payload_length;
    largest = std::max(largest, payload);
    const Position position = operation_of(packet.roce.bth.opcode).position;
    if (position != Position::kFirst && position != Position::kMiddle) continue;
    flow.path_mtu = legal_path_mtu(payload);
    flow.assumptions.push_back(format("path MTU %u: packet %" PRIu64 ", %s, carries %d bytes", flow.path_mtu,
                                      packet.packet.index, opcode_name(packet.roce.bth.opcode).c_str(), payload));
    return;
  }
  flow.path_mtu = std::max(flow.path_mtu, legal_path_mtu(largest));
  flow.assumptions.push_back(
      format("path MTU %u: no First or Middle packet; the default of 1024, or the smallest that "
             "holds the largest payload of %d bytes",
             flow.path_mtu, largest));
}

void count_requests(ReplayFlow& flow) {
  for (const FlowPacket& packet : flow.packets) {
    if (is_trusted_request(packet) && !is_rc_write(packet.roce.bth.opcode)) ++flow.unsupported_opcodes;
    if (packet.is_cut()) ++flow.cut_packets;
  }
}

/// PSNs of requests that our endpoint refused because of their rkey, range or rights.
std::set<uint32_t> refused_psns(const ReplayFlow& flow) {
  std::set<uint32_t> psns;
  for (const CapturedResponse& response : flow.responses) {
    if (response.aeth && response.aeth->syndrome == kSyndromeRemoteAccess) psns.insert(response.psn);
  }
  return psns;
}

void infer_regions(ReplayFlow& flow) {
  const std::set<uint32_t> refused = refused_psns(flow);
  std::map<uint32_t, InferredRegion> regions;
  for (const FlowPacket& packet : flow.packets) {
    // A length of zero is legal with any rkey and address (docs/protocol.md D 21), so it tells nothing.
    if (!is_trusted_request(packet) || !packet.roce.reth || packet.roce.reth->dma_length == 0) continue;
    const Reth& reth = *packet.roce.reth;
    const bool malformed = packet.roce.payload_length < 0;  // the RETH was read from behind the UDP datagram
    const bool wraps = reth.virtual_address > std::numeric_limits<uint64_t>::max() - reth.dma_length;
    if (malformed || wraps || refused.count(packet.roce.bth.psn)) {
      flow.assumptions.push_back(format("rkey 0x%x of packet %" PRIu64
                                        ", PSN %u, registers nothing: it was refused, wraps "
                                        "around 2^64 or lies behind the UDP datagram",
                                        reth.remote_key, packet.packet.index, packet.roce.bth.psn));
      continue;
    }
    const uint64_t end = reth.virtual_address + reth.dma_length;
    InferredRegion& region =
        regions.try_emplace(reth.remote_key, InferredRegion{reth.remote_key, reth.virtual_address, end}).first->second;
    region.first_address = std::min(region.first_address, reth.virtual_address);
    region.end_address = std::max(region.end_address, end);
  }
  for (const auto& [key, region] : regions) {
    flow.regions.push_back(region);
    flow.assumptions.push_back(format("rkey 0x%x covers [0x%" PRIx64 ", 0x%" PRIx64 "): what its requests touch", key,
                                      region.first_address, region.end_address));
  }
}

/// Messages that `ack` acknowledges, from the first captured one on. An ACK is cumulative, so a message whose only
/// captured copy is a later retransmission counts too; each counts once.
uint32_t completed_messages(const ReplayFlow& flow, const CapturedResponse& ack) {
  std::set<uint32_t> last_psns;
  for (const FlowPacket& packet : flow.packets) {
    const Bth& bth = packet.roce.bth;
    const bool counts = is_trusted_request(packet) && ends_message(bth.opcode) &&
                        distance24(bth.psn, flow.first_psn) >= 0 && distance24(bth.psn, ack.psn) <= 0;
    if (counts) last_psns.insert(bth.psn);
  }
  return static_cast<uint32_t>(last_psns.size());
}

void infer_starting_msn(ReplayFlow& flow) {
  const auto ack = std::find_if(flow.responses.begin(), flow.responses.end(), [&](const CapturedResponse& response) {
    return response.opcode == kOpcodeRcAck && response.aeth && is_positive(*response.aeth) &&
           distance24(response.psn, flow.first_psn) >= 0;
  });
  if (ack == flow.responses.end()) {
    flow.assumptions.push_back("starting MSN 0: no ACK of a captured request");
    return;
  }
  const uint32_t completed = completed_messages(flow, *ack);
  flow.starting_msn = (ack->aeth->msn - completed) & 0xffffff;
  flow.assumptions.push_back(format("starting MSN %u: the first ACK (packet %" PRIu64
                                    ") has MSN %u, and up to its PSN %u messages were completed",
                                    flow.starting_msn, ack->index, ack->aeth->msn, completed));
}

}  // namespace

void infer_from_requests(ReplayFlow& flow) {
  infer_first_psn(flow);
  infer_path_mtu(flow);
  count_requests(flow);
}

void infer_from_responses(ReplayFlow& flow) {
  infer_regions(flow);
  infer_starting_msn(flow);
}

uint32_t psn_count(const RocePacket& packet, uint32_t path_mtu) {
  if (operation_of(packet.bth.opcode).verb != Verb::kReadRequest || !packet.reth) return 1;
  const uint64_t responses = (uint64_t{packet.reth->dma_length} + path_mtu - 1) / path_mtu;
  return static_cast<uint32_t>(std::max<uint64_t>(responses, 1));
}

}  // namespace traces
