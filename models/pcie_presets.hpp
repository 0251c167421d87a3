// The set-ups in which pcie-bench (Neugebauer et al., SIGCOMM 2018; data in its repository) measured read round trips:
// a Netronome NFP-6000 in a Gen3 x8 slot, MPS 256, MRRS 512, in hosts of several makes. Constants, in that order:
//
//   link     from the slot: 0.138 ns a byte, 24 bytes a request, 20 a completion of up to MPS.
//   host     fitted on 8 and 64 bytes with direct commands, which no DMA engine delays: the round trip without the
//   bytes
//            on the link. Haswell 455, Broadwell the same, Sandy Bridge 410. The share of memory shows in cold against
//            warm caches (57 and 54) and in remote against local sockets (104 .. 124).
//   device   fitted on the DMA rows: 73 ns more at 8 and at 64 bytes for the engine's own work, and from 512 bytes on a
//            slope of 0.28 ns a byte, where the link has 0.149. Since the same device reads 55 Gb/s when many transfers
//            overlap, the rest cannot be a rate of the link: it is the transfer being moved on once it is whole, at
//            0.13 to 0.14 ns a byte.
#pragma once
#include "models/pcie.hpp"

namespace models {

enum class MeasuredHost { kHaswell, kBroadwell, kBroadwellRemote, kSandyBridgeWarm, kSandyBridgeCold };

// `engine`: a DMA by the device's engine; else a direct PCIe command.
inline PcieParams nfp6000(MeasuredHost host, bool engine) {
  PcieParams p;
  p.generation = 3;
  p.lanes = 8;
  p.max_payload = 256;
  p.max_read_request = 512;
  const bool sandy_bridge = host == MeasuredHost::kSandyBridgeWarm || host == MeasuredHost::kSandyBridgeCold;
  p.read_latency = sandy_bridge ? 410000 : 455000;
  p.memory.llc_percent = host == MeasuredHost::kSandyBridgeCold ? 0 : 100;
  p.memory.dram = 55000;
  p.memory.remote = host == MeasuredHost::kBroadwellRemote ? 112000 : 0;
  p.device_read_latency = engine ? 77000 : 0;
  p.device_gbps = 58;
  return p;
}

}  // namespace models
