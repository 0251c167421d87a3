#include "traces/census.hpp"

#include <cinttypes>

#include "traces/text.hpp"

namespace traces {

void Census::add(const Packet& packet, const RocePacket& roce) {
  ++packets;
  ++by_kind[static_cast<size_t>(roce.kind)];
  cut += packet.repaired || packet.bytes.size() < packet.original_length;
  if (roce.kind != FrameKind::kRoceV2) return;
  ++by_tunnel[static_cast<size_t>(roce.tap.tunnel)];
  ipv6 += roce.destination.version == 6;
  repaired += packet.repaired;
  if (roce.trailer_bytes > 0) ++trailers[roce.trailer_bytes];
}

std::vector<std::string> Census::lines() const {
  std::vector<std::string> lines;
  const auto line = [&](const std::string& what, uint64_t count) {
    if (count > 0) lines.push_back(format("%s %" PRIu64, what.c_str(), count));
  };
  for (size_t kind = 0; kind < kFrameKinds; ++kind) line(name_of(static_cast<FrameKind>(kind)), by_kind[kind]);
  line("of rocev2, over ipv6", ipv6);
  for (size_t tunnel = 1; tunnel < kTunnels; ++tunnel)
    line(std::string("of rocev2, in ") + name_of(static_cast<Tunnel>(tunnel)), by_tunnel[tunnel]);
  for (const auto& [bytes, count] : trailers)
    line(format("of rocev2, with %zu bytes behind the IP packet", bytes), count);
  line("cut by the snap length", cut);
  line("of these, repaired", repaired);
  return lines;
}

}  // namespace traces
