#include "sim/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "models/bandwidth.hpp"
#include "models/mix.hpp"
#include "models/ping_pong.hpp"
#include "sim/config/error.hpp"

namespace sim {

namespace {

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

models::Transfer transfer_of(const WorkloadConfig& spec) {
  if (spec.operation == "read") return models::Transfer::read;
  return spec.operation == "send" ? models::Transfer::send : models::Transfer::write;
}

models::CpuParams cpu_params(const HostConfig& config) {
  return {config.post_ps, config.poll_ps};
}
models::CpuParams receive_cpu_params(const HostConfig& config) {
  return {config.post_receive_ps, config.poll_ps};
}

std::string dotted(uint32_t ip) {
  return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

bool takes_receives(const WorkloadConfig& spec) {
  return spec.operation == "send" || spec.operation == "mix" || spec.immediate;
}

models::Sides connected(const Config& config, Testbed& bed) {
  const WorkloadConfig& spec = config.workload;
  models::Queues queues;
  queues.qps = spec.qps;
  queues.max_send_wr = spec.tx_depth;
  queues.max_recv_wr = takes_receives(spec) ? spec.rx_depth : 0;
  return models::connect_sides(bed.node(0).host(), bed.node(1).host(), queues, qp_attr(config.nic));
}

// No message may come before its receive is posted: a NIC takes one order a cycle, as fast as doorbells come.
hw::Cycles set_up_cycles(const Config& config, const models::Sides& sides, size_t receives) {
  if (receives == 0) return 0;
  const size_t orders = receives + std::max(sides.a.host.device.orders(), sides.b.host.device.orders());
  const hw::Picoseconds doorbell =
      models::ByteTime(config.pcie).of(models::kWriteHeaderBytes + config.pcie.doorbell_bytes);
  const hw::Clock clock(config.nic.clock_hz);
  return orders + clock.edge_at_or_after(orders * doorbell + 2 * config.pcie.write_latency);
}

// The initiator of one direction, from node `from`. Addresses of the two directions do not meet.
template <class Params>
Params direction_params(const Config& config, size_t from, hw::Cycles start) {
  Params p;
  p.tx_depth = config.workload.tx_depth;
  p.iterations = config.workload.iterations;
  p.start = start;
  p.seed = config.sim.seed + from;
  p.own_address += uint64_t(from) << 40;
  p.peer_address += uint64_t(from) << 48;
  p.cpu = cpu_params(config.host);
  return p;
}
void make(std::unique_ptr<models::Bandwidth>& made, const Config& config, size_t from, hw::Cycles start,
          const models::Side& own, const models::Side& peer) {
  const WorkloadConfig& spec = config.workload;
  auto p = direction_params<models::BandwidthParams>(config, from, start);
  p.transfer = transfer_of(spec);
  p.immediate = spec.immediate;
  p.sizes = {spec.first_size_bytes == 0 ? spec.size_bytes : spec.first_size_bytes, spec.size_bytes};
  p.think = spec.think_ps;
  made = std::make_unique<models::Bandwidth>(p, own, peer);
}
void make(std::unique_ptr<models::Mix>& made, const Config& config, size_t from, hw::Cycles start,
          const models::Side& own, const models::Side& peer) {
  auto p = direction_params<models::MixParams>(config, from, start);
  p.largest = config.workload.size_bytes;
  p.reads = config.nic.max_reads != 0;
  made = std::make_unique<models::Mix>(p, own, peer);
}

// One or two directions on the same QPs, each with the receiver that it needs.
template <class Initiator>
class ThroughputTest : public Activity {
 public:
  ThroughputTest(const Config& config, Testbed& bed) : sides_(connected(config, bed)) {
    const WorkloadConfig& spec = config.workload;
    const size_t receives = takes_receives(spec) ? size_t(spec.qps) * spec.rx_depth : 0;
    const hw::Cycles start = set_up_cycles(config, sides_, receives);
    add(config, bed, 0, start);
    if (spec.bidirectional) add(config, bed, 1, start);
  }

  bool done() const override {
    const auto done = [](const auto& w) { return w->done(); };
    return std::all_of(directions_.begin(), directions_.end(), done) &&
           (errors() != 0 || std::all_of(receivers_.begin(), receivers_.end(), done));
  }
  uint64_t progress() const override {
    uint64_t sum = 0;
    for (const auto& w : directions_) sum += w->completions().size();
    return sum;
  }
  uint64_t errors() const {
    uint64_t sum = 0;
    for (const auto& w : directions_) sum += w->errors();
    for (const auto& w : receivers_) sum += w->errors();
    return sum;
  }

  void report(WorkloadResult& r) {
    r.errors = errors();
    r.memory_equal = true;
    for (const auto& w : directions_) {
      r.directions.push_back(rates_of(w->posts(), w->completions()));
      r.outcome.end = std::max(r.outcome.end, r.directions.back().last_completion);
      r.messages += w->completions().size();
      if (w->errors() != 0 && r.first_error.empty()) r.first_error = models::name_of(w->first_error());
      r.memory_equal = w->verify() && r.memory_equal;
      for (const models::DoneMessage& m : w->completions()) r.samples.push_back(m.completion - m.post);
    }
    if (r.errors != 0 && r.first_error.empty()) r.first_error = "a receive that is not what was sent";
    std::sort(r.samples.begin(), r.samples.end());
  }

 private:
  void add(const Config& config, Testbed& bed, size_t from, hw::Cycles start) {
    const WorkloadConfig& spec = config.workload;
    const models::Side& own = from == 0 ? sides_.a : sides_.b;
    const models::Side& peer = from == 0 ? sides_.b : sides_.a;
    directions_.emplace_back();
    make(directions_.back(), config, from, start, own, peer);
    Initiator& workload = *directions_.back();
    workload.waker = bed.node(from).attach("host." + spec.operation + "_bw", workload);
    if (!workload.needs_receiver()) return;
    receivers_.push_back(std::make_unique<models::Receiver>(
        workload.receiver_params(spec.rx_depth, receive_cpu_params(config.host)), peer));
    receivers_.back()->waker = bed.node(1 - from).attach("host.receiver", *receivers_.back());
  }

  models::Sides sides_;
  std::vector<std::unique_ptr<Initiator>> directions_;
  std::vector<std::unique_ptr<models::Receiver>> receivers_;
};

class PingPongTest : public Activity {
 public:
  PingPongTest(const Config& config, Testbed& bed)
      : sides_(connected(config, bed)), workload_(params(config, sides_), sides_) {
    const std::string name = "host." + config.workload.operation + "_lat";
    workload_.client.waker = bed.node(0).attach(name, workload_.client);
    workload_.server.waker = bed.node(1).attach(name, workload_.server);
  }

  bool done() const override { return workload_.done(); }
  uint64_t progress() const override { return workload_.client.posts().size() + workload_.server.posts().size(); }

  void report(WorkloadResult& r) {
    r.messages = progress();
    r.errors = workload_.client.errors() + workload_.server.errors();
    r.memory_equal = workload_.verify();
    for (const auto* side : {&workload_.client, &workload_.server})
      r.outcome.end = std::max(r.outcome.end, side->last_completion());
    r.samples = workload_.samples();
    std::sort(r.samples.begin(), r.samples.end());
  }

 private:
  static models::PingPongParams params(const Config& config, const models::Sides& sides) {
    const WorkloadConfig& spec = config.workload;
    models::PingPongParams p;
    p.transfer = transfer_of(spec);
    p.size = spec.size_bytes;
    p.iterations = spec.iterations;
    p.rx_depth = spec.rx_depth;
    p.start = set_up_cycles(config, sides, takes_receives(spec) ? spec.rx_depth : 0);
    p.seed = config.sim.seed;
    p.cpu = cpu_params(config.host);
    return p;
  }

  models::Sides sides_;
  models::PingPong workload_;
};

NodeCounters counters_of(Testbed& bed) {
  NodeCounters list;
  for (size_t i = 0; i < bed.size(); i++) list.emplace_back(bed.node(i).name(), bed.node(i).counters());
  return list;
}

template <class Test>
void run_test(const Config& config, Testbed& bed, const WorkloadRun& run, WorkloadResult& r) {
  Test test(config, bed);
  r.outcome = bed.run(test, run.show_progress);
  test.report(r);
}

// A READ's latency is that of one at a time.
Config one_at_a_time(Config config) {
  config.workload.tx_depth = 1;
  return config;
}

// Workloads have their buffers in host memory, from the first of these addresses to the second.
constexpr uint64_t kBuffersBegin = uint64_t(1) << 32, kBuffersEnd = uint64_t(1) << 46;

void refuse_if(bool bad, const std::string& message) {
  if (bad) throw InputError(message);
}

}  // namespace

bool is_latency_test(const WorkloadConfig& workload) {
  return workload.test == "lat";
}

std::vector<std::string> WorkloadResult::problems() const {
  std::vector<std::string> lines = outcome.problems;
  if (errors != 0) lines.push_back(fmt::format("{} work requests failed, the first with {}", errors, first_error));
  if (!memory_equal) lines.push_back("the target's memory does not equal the source's");
  return lines;
}

void check_workload(const Config& config) {
  const WorkloadConfig& w = config.workload;
  const bool latency = is_latency_test(w), read = w.operation == "read";
  const uint32_t most = latency ? 1 : config.nic.qp_count;
  const models::CardMemoryParams& card = config.card;
  refuse_if(
      card.bytes != 0 && card.base < kBuffersEnd && card.base + card.bytes > kBuffersBegin,
      fmt::format("card.base: {} and the {} bytes behind it hold addresses of the workload's buffers, which are in "
                  "host memory; allowed is a range outside of {} to {}",
                  card.base, card.bytes, kBuffersBegin, kBuffersEnd - 1));
  refuse_if(w.qps > most, fmt::format("workload.qps: {} is too many; allowed is 1 to {}", w.qps, most));
  refuse_if(w.size_bytes == 0 && latency && w.operation == "write",
            "workload.size: 0 bytes cannot be polled for; allowed is 1 byte and more in a latency test of WRITE");
  refuse_if(latency && w.bidirectional, "workload.bidirectional: a latency test goes both ways; allowed is false");
  refuse_if(latency && w.immediate, "workload.immediate: allowed is false in a latency test");
  refuse_if(latency && w.first_size_bytes != 0,
            "workload.first_size: allowed is 0 in a latency test, which has one QP");
  refuse_if(w.operation == "mix" && (latency || w.immediate),
            "workload.operation: a mix has immediate data of its own and no latency test; allowed is bw alone");
  refuse_if(read && w.immediate, "workload.immediate: a READ carries none; allowed is false");
  refuse_if(read && config.nic.max_reads == 0, "nic.max_reads: 0 allows no READ; allowed is 1 and more");
}

WorkloadResult run_workload(const Config& config, const WorkloadRun& run) {
  check_workload(config);
  WorkloadResult r;
  Testbed bed(config, 2);
  if (run.check_counters) run.check_counters(counters_of(bed));
  bed.join(0, 1, run.forward, run.backward);
  if (!run.pcap_folder.empty())
    bed.capture([&run](const std::string& node) { return run.pcap_folder + "/" + node + ".pcap"; });
  const WorkloadConfig& spec = config.workload;
  if (spec.operation == "mix")
    run_test<ThroughputTest<models::Mix>>(config, bed, run, r);
  else if (!is_latency_test(spec))
    run_test<ThroughputTest<models::Bandwidth>>(config, bed, run, r);
  else if (spec.operation == "read")
    run_test<ThroughputTest<models::Bandwidth>>(one_at_a_time(config), bed, run, r);
  else
    run_test<PingPongTest>(config, bed, run, r);
  r.counters = counters_of(bed);
  for (size_t i = 0; i < bed.size(); i++)
    r.addresses.push_back({i == 0 ? "local" : "remote", 0, 0, 0, 0, dotted(bed.node(i).host().ip)});
  for (const auto& link : bed.links()) {
    r.link_frames += link->frames;
    r.link_dropped += link->dropped;
  }
  return r;
}

}  // namespace sim
