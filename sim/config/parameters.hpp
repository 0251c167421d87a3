// All parameters of a simulation. Defaults stand here, and are those of the profile `roce`.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hw/bus/clock.hpp"
#include "hw/limits.hpp"
#include "models/card_memory.hpp"
#include "models/pcie.hpp"
#include "sim/config/schema.hpp"
#include "sim/trace/options.hpp"

namespace sim {

struct SimConfig {
  uint64_t seed = 1;
  uint32_t quantum_cycles = 0;  // 0: as far as the latencies that leave a clock domain allow
  bool every_cycle = false;
  bool shuffle = false;
  uint64_t watchdog_us = 2000000;
};

struct NicConfig {
  uint64_t clock_hz = 250000000;
  uint32_t width_bits = 512;
  uint32_t qp_count = 500;
  uint32_t pmtu_bytes = 4096;
  uint32_t window_packets = 1024;
  uint32_t ack_interval_packets = 16;
  uint32_t timeout = 14;  // Local ACK Timeout of IBTA 9.7.6.1.3: 4.096 us * 2^timeout
  uint32_t retry_count = 7;
  uint32_t retransmit_entries = hw::kListEntries - hw::kMaxQps;
  uint32_t read_packets = 16;
  uint32_t max_reads = hw::kMaxReads;
  uint32_t responder_resources = hw::kMaxReads;
  uint32_t min_rnr_timer = 12;  // code, IBTA table 45: 0.64 ms
  bool ack_every_packet = false;
  bool icrc_check = true;
  uint32_t partition_key = 0xffff;
  bool migreq = false;
  uint32_t tos = 0x02;  // ECT(0)
  uint32_t ttl_hops = 64;
};

// Depths of stages for what-if runs, by stage ("rx.bth"); 0 is that of hw/timing.hpp.
struct TimingConfig {
  std::map<std::string, uint32_t> depth_cycles;
};

struct LinkConfig {
  uint32_t gbps = 100;
  hw::Picoseconds propagation_ps = 50000;
};

struct HostConfig {
  hw::Picoseconds post_ps = 150000;
  hw::Picoseconds poll_ps = 40000;
  hw::Picoseconds post_receive_ps = 30000;
};

// What two hosts do with each other. Message counts are those of perftest.
struct WorkloadConfig {
  std::string operation = "write";
  std::string test = "bw";
  bool immediate = false;
  bool bidirectional = false;
  uint32_t size_bytes = 65536;
  uint32_t first_size_bytes = 0;  // of the first QP; 0: as the others
  uint64_t iterations = 5000;
  uint32_t qps = 1;
  uint32_t tx_depth = 128;
  uint32_t rx_depth = 512;
  hw::Picoseconds think_ps = 0;
};

struct Config {
  SimConfig sim;
  NicConfig nic;
  TimingConfig timing;
  LinkConfig link;
  models::PcieParams pcie;
  models::CardMemoryParams card;
  HostConfig host;
  WorkloadConfig workload;
  TraceOptions trace;  // no parameter: changes no result
};

void declare(Schema& schema, SimConfig& config);
void declare(Schema& schema, NicConfig& config);
void declare(Schema& schema, TimingConfig& config);
void declare(Schema& schema, LinkConfig& config);
void declare(Schema& schema, models::PcieParams& config);
void declare(Schema& schema, models::CardMemoryParams& config);
void declare(Schema& schema, HostConfig& config);
void declare(Schema& schema, WorkloadConfig& config);
void declare(Schema& schema, Config& config);

}  // namespace sim
