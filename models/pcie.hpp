// PCI Express as formulas: what a transfer costs in bytes on the link, and what is left of the raw rate.
//
// Source: pcie-bench (Neugebauer et al., SIGCOMM 2018), docs/timing-model.md; ACK and flow-control guidelines of the
// PCIe base specification 5.0, tables 2-48 and 3-9. Bytes a TLP costs beside its data, with 64-bit addresses, framing
// and data link layer included: memory write 24, read request 24, completion with data 20.
#pragma once
#include <cstdint>

#include "hw/bus/clock.hpp"
#include "models/memory_latency.hpp"

namespace models {

struct PcieParams {
  unsigned generation = 4;                 // 3, 4, 5
  unsigned lanes = 16;                     // 1, 2, 4, 8, 16
  unsigned max_payload = 256;              // MPS in bytes: power of two, 128 .. 4096
  unsigned max_read_request = 512;         // MRRS in bytes: power of two, 128 .. 4096
  unsigned read_completion_boundary = 64;  // RCB in bytes: 64 or 128
  bool cut_at_boundary = false;            // completions of one RCB each, rather than of up to MPS
  hw::Picoseconds read_latency = 480000;   // from a read request that has left to its first data; >= write_latency
  hw::Picoseconds write_latency = 220000;  // from the link to visible in memory; doorbells and CQEs as well
  MemoryLatencyParams memory;              // what a read waits beyond read_latency
  unsigned outstanding_reads = 64;         // read requests, each of at most MRRS: the tags
  unsigned posted_bytes = 4096;            // data that may wait for the link before the NIC is held up
  // Flow control (base specification 2.6.1): what the host's receive buffers hold. Its own completions and doorbells
  // find the NIC's buffers infinite.
  unsigned posted_headers = 128;
  unsigned posted_data = 1024;  // in 16 bytes
  unsigned nonposted_headers = 128;
  hw::Picoseconds credit_latency = 200000;  // from a TLP that the host has taken to its credits at the NIC
  unsigned host_write_gbps = 0;             // at which the host takes posted data; 0: as fast as the link
  // The NIC's DMA engine: its own time for a read, and the rate at which it moves a whole transfer on once the last
  // byte is there; 0: data passes as it comes.
  hw::Picoseconds device_read_latency = 0;
  unsigned device_gbps = 0;
  unsigned doorbell_bytes = 64;  // of a doorbell with its WQE
  unsigned cqe_bytes = 64;
  bool unlimited = false;  // no rates and no bounds: the latencies alone
  uint64_t seed = 1;       // of memory latencies
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
constexpr unsigned kCreditBytes = 16;         // a credit for data
constexpr unsigned kMaxTransferBytes = 4096;  // of one DMA command
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

// Time of bytes at a rate as an integer: the rate is rounded once, to attoseconds a byte.
class ByteTime {
 public:
  // 0 Gb/s: takes no time.
  explicit ByteTime(double gbps);
  // On the link, in TLPs; takes no time when the link is unlimited.
  explicit ByteTime(const PcieParams& params);
  // Rounded up. Good for 100 MB and more in one go.
  hw::Picoseconds of(uint64_t bytes) const { return (bytes * attoseconds_per_byte_ + 999999) / 1000000; }

 private:
  uint64_t attoseconds_per_byte_;
};

}  // namespace models
