// Memory on the card, such as HBM, as a second target of DMA: commands whose address lies in its range go there and not
// over PCIe. It has a read port and a write port that do not disturb each other (AXI), each an in-order pipe:
//   data of a read of s bytes   first byte after `latency`, all of it s * 8 / gbps later;
//   a write of s bytes          visible after s * 8 / gbps + latency.
// Defaults: four of the 32 pseudo-channels of an HBM2 that gives 425 GB/s in all (Shuhai, Wang et al., FCCM 2020); the
// latency is an estimate of an idle access through an FPGA's controller.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/host_memory.hpp"
#include "models/pcie_link.hpp"

namespace models {

struct CardMemoryParams {
  uint64_t base = 0, bytes = 0;  // the range of addresses; no bytes: no card memory
  hw::Picoseconds latency = 120000;
  unsigned gbps = 425;  // of each port
};

// Throws std::invalid_argument: the parameter, its value, what is allowed.
inline void check(const CardMemoryParams& p) {
  if (p.base + p.bytes < p.base)
    throw std::invalid_argument("card.bytes = " + std::to_string(p.bytes) +
                                ": allowed is up to the end of the address space from card.base");
  if (p.gbps == 0) throw std::invalid_argument("card.gbps = 0: allowed are 1 and more");
}

class CardMemory {
 public:
  explicit CardMemory(const CardMemoryParams& params) : params_(params), time_(params.gbps) { check(params); }

  bool holds(uint64_t address) const { return address - params_.base < params_.bytes; }
  HostMemory& memory() { return memory_; }

  // A transfer that reaches its port at `time`: `start` on the port, `taken` for a write: visible. For who traces: of
  // packet `tag`, by `cause`.
  Grant read(hw::Picoseconds time, uint64_t bytes, uint32_t tag = 0, hw::EventId cause = 0) {
    return place(last_read_, time, bytes, tag, cause);
  }
  Grant write(hw::Picoseconds time, uint64_t bytes, uint32_t tag = 0, hw::EventId cause = 0) {
    return place(last_write_, time, bytes, tag, cause);
  }
  // When the first `bytes` of a read are there.
  hw::Picoseconds arrival(const Grant& read, uint64_t bytes) const {
    return read.start + params_.latency + time_.of(bytes);
  }

 private:
  Grant place(Grant& last, hw::Picoseconds time, uint64_t bytes, uint32_t tag, hw::EventId cause) const {
    Grant g;
    g.start = std::max(time, last.end);
    g.end = g.start + time_.of(bytes);
    g.taken = g.end + params_.latency;
    if (hw::Causes* causes = hw::world().causes) {
      const bool waits = g.start > time;
      g.begins =
          causes->later(tag, g.start, waits ? last.begins : cause, {hw::Part::pcie, waits ? g.start - last.start : 0});
      g.is_taken = causes->later(tag, g.taken, g.begins, {hw::Part::pcie, g.taken - g.start});
    }
    return last = g;
  }

  CardMemoryParams params_;
  ByteTime time_;
  HostMemory memory_;
  Grant last_read_, last_write_;
};

}  // namespace models
