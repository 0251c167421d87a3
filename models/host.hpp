// A host as a workload sees it, and what two hosts do before a workload starts.
#pragma once
#include "models/host_memory.hpp"
#include "models/verbs.hpp"

namespace models {

struct Host {
  Device& device;
  HostMemory& memory;
  hw::Clock clock;
  uint64_t mac;  // low 48 bits
  uint32_t ip;   // host byte order
};

// Moves `qp_a` of host `a` and `qp_b` of host `b` to RTS, connected with each other. `attr` holds what both share, and
// the PSNs as seen from `a`; states, QP numbers and addresses are filled in.
void connect(const Host& a, uint32_t qp_a, const Host& b, uint32_t qp_b, QpAttr attr);

// Fills memory with bytes that depend on seed and address; compares two ranges as they stand after the end of a run.
void fill(HostMemory& memory, uint64_t address, uint64_t bytes, uint64_t seed);
bool equal(HostMemory& a, uint64_t address_a, HostMemory& b, uint64_t address_b, uint64_t bytes);

}  // namespace models
