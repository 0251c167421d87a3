#include "sim/workload/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "models/bandwidth.hpp"
#include "models/mix.hpp"
#include "models/ping_pong.hpp"
#include "sim/config/error.hpp"
#include "sim/workload/listed_test.hpp"
#include "sim/workload/set_up.hpp"
#include "sim/workload/throughput_test.hpp"

namespace sim {

namespace {

models::Transfer transfer_of(const WorkloadConfig& spec) {
  if (spec.operation == "read") return models::Transfer::read;
  return spec.operation == "send" ? models::Transfer::send : models::Transfer::write;
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
class PerftestDirections : public ThroughputTest<Initiator> {
 public:
  PerftestDirections(const Config& config, Testbed& bed) : ThroughputTest<Initiator>(connected(config, bed)) {
    const WorkloadConfig& spec = config.workload;
    const size_t receives = takes_receives(spec) ? size_t(spec.qps) * spec.rx_depth : 0;
    const hw::Cycles start = set_up_cycles(config, this->sides(), receives);
    for (size_t from = 0; from < (spec.bidirectional ? 2 : 1); from++) {
      std::unique_ptr<Initiator> initiator;
      make(initiator, config, from, start, this->side(from), this->side(1 - from));
      this->add(bed, from, "host." + spec.operation + "_bw", std::move(initiator), spec.rx_depth,
                receive_cpu_params(config.host));
    }
  }
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
void run_test(Test&& test, Testbed& bed, const WorkloadRun& run, WorkloadResult& r) {
  r.outcome = bed.run(test, run.show_progress);
  test.report(r);
}

// A READ's latency is that of one at a time.
Config one_at_a_time(Config config) {
  config.workload.tx_depth = 1;
  return config;
}

void run_in(const Config& config, Testbed& bed, const WorkloadRun& run, WorkloadResult& r) {
  const WorkloadConfig& spec = config.workload;
  if (run.connections)
    run_test(ListedTest(config, *run.connections, bed), bed, run, r);
  else if (spec.operation == "mix")
    run_test(PerftestDirections<models::Mix>(config, bed), bed, run, r);
  else if (!is_latency_test(spec))
    run_test(PerftestDirections<models::Bandwidth>(config, bed), bed, run, r);
  else if (spec.operation == "read")
    run_test(PerftestDirections<models::Bandwidth>(one_at_a_time(config), bed), bed, run, r);
  else
    run_test(PingPongTest(config, bed), bed, run, r);
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
  if (!run.connections) check_workload(config);
  WorkloadResult r;
  Testbed bed(config, 2);
  if (run.check_counters) run.check_counters(counters_of(bed));
  bed.join(0, 1, run.forward, run.backward);
  if (!run.pcap_folder.empty())
    bed.capture([&run](const std::string& node) { return run.pcap_folder + "/" + node + ".pcap"; });
  run_in(config, bed, run, r);
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
