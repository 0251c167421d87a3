#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {

/// "ACK(credit=31)", "RNR_NAK(timer=20)", "NAK(PSN_SEQ_ERR)", "RSVD(40)".
std::string syndrome_text(uint8_t syndrome);

/// Formats the packets of one capture as lines, one each:
/// `index t_us src>dst ROCEV2 qpn psn opcode len ackreq [synd msn] [va rkey dmalen] [imm] ... pad icrc`.
/// Times count from the first packet that is RoCEv2.
class LineFormatter {
 public:
  /// Nothing for frames that are not RoCEv2 over IPv4.
  std::optional<std::string> line(const Packet& packet, const RocePacket& roce);

 private:
  std::optional<int64_t> first_time_ns_;
};

}  // namespace traces
