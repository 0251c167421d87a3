#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "traces/ip_address.hpp"
#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {

/// A captured packet towards the replaced endpoint.
struct FlowPacket {
  Packet packet;
  RocePacket roce;

  bool is_request() const { return !is_response(roce.bth.opcode); }
  /// False for a packet whose ICRC is wrong or missing: its fields say nothing about the connection. Where the snap
  /// length cut the ICRC off, there is no reason for doubt.
  bool is_trusted() const { return roce.icrc_ok() || (roce.icrc == IcrcState::kCut && is_cut()); }
  /// The capture holds fewer bytes than were on the wire.
  bool is_cut() const { return packet.bytes.size() < packet.original_length; }
};

/// What the replaced endpoint answered when the capture was taken.
struct CapturedResponse {
  uint64_t index = 0;
  int64_t time_ns = 0;
  uint8_t opcode = 0;
  uint32_t psn = 0;
  std::optional<Aeth> aeth;  ///< nothing for the middle of a READ, or when cut
};

/// The bytes [first, end) under one rkey that the captured requests touched.
struct InferredRegion {
  uint32_t remote_key = 0;
  uint64_t first_address = 0;
  uint64_t end_address = 0;
};

/// One RC queue pair of the replaced endpoint, as far as the capture tells it.
struct ReplayFlow {
  IpAddress peer;
  IpAddress ours;
  uint32_t our_qpn = 0;

  uint32_t first_psn = 0;               ///< of the first captured request
  uint32_t path_mtu = 1024;             ///< bytes
  uint32_t starting_msn = 0;            ///< before the first captured request
  std::optional<uint32_t> peer_qpn;     ///< nothing when no response was captured, or when ambiguous
  std::string ambiguous;                ///< empty, or why peer_qpn and responses are not known
  std::vector<InferredRegion> regions;  ///< ascending by rkey

  uint64_t unsupported_opcodes = 0;  ///< requests that are not WRITE
  uint64_t cut_packets = 0;          ///< packets that cannot be sent again whole

  std::vector<FlowPacket> packets;          ///< towards us in capture order, responses to our own requests included
  std::vector<CapturedResponse> responses;  ///< from us in capture order, trusted ones only

  std::vector<std::string> assumptions;  ///< a sentence for everything above that is inferred
};

/// A capture seen from one of its endpoints.
struct ReplayCapture {
  std::vector<ReplayFlow> flows;  ///< in order of their first request
  uint64_t packets = 0;
  std::array<uint64_t, kFrameKinds> packets_by_kind{};
  std::vector<std::string> notes;  ///< packets that belong to no flow, and why
  std::string input_error;         ///< empty, or the line for a file that is cut or malformed behind what was read
};

/// Collects the packets of one capture and sorts them into flows.
class FlowBuilder {
 public:
  explicit FlowBuilder(const IpAddress& ours) : ours_(ours) {}

  /// Takes the next packet of an Ethernet capture, in capture order.
  void add(Packet packet);

  /// Infers the flows. Call once, after the last add().
  ReplayCapture finish();

  /// Addresses that RC requests were sent to.
  const std::set<IpAddress>& responders() const { return responders_; }

 private:
  struct Response {
    IpAddress peer;
    uint32_t peer_qpn = 0;
    CapturedResponse captured;
  };

  void create_flows();
  void pair_flows();
  void pair_flows_of(const IpAddress& peer);
  void note(uint64_t count, const char* what);

  IpAddress ours_;
  ReplayCapture capture_;
  std::vector<FlowPacket> incoming_;
  std::vector<Response> outgoing_;
  std::set<IpAddress> responders_;
  uint64_t untrusted_outgoing_ = 0;
  uint64_t own_requests_ = 0;
  uint64_t without_bth_ = 0;
  uint64_t other_transports_ = 0;
};

/// Reads `file` as seen by the endpoint `ours`. A file that is cut after some flows still gives them, with input_error
/// set. Throws InputError when the file is no Ethernet capture or has no RC request towards `ours`.
ReplayCapture read_replay(const std::string& file, const IpAddress& ours);

}  // namespace traces
