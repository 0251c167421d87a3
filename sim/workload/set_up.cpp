#include "sim/workload/set_up.hpp"

#include <algorithm>

namespace sim {

models::QpAttr qp_attr(const NicConfig& config) {
  models::QpAttr attr;
  attr.path_mtu = models::ibv_mtu(__builtin_ctz(config.pmtu_bytes) - 7);
  attr.timeout = config.timeout;
  attr.retry_cnt = config.retry_count;
  attr.sq_psn = 0x000100;
  attr.rq_psn = 0x800100;
  attr.max_rd_atomic = config.max_reads;
  attr.max_dest_rd_atomic = config.responder_resources;
  attr.min_rnr_timer = config.min_rnr_timer;
  return attr;
}

models::CpuParams cpu_params(const HostConfig& config) {
  return {config.post_ps, config.poll_ps};
}
models::CpuParams receive_cpu_params(const HostConfig& config) {
  return {config.post_receive_ps, config.poll_ps};
}

// A NIC takes one order a cycle, as fast as doorbells come.
hw::Cycles set_up_cycles(const Config& config, const models::Sides& sides, size_t receives) {
  if (receives == 0) return 0;
  const size_t orders = receives + std::max(sides.a.host.device.orders(), sides.b.host.device.orders());
  const hw::Picoseconds doorbell =
      models::ByteTime(config.pcie).of(models::kWriteHeaderBytes + config.pcie.doorbell_bytes);
  const hw::Clock clock(config.nic.clock_hz);
  return orders + clock.edge_at_or_after(orders * doorbell + 2 * config.pcie.write_latency);
}

}  // namespace sim
