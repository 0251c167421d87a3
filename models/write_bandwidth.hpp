// ib_write_bw of perftest: one side keeps `tx_depth` RDMA WRITEs outstanding on each of its QPs.
//
// The messages of a QP take its buffers in turn. No two buffers hold the same bytes, and each has its own place at the
// target, so that the comparison at the end finds a message that is missing there or lies where another belongs.
#pragma once
#include <vector>

#include "models/cpu.hpp"
#include "models/host.hpp"

namespace models {

struct WriteBandwidthParams {
  unsigned qps = 1;
  unsigned tx_depth = 128;
  uint32_t size = 65536;       // bytes of a message
  uint64_t iterations = 1000;  // messages of a QP
  uint64_t warm_up = 0;        // messages of all QPs that no rate counts
  uint64_t seed = 1;           // of the bytes
  uint64_t source_address = uint64_t(1) << 32, target_address = uint64_t(1) << 40;
  QpAttr attr;  // of the connections; PSNs and addresses as in models::connect
  CpuParams cpu;
};

// Creates QPs and regions on both hosts and connects them. A stage of the initiator; the target's CPU has no part.
class WriteBandwidth {
 public:
  // All buffers of a side; a QP has as many as `tx_depth` where they fit in, and at least one.
  static constexpr uint64_t kBufferBytes = uint64_t(1) << 24;

  WriteBandwidth(const WriteBandwidthParams& params, const Host& initiator, const Host& target);
  WriteBandwidth(const WriteBandwidth&) = delete;
  WriteBandwidth& operator=(const WriteBandwidth&) = delete;

  void step();
  hw::Cycles quiet() const { return quiet_until(cpu_.due()); }
  uint64_t held() const { return outstanding_; }

  // Nothing is outstanding, and every QP has posted all or is in error.
  bool done() const;
  // The target's memory equals the source, and every message completed well. For after the run.
  bool verify();

  // When the CPU rang each doorbell, and when it saw each completion, each in order.
  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  const std::vector<hw::Picoseconds>& completions() const { return completions_; }
  uint64_t errors() const { return errors_; }
  ibv_wc_status first_error() const { return first_error_; }
  // Gb/s of payload between the completions at 10 % and at 90 % of the messages after the warm-up; 0 when there are
  // fewer than 10 of them.
  double steady_gbps() const;

  Waker waker;

 private:
  struct Qp {
    uint32_t number;
    uint64_t posted = 0, completed = 0;
    bool failed = false;
  };

  bool may_post(const Qp& q) const;
  bool find_qp();
  bool post();
  bool poll();

  WriteBandwidthParams params_;
  Host initiator_, target_;
  Cpu cpu_;
  Cq cq_;
  uint32_t rkey_ = 0;
  uint64_t stride_;  // from buffer to buffer
  uint64_t slots_;   // buffers of a QP
  std::vector<Qp> qps_;
  size_t next_ = 0;  // QP whose turn it is
  uint64_t outstanding_ = 0, errors_ = 0;
  ibv_wc_status first_error_ = IBV_WC_SUCCESS;
  std::vector<hw::Picoseconds> posts_, completions_;
};

}  // namespace models
