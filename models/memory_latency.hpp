// What a DMA read waits in the host beyond the round trip to a warm last-level cache of the NIC's own socket:
//   dram     for lines that the cache does not hold: 1 - llc_percent / 100 of the requests, at random;
//   remote   where the buffer lives on another socket;
//   reorder  0 .. reorder, evenly at random: what lets completions of different requests overtake each other.
// Source: pcie-bench (Neugebauer et al., SIGCOMM 2018), cold against warm cache 54 and 57 ns on Sandy Bridge, remote
// against local socket 104 to 124 ns on Broadwell. Translation by an IOMMU belongs here as well: one more addend that
// depends on the address.
#pragma once
#include "hw/bus/clock.hpp"
#include "models/keyed_random.hpp"

namespace models {

struct MemoryLatencyParams {
  unsigned llc_percent = 100;
  hw::Picoseconds dram = 55000;
  hw::Picoseconds remote = 0;
  hw::Picoseconds reorder = 0;
};

class MemoryLatency {
 public:
  MemoryLatency(const MemoryLatencyParams& params, uint64_t seed)
      : params_(params), random_(seed, "host.memory_latency") {}

  // Of the next request.
  hw::Picoseconds next() {
    hw::Picoseconds wait = params_.remote;
    if (params_.llc_percent < 100 && random_.up_to(99) >= params_.llc_percent) wait += params_.dram;
    if (params_.reorder != 0) wait += random_.up_to(params_.reorder);
    return wait;
  }

 private:
  MemoryLatencyParams params_;
  KeyedRandom random_;
};

}  // namespace models
