#include "models/pcie.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace models {

namespace {

// Bytes a lane may carry between two ACKs, and between two flow-control updates, by lanes 1 .. 16 and MPS 128 .. 4096;
// the guidelines of generations 3 to 5 are the same.
constexpr unsigned kGuideline[5][6] = {
    {333, 512, 655, 1167, 2191, 4239}, {224, 313, 385, 641, 1153, 2177}, {169, 214, 250, 378, 634, 1146},
    {163, 203, 182, 246, 374, 630},    {144, 168, 182, 246, 374, 630},
};
constexpr double kDllpBytes = 8;           // an ACK or flow-control packet with its framing
constexpr double kSkipShare = 4.0 / 1538;  // SKIP ordered sets
constexpr double kLineCode = 128.0 / 130;  // generations 3 to 5

bool power_of_two(unsigned x, unsigned lowest, unsigned highest) {
  return x >= lowest && x <= highest && (x & (x - 1)) == 0;
}
unsigned log2_of(unsigned x) {
  return unsigned(__builtin_ctz(x));
}

void require(bool good, const char* name, uint64_t value, const std::string& allowed) {
  if (!good)
    throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) + ": allowed are " + allowed);
}
void require_least(const char* name, uint64_t value, uint64_t least) {
  require(value >= least, name, value, std::to_string(least) + " and more");
}

}  // namespace

void check(const PcieParams& p) {
  require(p.generation >= 3 && p.generation <= 5, "pcie.generation", p.generation, "3, 4, 5");
  require(power_of_two(p.lanes, 1, 16), "pcie.lanes", p.lanes, "1, 2, 4, 8, 16");
  require(power_of_two(p.max_payload, 128, 4096), "pcie.max_payload", p.max_payload, "powers of two, 128 .. 4096");
  require(power_of_two(p.max_read_request, 128, 4096), "pcie.max_read_request", p.max_read_request,
          "powers of two, 128 .. 4096");
  require(power_of_two(p.read_completion_boundary, 64, 128), "pcie.read_completion_boundary",
          p.read_completion_boundary, "64, 128");
  require_least("pcie.read_latency_ns", p.read_latency / 1000, p.write_latency / 1000);
  require(p.memory.llc_percent <= 100, "pcie.llc_percent", p.memory.llc_percent, "0 .. 100");
  // A transfer that is moved as a whole holds the tags of all its requests.
  require_least("pcie.outstanding_reads", p.outstanding_reads,
                p.device_gbps == 0 ? 1 : pieces(kMaxTransferBytes, p.max_read_request));
  require_least("pcie.posted_headers", p.posted_headers, 1);
  require_least("pcie.posted_data", p.posted_data, p.max_payload / kCreditBytes);
  require_least("pcie.nonposted_headers", p.nonposted_headers, 1);
  require(p.cqe_bytes >= 1 && p.cqe_bytes <= 128, "pcie.cqe_bytes", p.cqe_bytes, "1 .. 128");
}

double raw_gbps(const PcieParams& p) {
  return double(1u << p.generation) * kLineCode * p.lanes;
}

double tlp_gbps(const PcieParams& p) {
  const double guideline = kGuideline[log2_of(p.lanes)][log2_of(p.max_payload) - 7];
  return raw_gbps(p) * (1 - 2 * kDllpBytes / guideline - kSkipShare);
}

uint64_t write_link_bytes(const PcieParams& p, uint64_t bytes) {
  return pieces(bytes, p.max_payload) * kWriteHeaderBytes + bytes;
}
uint64_t read_request_link_bytes(const PcieParams& p, uint64_t bytes) {
  return pieces(bytes, p.max_read_request) * kReadHeaderBytes;
}
uint64_t read_data_link_bytes(const PcieParams& p, uint64_t bytes) {
  return pieces(bytes, completion_bytes(p)) * kCompletionHeaderBytes + bytes;
}

double write_gbps(const PcieParams& p, uint64_t bytes) {
  return tlp_gbps(p) * double(bytes) / double(write_link_bytes(p, bytes));
}
double read_gbps(const PcieParams& p, uint64_t bytes) {
  return tlp_gbps(p) * double(bytes) / double(read_data_link_bytes(p, bytes));
}

ByteTime::ByteTime(double gbps) : attoseconds_per_byte_(gbps == 0 ? 0 : uint64_t(std::llround(8e9 / gbps))) {}
ByteTime::ByteTime(const PcieParams& p) : ByteTime(p.unlimited ? 0 : tlp_gbps(p)) {}

}  // namespace models
