#pragma once

#include <cstdint>
#include <vector>

#include "traces/pcap_reader.hpp"
#include "traces/roce.hpp"

namespace traces {

enum class Repair : uint8_t { kNotNeeded, kRepaired, kImpossible };

/// Makes a RoCEv2 packet that the snap length cut whole again, for a receiver that must see its headers: zeros in place
/// of the bytes that are missing, and the ICRC that fits them. Sets packet.repaired and real_bytes and decodes anew.
/// Impossible when a header is cut or a length field does not fit the length on the wire; nothing is changed then.
Repair repair(Packet& packet, RocePacket& roce);

/// The RoCEv2 packet alone, as an Ethernet frame: without tunnels and without trailers behind the ICRC, its VLAN tags
/// kept. Where the capture has no Ethernet header around the packet, one with MACs made of the addresses' last bytes is
/// put there. The packet must be whole (repaired, or its ICRC not cut).
std::vector<uint8_t> ethernet_frame(const Packet& packet, const RocePacket& roce);

}  // namespace traces
