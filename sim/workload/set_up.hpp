// What workloads take from the configuration before they start.
#pragma once
#include "models/cpu.hpp"
#include "models/transfer.hpp"
#include "sim/config/parameters.hpp"

namespace sim {

models::QpAttr qp_attr(const NicConfig& config);
models::CpuParams cpu_params(const HostConfig& config);
models::CpuParams receive_cpu_params(const HostConfig& config);

// The cycle before which nothing may be posted, when `receives` are posted first: no message may come before its
// receive.
hw::Cycles set_up_cycles(const Config& config, const models::Sides& sides, size_t receives);

}  // namespace sim
