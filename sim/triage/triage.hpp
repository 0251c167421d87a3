// Triage of a capture: what each connection did and what went wrong with it, without a simulation.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/triage/tally.hpp"
#include "traces/census.hpp"

namespace sim {

struct TriageRun {
  std::vector<std::string> files;                                    // "-" is standard input
  uint32_t path_mtu = 0;                                             // bytes; 0: inferred
  std::string mr_table;                                              // CSV file; empty: none
  std::vector<std::pair<traces::IpAddress, std::string>> qp_tables;  // host and the output of `rdma res show qp -j`
  std::optional<uint32_t> qpn;                                       // only connections with it at either end
  std::optional<double> from_s, to_s;                                // seconds after the first packet
};

// How a requester ends.
enum class Ending : uint8_t {
  kAlive,
  kClosed,    // a DREQ was seen
  kRetrying,  // retries without an answer when the capture ends
  kSilent,    // retries without an answer, then nothing more: its queue pair is dead
  kFatalNak,  // both queue pairs are dead
  kReused,    // another life of the queue pair follows
};

// One direction of a connection: the requests of one end, and the answers to them.
struct TriageRow {
  uint32_t requests = traces::kNoLane;   // lane with its requests; none when only responses were captured
  uint32_t responses = traces::kNoLane;  // lane with the answers; none when not known
  traces::IpAddress requester, responder;
  std::optional<uint32_t> requester_qpn, responder_qpn;
  uint32_t life = 0;
  int64_t first_ns = 0, last_ns = 0;
  LaneTally tally;  // both lanes together
  traces::Losses request_losses, response_losses;
  uint64_t untimed = 0;  // READs and atomics whose last response the tap has not seen
  uint8_t fatal_syndrome = 0;
  uint32_t unanswered_retries = 0;
  Ending ending = Ending::kAlive;
  Anomaly first_anomaly;
  std::string ambiguous;  // why `responses` is not known though some were captured
  std::vector<std::string> assumptions;

  uint64_t retries() const;
  uint64_t naks() const;
  // Larger is worse: dead before alive, then by what went wrong.
  uint64_t severity() const;
};

struct TriageResult {
  std::vector<std::string> files;
  std::vector<std::string> notes;  // of the reader: clocks of several files
  traces::Census census;
  traces::TrackerCounts counts;
  int64_t first_ns = 0, last_ns = 0;
  uint64_t outside_window = 0;  // packets before --from or after --to
  std::vector<TriageRow> rows;  // in order of first packet
  std::string input_error;      // a damaged file, of which what came before was counted

  std::vector<const TriageRow*> worst(size_t count) const;
  std::vector<const TriageRow*> broke_first(size_t count) const;
};

// Throws traces::InputError for files that cannot be read, and for a capture without a reliable connection.
TriageResult triage(const TriageRun& run);

// A table for people: the `top` worst connections, and the first to break.
std::string triage_text(const TriageResult& result, size_t top);

nlohmann::ordered_json triage_json(const TriageResult& result, size_t top);

const char* name_of(Ending ending);
const char* name_of(AnomalyKind kind);
const char* name_of(NakKind kind);
const char* name_of(OperationKind kind);
const char* name_of(traces::RetryCause cause);

}  // namespace sim
