#pragma once

#include <cstdint>
#include <optional>

#include "traces/memory_regions.hpp"
#include "traces/message_count.hpp"
#include "traces/outstanding_reads.hpp"
#include "traces/overlap_pairing.hpp"
#include "traces/psn_sequence.hpp"

namespace traces {

/// What tells which lane goes the other way.
enum class PairedBy : uint8_t { kNothing, kCm, kQpTable, kOverlap };

/// Where the path MTU comes from, strongest last.
enum class MtuSource : uint8_t { kDefault, kLargestPayload, kPsnStep, kCm, kPacket, kGiven };

/// Why a life of a queue pair begins.
enum class LifeBegin : uint8_t { kFirstSeen, kCm, kPsnJump };

/// A request further away than this from the next PSN is no retransmission and no loss, but another life of the queue
/// pair; a response as far from its requests answers one.
constexpr int32_t kLifeJump = 65536;

/// Whether a PSN jump is another life: the MSN restarts (yes) or goes on (no, the tap has missed a lot).
enum class LifeProof : uint8_t { kOpen, kMsnRestarts, kMsnGoesOn };

enum class RetryCause : uint8_t {
  kNone,
  kSequenceNak,
  kRnrNak,
  kImplied,  ///< a READ response was missing before later ones
  kTimeout,  ///< after a pause, without a NAK
  kUnknown,
};

/// The state of a requester that only the other direction tells.
struct AnswerState {
  bool nak_pending = false;  ///< a PSN sequence error that no retry has followed yet
  bool rnr_pending = false;
  bool rnr_seen = false;
  uint32_t nak_psn = 0;
  uint32_t rnr_psn = 0;
  int64_t timer_start_ns = 0;       ///< what a retransmission timer would count from
  uint32_t unanswered_retries = 0;  ///< since the last progress
  int64_t last_retry_interval_ns = 0;
  std::optional<uint32_t> last_msn;
  uint8_t fatal_syndrome = 0;  ///< 0: none
  uint64_t fatal_index = 0;
  int64_t fatal_ns = 0;
};

/// All packets from one address to one queue pair of another address, in one life of that queue pair: the requests of
/// one end of a connection and its responses to the other end. Two lanes make a connection.
struct Lane {
  uint32_t addresses = 0;  ///< AddressPairs
  uint32_t qpn = 0;        ///< DestQP
  uint32_t life = 0;       ///< counts up with every reuse of the QPN
  LifeBegin begin = LifeBegin::kFirstSeen;
  LifeProof proof = LifeProof::kOpen;
  uint32_t previous = kNoLane;     ///< the life before
  uint32_t absorbed_by = kNoLane;  ///< that life was the same one: its packets belong there
  bool superseded = false;
  bool closed = false;  ///< a DREQ was seen

  uint32_t peer = kNoLane;
  PairedBy paired_by = PairedBy::kNothing;

  uint64_t first_index = 0, last_index = 0;
  uint32_t first_file = 0;
  int64_t first_ns = 0, last_ns = 0;

  // Requests.
  PsnSequence requests;
  bool adopted = false;  ///< a message has begun: from there on the state of the responder is known
  uint32_t adopted_psn = 0;
  uint64_t adopted_index = 0;
  uint64_t request_index = 0;  ///< of the first request
  int64_t last_request_ns = 0;
  uint32_t path_mtu = 1024;  ///< bytes
  MtuSource mtu_source = MtuSource::kDefault;
  uint64_t mtu_index = 0;
  uint32_t open_read_psn = 0;     ///< the newest READ, while its length or the path MTU and so its PSNs are not known
  uint32_t open_read_length = 0;  ///< 0: there is no such READ
  MessageCount messages;
  std::optional<uint32_t> starting_msn;  ///< before adopted_psn
  uint64_t msn_index = 0;                ///< of the ACK that told it; 0 when CM did
  OutstandingReads reads;
  TouchedMemory memory;
  AnswerState answers;

  // What CM agreed on.
  uint8_t retry_count = 0, rnr_retry_count = 0, ack_timeout = 0;

  // Responses.
  uint64_t responses = 0;
  uint32_t last_response_psn = 0;
};

}  // namespace traces
