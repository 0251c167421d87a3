#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces::test {

/// A RoCEv2 frame to build. Extended headers are written when given, whatever the opcode.
struct FrameSpec {
  std::string source = "10.0.0.2";  ///< both IPv4 or both IPv6
  std::string destination = "10.0.0.1";
  uint8_t opcode = 0x0a;
  uint32_t dest_qp = 0x11;
  uint32_t psn = 0;
  bool ack_request = false;
  std::optional<Reth> reth;
  std::optional<Aeth> aeth;
  std::optional<uint32_t> immediate;
  size_t payload = 0;  ///< bytes, padded to a multiple of 4
  std::vector<VlanTag> vlan_tags;
};

/// The frame with lengths and ICRC right.
std::vector<uint8_t> build_frame(const FrameSpec& spec);

/// Sets the ICRC of a frame anew, by its UDP length.
void fix_icrc(std::vector<uint8_t>& frame);

/// The frame as packet number `index` of a capture, `index` microseconds in.
Packet as_packet(std::vector<uint8_t> frame, uint64_t index);

FrameSpec write_only(uint32_t psn, size_t payload, uint64_t address = 0x1000, uint32_t remote_key = 0x77);
FrameSpec ack(uint32_t dest_qp, uint32_t psn, uint32_t msn, uint8_t syndrome = 0x1f);

}  // namespace traces::test
