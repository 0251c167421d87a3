#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {

/// What the packets of a capture are.
struct Census {
  uint64_t packets = 0;
  std::array<uint64_t, kFrameKinds> by_kind{};
  std::array<uint64_t, kTunnels> by_tunnel{};  ///< RoCEv2 packets by their outermost tunnel, kNone included
  uint64_t ipv6 = 0;                           ///< RoCEv2 packets over IPv6
  uint64_t cut = 0;                            ///< of any kind: the capture holds fewer bytes than the wire did
  uint64_t repaired = 0;                       ///< of these, made whole again
  std::map<size_t, uint64_t> trailers;         ///< RoCEv2 packets by bytes behind the IP packet, zero left out

  void add(const Packet& packet, const RocePacket& roce);

  /// "rocev2 20", "tcp 40", "in vxlan 3", "4 bytes behind the IP packet 20": a line for everything that is not zero.
  std::vector<std::string> lines() const;
};

}  // namespace traces
