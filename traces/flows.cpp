#include "traces/flows.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <utility>

#include "traces/inference.hpp"
#include "traces/pairing.hpp"
#include "traces/text.hpp"

namespace traces {
namespace {

std::vector<SentRequest> request_track(const ReplayFlow& flow) {
  std::vector<SentRequest> track;
  for (const FlowPacket& packet : flow.packets) {
    if (!packet.is_trusted() || !packet.is_request()) continue;
    const uint32_t psn = packet.roce.bth.psn;
    const uint32_t last_psn = (psn + psn_count(packet.roce, flow.path_mtu) - 1) & 0xffffff;
    track.push_back({packet.packet.index, psn, last_psn});
  }
  return track;
}

std::vector<SentResponse> response_track(const std::vector<CapturedResponse>& responses) {
  std::vector<SentResponse> track;
  track.reserve(responses.size());
  for (const CapturedResponse& response : responses) track.push_back({response.index, response.psn});
  return track;
}

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string no_flow_line(const std::string& file, const IpAddress& ours, const ReplayCapture& capture,
                         const std::set<IpAddress>& responders) {
  std::vector<std::string> kinds;
  for (size_t kind = 0; kind < kFrameKinds; ++kind) {
    const uint64_t count = capture.packets_by_kind[kind];
    if (count > 0) kinds.push_back(format("%s %" PRIu64, name_of(static_cast<FrameKind>(kind)), count));
  }
  std::vector<std::string> addresses;
  addresses.reserve(responders.size());
  for (const IpAddress& address : responders) addresses.push_back(to_string(address));
  std::string line = format("%s: no RoCEv2 RC request towards %s in %" PRIu64 " packets", file.c_str(),
                            to_string(ours).c_str(), capture.packets);
  if (!kinds.empty()) line += " (" + join(kinds, ", ") + ")";
  if (!capture.notes.empty()) line += ", " + join(capture.notes, ", ");
  line += "; allowed: ";
  line += addresses.empty() ? "a capture of RoCEv2 RC over IPv4 with right ICRCs" : "one of " + join(addresses, ", ");
  return line;
}

}  // namespace

void FlowBuilder::add(Packet packet) {
  FlowPacket entry;
  entry.packet = std::move(packet);
  entry.roce = decode_frame(entry.packet.bytes);
  const RocePacket& roce = entry.roce;
  ++capture_.packets;
  ++capture_.packets_by_kind[static_cast<size_t>(roce.kind)];
  if (roce.kind != FrameKind::kRoceV2) return;
  if (!roce.has_bth) {
    ++without_bth_;
    return;
  }
  if (transport_of(roce.bth.opcode) != Transport::kRc) {
    ++other_transports_;
    return;
  }
  if (entry.is_trusted() && entry.is_request()) responders_.insert(roce.destination);
  if (roce.destination == ours_) {
    incoming_.push_back(std::move(entry));
  } else if (roce.source == ours_ && !entry.is_trusted()) {
    ++untrusted_outgoing_;
  } else if (roce.source == ours_ && entry.is_request()) {
    ++own_requests_;
  } else if (roce.source == ours_) {
    const Bth& bth = roce.bth;
    outgoing_.push_back(
        {roce.destination, bth.dest_qp, {entry.packet.index, entry.packet.time_ns, bth.opcode, bth.psn, roce.aeth}});
  }
}

void FlowBuilder::note(uint64_t count, const char* what) {
  if (count > 0) capture_.notes.push_back(format("%" PRIu64 " %s", count, what));
}

// A packet with a wrong or missing ICRC may carry any QPN, so it joins a flow and never founds one.
void FlowBuilder::create_flows() {
  std::map<std::pair<IpAddress, uint32_t>, size_t> flow_of;
  for (const FlowPacket& entry : incoming_) {
    if (!entry.is_trusted() || !entry.is_request()) continue;
    const uint32_t qpn = entry.roce.bth.dest_qp;
    if (!flow_of.try_emplace({entry.roce.source, qpn}, capture_.flows.size()).second) continue;
    ReplayFlow flow;
    flow.peer = entry.roce.source;
    flow.ours = ours_;
    flow.our_qpn = qpn;
    capture_.flows.push_back(std::move(flow));
  }
  uint64_t untrusted = 0;
  uint64_t responses = 0;
  for (FlowPacket& entry : incoming_) {
    const auto found = flow_of.find({entry.roce.source, entry.roce.bth.dest_qp});
    if (found != flow_of.end()) {
      capture_.flows[found->second].packets.push_back(std::move(entry));
    } else {
      ++(entry.is_trusted() ? responses : untrusted);
    }
  }
  note(untrusted, "packets towards us with a wrong or missing ICRC belong to no flow");
  note(untrusted_outgoing_, "packets from us with a wrong or missing ICRC are left out");
  note(own_requests_, "requests from us are left out: a replay answers and never asks");
  note(responses, "packets towards us answer queue pairs that received no request");
  note(without_bth_, "RoCEv2 packets end before the BTH");
  note(other_transports_, "RoCEv2 packets are not of the RC transport");
}

void FlowBuilder::pair_flows() {
  std::set<IpAddress> peers;
  for (const ReplayFlow& flow : capture_.flows) peers.insert(flow.peer);
  for (const IpAddress& peer : peers) pair_flows_of(peer);
  const auto orphans = std::count_if(outgoing_.begin(), outgoing_.end(),
                                     [&](const Response& response) { return peers.count(response.peer) == 0; });
  note(static_cast<uint64_t>(orphans), "responses from us go to addresses that sent no request");
}

void FlowBuilder::pair_flows_of(const IpAddress& peer) {
  std::vector<ReplayFlow*> flows;
  std::vector<std::vector<SentRequest>> requests;
  for (ReplayFlow& flow : capture_.flows) {
    if (flow.peer != peer) continue;
    flows.push_back(&flow);
    requests.push_back(request_track(flow));
  }
  std::map<uint32_t, std::vector<CapturedResponse>> responses_to;
  for (const Response& response : outgoing_) {
    if (response.peer == peer) responses_to[response.peer_qpn].push_back(response.captured);
  }
  std::vector<uint32_t> peer_qpns;
  std::vector<std::vector<SentResponse>> responses;
  for (const auto& [qpn, captured] : responses_to) {
    peer_qpns.push_back(qpn);
    responses.push_back(response_track(captured));
  }

  const std::vector<Pairing> pairings = pair_responses(requests, responses);
  for (size_t i = 0; i < flows.size(); ++i) {
    ReplayFlow& flow = *flows[i];
    const Pairing& pairing = pairings[i];
    if (pairing.response_track) {
      flow.peer_qpn = peer_qpns[*pairing.response_track];
      flow.responses = std::move(responses_to[*flow.peer_qpn]);
      responses_to.erase(*flow.peer_qpn);
      flow.assumptions.push_back(
          format("peer QPN 0x%x: the PSNs of our responses to it fit only here", *flow.peer_qpn));
    } else if (pairing.candidates.empty()) {
      flow.assumptions.push_back("peer QPN unknown: no captured response of ours fits");
    } else {
      std::vector<std::string> qpns;
      for (size_t candidate : pairing.candidates) qpns.push_back(format("0x%x", peer_qpns[candidate]));
      flow.ambiguous = format("QPN 0x%x and peer %s: our responses to QPN %s fit this and another flow or each other",
                              flow.our_qpn, to_string(peer).c_str(), join(qpns, ", ").c_str());
    }
  }
  uint64_t unpaired = 0;
  for (const auto& [qpn, captured] : responses_to) unpaired += captured.size();
  note(unpaired, ("responses from us to " + to_string(peer) + " are paired with no flow").c_str());
}

ReplayCapture FlowBuilder::finish() {
  create_flows();
  for (ReplayFlow& flow : capture_.flows) infer_from_requests(flow);
  pair_flows();
  for (ReplayFlow& flow : capture_.flows) infer_from_responses(flow);
  return std::move(capture_);
}

ReplayCapture read_replay(const std::string& file, const IpAddress& ours) {
  PcapReader reader(file);
  FlowBuilder builder(ours);
  std::string input_error;
  try {
    while (std::optional<Packet> packet = reader.next()) {
      reader.require_ethernet(*packet);
      builder.add(std::move(*packet));
    }
  } catch (const InputError& error) {
    input_error = error.what();
  }
  ReplayCapture capture = builder.finish();
  if (capture.flows.empty()) {
    throw InputError(input_error.empty() ? no_flow_line(file, ours, capture, builder.responders()) : input_error);
  }
  capture.input_error = input_error;
  return capture;
}

}  // namespace traces
