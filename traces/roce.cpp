#include "traces/roce.hpp"

namespace traces {

const char* name_of(FrameKind kind) {
  constexpr const char* kNames[kFrameKinds] = {"rocev2", "rocev1",   "arp",    "tcp",   "udp",       "icmp", "ipv4",
                                               "ipv6",   "fragment", "tunnel", "other", "link type", "short"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(Tunnel tunnel) {
  constexpr const char* kNames[kTunnels] = {"none", "vxlan", "geneve", "gre", "erspan 1", "erspan 2", "erspan 3"};
  return kNames[static_cast<size_t>(tunnel)];
}

ByteSpan RocePacket::payload(ByteSpan frame) const {
  return frame.slice(payload_offset, payload_length > 0 ? static_cast<size_t>(payload_length) : 0);
}

}  // namespace traces
