// PCI Express as formulas: what a transfer costs in bytes on the link, and what is left of the raw rate.
//
// Source: pcie-bench (Neugebauer et al., SIGCOMM 2018), docs/timing-model.md; ACK and flow-control guidelines of the
// PCIe base specification 5.0, tables 2-48 and 3-9. Bytes a TLP costs beside its data, with 64-bit addresses, framing
// and data link layer included: memory write 24, read request 24, completion with data 20.
#pragma once
#include <cstdint>

#include "hw/bus/clock.hpp"

namespace models {

struct PcieParams {
  unsigned generation = 4;                 // 3, 4, 5
  unsigned lanes = 16;                     // 1, 2, 4, 8, 16
  unsigned max_payload = 256;              // MPS in bytes: power of two, 128 .. 4096
  unsigned max_read_request = 512;         // MRRS in bytes: power of two, 128 .. 4096
  unsigned read_completion_boundary = 64;  // RCB in bytes: 64 or 128
  bool cut_at_boundary = false;            // completions of one RCB each, rather than of up to MPS
  hw::Picoseconds read_latency = 480000;   // from a read request to its first data
  hw::Picoseconds write_latency = 220000;  // from the link to visible in memory; doorbells and CQEs as well
  unsigned outstanding_reads = 64;         // read requests, each of at most MRRS: the tags
  unsigned posted_bytes = 4096;            // data that may wait for the link before the NIC is held up
  bool unlimited = false;                  // no rates and no bounds: the latencies alone
};

// Throws std::invalid_argument: the parameter, its value, what is allowed.
void check(const PcieParams& params);

// Gb/s of all lanes after line coding.
double raw_gbps(const PcieParams& params);
// Gb/s that are left for TLPs after acknowledgements, flow-control updates and clock compensation.
double tlp_gbps(const PcieParams& params);

inline unsigned completion_bytes(const PcieParams& p) {
  return p.cut_at_boundary ? p.read_completion_boundary : p.max_payload;
}
constexpr unsigned kWriteHeaderBytes = 24, kReadHeaderBytes = 24, kCompletionHeaderBytes = 20;
constexpr uint64_t pieces(uint64_t bytes, uint64_t piece) {
  return (bytes + piece - 1) / piece;
}

// Bytes on the link from the NIC for a write of `bytes`, for read requests of `bytes`; to the NIC for their data.
uint64_t write_link_bytes(const PcieParams& params, uint64_t bytes);
uint64_t read_request_link_bytes(const PcieParams& params, uint64_t bytes);
uint64_t read_data_link_bytes(const PcieParams& params, uint64_t bytes);

// Gb/s of data in back-to-back transfers of `bytes` each.
double write_gbps(const PcieParams& params, uint64_t bytes);
double read_gbps(const PcieParams& params, uint64_t bytes);

// Time on the link as an integer: a rate is rounded once, to attoseconds a byte.
class LinkTime {
 public:
  explicit LinkTime(const PcieParams& params);
  // Rounded up; 0 when the link is unlimited. Good for 100 MB and more in one go.
  hw::Picoseconds of(uint64_t bytes) const { return (bytes * attoseconds_per_byte_ + 999999) / 1000000; }

 private:
  uint64_t attoseconds_per_byte_;
};

}  // namespace models
