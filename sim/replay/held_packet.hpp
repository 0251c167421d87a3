// A captured packet as replay holds it back until what follows has told what became of it.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/replay/replay_nic.hpp"
#include "traces/connections.hpp"

namespace sim {

// As seen from the endpoint whose place the NIC takes.
enum class Course : uint8_t {
  kRequestIn,    // the peer's request
  kResponseIn,   // the peer's answer to a request of ours
  kRequestOut,   // the endpoint's own request
  kResponseOut,  // the endpoint's own answer
  kFrameIn,      // anything else that the endpoint got
  kOther,        // of no connection of the endpoint, or a mirror copy
};

// The message that a request begins, once its last packet has been seen.
struct HeldMessage {
  bool complete = false, has_immediate = false, solicited = false;
  uint32_t length = 0;  // bytes
  uint32_t immediate = 0;
  uint32_t last_psn = 0;
};

// Bytes of a READ response.
struct ReadBytes {
  uint32_t verified = 0;   // the capture wrote them before, as they were read
  uint32_t seeded = 0;     // it did not, or something unseen may have come in between: taken as they are
  uint32_t different = 0;  // it wrote them otherwise
};

constexpr uint64_t kNoPacket = ~uint64_t(0);

struct HeldPacket {
  uint64_t index = 0;  // in its file
  int64_t time_ns = 0;
  uint32_t lane = traces::kNoLane;
  Course course = Course::kOther;
  TransportPacket transport;  // without payload: see payload()
  uint16_t partition_key = 0;
  uint32_t psns = 1;                                     // that a request uses up; known once it is replayed
  traces::RetryCause retry = traces::RetryCause::kNone;  // of a request that begins a retry
  bool first_sight = false;                              // a request that is new to the tap
  bool out_of_order = false;                             // it came behind a later one, and was not sent again
  bool after_gap = false;                                // PSNs before it are not captured
  bool posted = false;                                   // the work request that it begins has been given to the NIC
  bool atomic = false;                                   // `transport` is the READ of no bytes that stands for it
  bool native = false;                                   // `frame` is what the NIC can take as it stands
  bool repaired = false;                                 // zeros stand for what the snap length cut off
  bool cut = false;                                      // a header is cut: its opcode and PSN alone are known
  bool undelivered = false;                              // a NAK shows that it was lost behind the tap
  bool not_ready = false;                                // answered by an RNR NAK
  uint8_t refused_with = 0;                              // syndrome of the NAK that ended the connection here; 0: none
  ReadBytes read;                                        // of a READ response
  HeldMessage message;                                   // of a request that begins one
  uint64_t next_in_lane = kNoPacket, previous_in_lane = kNoPacket;
  std::vector<uint8_t> frame;   // from the MACs on, without tunnels; empty where no data is wanted
  uint32_t payload_offset = 0;  // in `frame`

  traces::ByteSpan payload() const {
    return frame.empty() ? traces::ByteSpan() : traces::ByteSpan(frame).slice(payload_offset, transport.payload_bytes);
  }
};

}  // namespace sim
