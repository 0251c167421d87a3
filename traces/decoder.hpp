#pragma once

#include "traces/bytes.hpp"
#include "traces/roce.hpp"

namespace traces {

enum EtherType : uint16_t {
  kIpv4Type = 0x0800,
  kArpType = 0x0806,
  kVlanType = 0x8100,
  kTransparentEthernetType = 0x6558,
  kIpv6Type = 0x86dd,
  kServiceVlanType = 0x88a8,
  kErspan2Type = 0x88be,
  kErspan3Type = 0x22eb,
  kRoceV1Type = 0x8915,
  kOldServiceVlanType = 0x9100,
};

/// Decodes one frame from the outside in. Each layer returns what the frame is, and the next one continues at cursor_.
class Decoder {
 public:
  Decoder(ByteSpan frame, RocePacket& packet) : frame_(frame), packet_(packet) {}

  FrameKind link(int link_type);

 private:
  bool outermost() const { return packet_.tunnels == 0; }
  bool holds(size_t count) const { return frame_.holds(cursor_, count); }

  // decode.cpp: link layers, tags, IP and UDP.
  FrameKind ethernet();
  FrameKind cooked(size_t protocol, size_t address_length, size_t address, size_t header_size);
  FrameKind loopback();
  FrameKind ip_of_either_version();
  FrameKind tagged(uint16_t ether_type);
  FrameKind ipv4();
  FrameKind ipv6();
  void ip_header(uint8_t traffic_class, uint8_t time_to_live, const IpAddress& source, const IpAddress& destination);
  FrameKind protocol(uint8_t protocol, FrameKind otherwise);
  FrameKind udp();

  // tunnels.cpp
  FrameKind vxlan();
  FrameKind geneve();
  FrameKind gre();
  FrameKind erspan(Tunnel type);
  FrameKind peel(Tunnel tunnel, uint32_t identifier, uint16_t contents);

  ByteSpan frame_;
  RocePacket& packet_;
  size_t cursor_ = 0;
};

}  // namespace traces
