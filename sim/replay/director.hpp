// Plays a capture to a NIC that takes the place of an endpoint: gives it what the endpoint got and posts what it
// posted, and lets the verdicts compare what the endpoint sent with what the NIC sends.
#pragma once
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/replay/look_ahead.hpp"
#include "sim/replay/nic_tables.hpp"
#include "sim/replay/read_data.hpp"
#include "sim/replay/replay_nic.hpp"
#include "sim/replay/verdict/answers.hpp"
#include "sim/replay/verdict/requests.hpp"
#include "traces/mr_table.hpp"

namespace sim {

struct DirectorOptions {
  VerdictOptions verdict;
  const traces::MrTable* mr_table = nullptr;  // null: memory is what the requests touch
  uint16_t partition_key = 0xffff;            // of the NIC
};

// What was done with the packets of one connection.
struct ReplayTally {
  uint64_t requests_in = 0, answers_in = 0;    // given to the NIC
  uint64_t requests_out = 0, answers_out = 0;  // captured ones of the endpoint
  uint64_t translated = 0;                     // made anew for the NIC
  uint64_t repaired = 0;                       // of these given, cut by the snap length
  uint64_t not_given = 0;                      // before the first begin of a message, or behind a gap of the tap
  uint64_t posted = 0;                         // work requests
  uint64_t restarts = 0;                       // behind gaps of the tap
};

// Payloads that one of both sides has sent and the other has not yet, by PSN.
class PayloadPairs {
 public:
  // False when the other side sent another payload with that PSN.
  bool agree(uint32_t psn, bool captured, traces::ByteSpan payload);

 private:
  static constexpr size_t kWaiting = 1 << 16;
  struct Waiting {
    bool captured;
    uint64_t hash;
  };
  std::unordered_map<uint32_t, Waiting> waiting_;
};

// A connection under replay, by the lane that leads to the endpoint.
struct ReplayConnection {
  explicit ReplayConnection(const VerdictOptions& options) : answers(options, verdicts), requests(options, verdicts) {}
  ReplayConnection(const ReplayConnection&) = delete;
  ReplayConnection& operator=(const ReplayConnection&) = delete;

  uint32_t lane = traces::kNoLane;
  uint32_t number = 0;      // of the queue pair in the NIC
  uint32_t ask_number = 0;  // of the one that asks: another one behind a gap of the tap
  uint32_t host = 0;        // number of the endpoint's address
  Binding binding;
  ReplayTally tally;
  Verdicts verdicts;
  AnswerVerdict answers;
  RequestVerdict requests;

  bool responds = false;  // the NIC's responder stands where the capture's does
  bool has_responded = false;
  uint32_t expected_psn = 0;              // of the responder
  uint32_t unknown_from = 0;              // first PSN that it was not given, while it stands elsewhere
  std::optional<uint32_t> known_missing;  // expected_psn, when the capture shows that it was lost or refused
  bool asks = false;                      // the same of the requester
  bool has_asked = false;
  uint32_t asked_from = 0;                 // PSN of the first message posted since the requester was set
  uint32_t next_psn = 0;                   // of the next message to post
  PayloadPairs answer_data, request_data;  // of READ responses and of requests
};

class Director {
 public:
  Director(LookAhead& capture, ReplayNic& nic, const DirectorOptions& options);

  // Replays the next packet; false behind the last one.
  bool step();
  // After the last packet, and when the NIC has come to rest.
  void finish();

  const std::vector<std::unique_ptr<ReplayConnection>>& connections() const { return connections_; }
  uint64_t unpaired_requests() const { return unpaired_requests_; }
  uint64_t unpaired_answers() const { return unpaired_answers_; }

 private:
  void observe(HeldPacket& held, const traces::RocePacket& roce);
  void prefetch_next() const;
  ReplayConnection& connection_of(uint32_t lane);
  ReplayConnection* own_connection(const HeldPacket& held);
  uint32_t host_of(const traces::IpAddress& address);
  void note_binding(const HeldPacket& held, const traces::RocePacket& roce);
  Binding binding_of(uint32_t lane, uint32_t row) const;

  void request_in(const HeldPacket& held);
  enum class Place : uint8_t {
    kUnknown,    // what it rests on is not captured
    kExpected,   // the next one for the responder
    kElsewhere,  // known to it, ahead of one that was lost, or refused
  };
  Place follow(ReplayConnection& c, const HeldPacket& held);
  void lose_track(ReplayConnection& c, const HeldPacket& held);
  bool begin_responder(ReplayConnection& c, const HeldPacket& held);
  void prepare(ReplayConnection& c, const HeldPacket& held, Place place);
  void open_memory(ReplayConnection& c, const HeldPacket& held);
  void give(ReplayConnection& c, const HeldPacket& held, uint32_t number);
  void answer_in(const HeldPacket& held);
  void request_out(HeldPacket& held);
  bool begin_requester(ReplayConnection& c, const HeldPacket& held);
  void post(ReplayConnection& c, HeldPacket& held);
  void number(ReplayConnection& c, uint32_t row);
  void answer_out(const HeldPacket& held);
  void nic_sent(uint32_t connection, const TransportPacket& packet);

  LookAhead& capture_;
  ReplayNic& nic_;
  DirectorOptions options_;
  RowClaims qp_rows_{hw::kMaxQps};
  MemoryKeys keys_;
  ReadData read_data_;
  std::map<traces::IpAddress, uint32_t> hosts_;
  std::vector<std::unique_ptr<ReplayConnection>> connections_;
  std::vector<ReplayConnection*> by_lane_, by_number_;
  std::vector<std::optional<Binding>> bindings_;  // by lane, as their first packet shows them
  uint64_t unpaired_requests_ = 0, unpaired_answers_ = 0;
};

}  // namespace sim
