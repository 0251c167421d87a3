#include "sim/config/parameters.hpp"

namespace sim {

void declare(Schema& s, SimConfig& c) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  s.integer("sim.seed", c.seed, whole(0, max), "", "Seed of every random choice; streams are keyed by object name.");
  s.integer("sim.quantum_cycles", c.quantum_cycles, whole(0, 1000000), "cycles",
            "How far a clock domain may run ahead of the others; 0 is as far as latencies allow. Changes no result.");
  s.boolean("sim.every_cycle", c.every_cycle, "Call every stage in every cycle, asleep or not. Changes no result.");
  s.boolean("sim.shuffle", c.shuffle, "Call the stages of a cycle in random order. Changes no result.");
  s.integer("sim.watchdog_us", c.watchdog_us, whole(1, max / 1000000), "us",
            "Simulated time in which something must be achieved; otherwise the run ends with a report of who waits.");
}

void declare(Schema& s, NicConfig& c) {
  s.integer("nic.clock_hz", c.clock_hz, whole(1000000, 2000000000), "Hz", "Clock of the NIC's stages.");
  s.integer_of("nic.width", c.width_bits, {64, 128, 256, 512, 1024}, "bits",
               "Width of the data path: one beat a cycle.");
  s.integer("nic.qp_count", c.qp_count, whole(1, hw::kMaxQps), "QPs", "Queue pairs that the NIC's tables hold.");
  s.integer_of("nic.pmtu", c.pmtu_bytes, {256, 512, 1024, 2048, 4096}, "bytes", "Path MTU: most payload of a packet.");
  s.integer("nic.window_packets", c.window_packets, whole(1, 65535), "packets",
            "Most packets that a QP has sent and not yet seen acknowledged.");
  s.integer("nic.ack_interval", c.ack_interval_packets, whole(1, 65535), "packets",
            "Within a message, every so many packets one asks for an ACK; a last packet always does.");
  s.integer("nic.timeout", c.timeout, whole(0, 31), "", "Local ACK Timeout: 4.096 us * 2^timeout; 0 is never.");
  s.integer("nic.retry_count", c.retry_count, whole(0, 7), "",
            "Retries without progress before a QP gives up with IBV_WC_RETRY_EXC_ERR.");
  s.integer("nic.retransmit_entries", c.retransmit_entries, whole(1, hw::kListEntries - hw::kMaxQps), "packets",
            "Packets of all QPs together that the retransmit list holds until they are acknowledged.");
  s.integer("nic.read_packets", c.read_packets, whole(1, 16), "packets",
            "Most response packets that one READ request asks for; a longer READ is several requests.");
  s.integer("nic.max_reads", c.max_reads, whole(0, hw::kMaxReads), "requests",
            "max_rd_atomic: READ requests of a QP that wait for their responses; 0 allows none.");
  s.integer("nic.responder_resources", c.responder_resources, whole(0, hw::kMaxReads), "requests",
            "max_dest_rd_atomic: READ requests of a QP that the responder holds; one more is refused.");
  s.integer("nic.min_rnr_timer", c.min_rnr_timer, whole(0, 31), "",
            "Code of the time that an RNR NAK asks the peer to wait (IBTA table 45); 12 is 0.64 ms.");
  s.boolean("nic.ack_every_packet", c.ack_every_packet, "The responder acknowledges packets that do not ask for it.");
  s.boolean("nic.icrc_check", c.icrc_check, "Drop received packets whose ICRC is wrong; if false, only count them.");
  s.integer("nic.partition_key", c.partition_key, whole(0, 0xffff), "", "P_Key sent, and expected on receive.");
  s.boolean("nic.migreq", c.migreq, "The MigReq bit of every BTH sent.");
  s.integer("nic.tos", c.tos, whole(0, 255), "", "IPv4 TOS of every packet sent: DSCP * 4 + ECN.");
  s.integer("nic.ttl", c.ttl_hops, whole(1, 255), "hops", "IPv4 TTL of every packet sent.");
}

namespace {

// Every stage of the NIC, as the list for synthesis names it: rx_bth is rx.bth, msn is tables.msn.
const char* const kStages[] = {
#define STAGE(name, ...) #name,
#include "hw/synth/stages.def"
#undef STAGE
};

std::string stage_name(const std::string& name) {
  for (const char* room : {"rx_", "tx_"})
    if (name.compare(0, 3, room) == 0) return name.substr(0, 2) + "." + name.substr(3);
  return "tables." + name;
}

}  // namespace

void declare(Schema& s, TimingConfig& c) {
  for (const char* name : kStages) {
    const std::string stage = stage_name(name);
    s.integer("timing." + stage, c.depth_cycles[stage], whole(0, 32), "cycles",
              "Depth of the stage's outputs for a what-if; 0 is that of hw/timing.hpp.");
  }
}

void declare(Schema& s, LinkConfig& c) {
  s.integer("link.gbps", c.gbps, whole(1, 1600), "Gb/s", "Line rate, preamble and gap included.");
  s.nanoseconds("link.propagation_ns", c.propagation_ps, 1000000000, "Delay of the cable, one way.");
}

namespace {

void declare_link(Schema& s, models::PcieParams& c) {
  const std::vector<int64_t> powers = {128, 256, 512, 1024, 2048, 4096};
  s.integer_of("pcie.generation", c.generation, {3, 4, 5}, "", "PCIe generation: 8, 16 or 32 GT/s a lane.");
  s.integer_of("pcie.lanes", c.lanes, {1, 2, 4, 8, 16}, "lanes", "Lanes of the NIC's slot.");
  s.integer_of("pcie.mps", c.max_payload, powers, "bytes", "Maximum Payload Size of a TLP.");
  s.integer_of("pcie.mrrs", c.max_read_request, powers, "bytes", "Maximum Read Request Size.");
  s.integer_of("pcie.rcb", c.read_completion_boundary, {64, 128}, "bytes", "Read Completion Boundary.");
  s.boolean("pcie.cut_at_rcb", c.cut_at_boundary, "Completions carry one RCB each, rather than up to MPS.");
  s.integer("pcie.doorbell_bytes", c.doorbell_bytes, whole(4, 256), "bytes", "Bytes of a doorbell with its WQE.");
  s.integer("pcie.cqe_bytes", c.cqe_bytes, whole(1, 128), "bytes", "Bytes of a completion queue entry.");
  s.boolean("pcie.unlimited", c.unlimited, "No rates and no bounds: only the latencies remain.");
}

void declare_latencies(Schema& s, models::PcieParams& c) {
  s.nanoseconds("pcie.read_latency_ns", c.read_latency, 1000000,
                "From a read request to its first data in a warm cache; no less than pcie.write_latency_ns.");
  s.nanoseconds("pcie.write_latency_ns", c.write_latency, 1000000,
                "From the link to visible in memory, for posted writes, doorbells and CQEs.");
  s.integer("pcie.llc_percent", c.memory.llc_percent, whole(0, 100), "%",
            "Share of read requests that find their data in the last-level cache; random by sim.seed.");
  s.nanoseconds("pcie.dram_ns", c.memory.dram, 1000000, "What a read request waits longer that goes to DRAM.");
  s.nanoseconds("pcie.remote_ns", c.memory.remote, 1000000,
                "What a read request waits longer because its memory is at another socket.");
  s.nanoseconds("pcie.reorder_ns", c.memory.reorder, 1000000,
                "Most that memory delays a read request at random, so that completions overtake each other.");
  s.nanoseconds("pcie.device_read_ns", c.device_read_latency, 1000000, "The DMA engine's own time for a read.");
  s.integer("pcie.device_gbps", c.device_gbps, whole(0, 10000), "Gb/s",
            "Rate at which the DMA engine moves a transfer once it has read all of it; 0: data passes as it comes.");
}

void declare_limits(Schema& s, models::PcieParams& c) {
  s.integer("pcie.outstanding_reads", c.outstanding_reads, whole(1, 65536), "requests",
            "Read requests that may wait for their data: the tags.");
  s.integer("pcie.posted_bytes", c.posted_bytes, whole(64, 1 << 20), "bytes",
            "Write data that may wait for the link before the NIC is held up.");
  s.integer("pcie.posted_headers", c.posted_headers, whole(1, 1 << 20), "headers",
            "Credits for writes that the host's receive buffer gives.");
  s.integer("pcie.posted_data", c.posted_data, whole(8, 1 << 20), "16 bytes",
            "Credits for the data of writes; at least one TLP of pcie.mps.");
  s.integer("pcie.nonposted_headers", c.nonposted_headers, whole(1, 1 << 20), "headers",
            "Credits for read requests that the host's receive buffer gives.");
  s.nanoseconds("pcie.credit_latency_ns", c.credit_latency, 1000000,
                "From a TLP that the host has taken to its credits at the NIC.");
  s.integer("pcie.host_write_gbps", c.host_write_gbps, whole(0, 10000), "Gb/s",
            "Rate at which the host takes the data of writes; 0: as fast as the link.");
}

}  // namespace

void declare(Schema& s, models::PcieParams& c) {
  declare_link(s, c);
  declare_latencies(s, c);
  declare_limits(s, c);
}

void declare(Schema& s, models::CardMemoryParams& c) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  s.integer("card.base", c.base, whole(0, max), "", "First address of the card's memory.");
  s.integer("card.bytes", c.bytes, whole(0, max), "bytes", "Size of the card's memory; 0: there is none.");
  s.nanoseconds("card.latency_ns", c.latency, 1000000, "From a request to the first data, or to a write's visibility.");
  s.integer("card.gbps", c.gbps, whole(1, 100000), "Gb/s", "Rate of each of its ports, one for reads, one for writes.");
}

void declare(Schema& s, HostConfig& c) {
  s.nanoseconds("host.post_ns", c.post_ps, 1000000, "CPU time of one ibv_post_send.");
  s.nanoseconds("host.poll_ns", c.poll_ps, 1000000, "Time between two looks of a busy poller.");
  s.nanoseconds("host.post_receive_ns", c.post_receive_ps, 1000000, "CPU time of one ibv_post_recv in a list of them.");
}

void declare(Schema& s, WorkloadConfig& c) {
  s.text_of(
      "workload.operation", c.operation, {"write", "read", "send", "mix"},
      "RDMA WRITE, RDMA READ, SEND, or all at random: sizes up to workload.size, any alignment, immediate data too.");
  s.text_of("workload.test", c.test, {"bw", "lat"}, "Bandwidth (many outstanding) or latency (one at a time).");
  s.boolean("workload.immediate", c.immediate, "Immediate data with every WRITE or SEND of a bandwidth test.");
  s.boolean("workload.bidirectional", c.bidirectional, "Bandwidth test in both directions at once, on the same QPs.");
  s.integer("workload.size", c.size_bytes, whole(0, int64_t(1) << 31), "bytes", "Size of a message.");
  s.integer("workload.first_size", c.first_size_bytes, whole(0, int64_t(1) << 31), "bytes",
            "Size of the first QP's messages in a bandwidth test, 0: as the others. All QPs send as many bytes.");
  s.integer("workload.iterations", c.iterations, whole(1, 1000000000), "messages", "Messages of a QP.");
  s.integer("workload.qps", c.qps, whole(1, hw::kMaxQps), "QPs", "Queue pairs in use; 1 in a latency test.");
  s.integer("workload.tx_depth", c.tx_depth, whole(1, hw::kSendWqes), "messages",
            "Messages that a QP keeps outstanding.");
  s.integer("workload.rx_depth", c.rx_depth, whole(1, hw::kReceiveWqes), "messages",
            "Receives that a QP keeps posted, for SEND and immediate data.");
  s.nanoseconds("workload.think_ns", c.think_ps, 1000000000, "Time from a completion to the next post of its QP.");
}

void declare(Schema& s, Config& c) {
  declare(s, c.sim);
  declare(s, c.nic);
  declare(s, c.timing);
  declare(s, c.link);
  declare(s, c.pcie);
  declare(s, c.card);
  declare(s, c.host);
  declare(s, c.workload);
}

}  // namespace sim
