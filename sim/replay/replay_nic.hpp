// The NIC under replay, with its clock or without: what replay asks of it, and what it tells.
#pragma once
#include <cstdint>
#include <functional>

#include "traces/bytes.hpp"

namespace sim {

// A RoCEv2 packet of a reliable connection, by its fields; those that the opcode does not have are zero.
struct TransportPacket {
  uint8_t opcode = 0;
  bool ack_request = false, solicited = false;
  uint32_t psn = 0;
  uint64_t virtual_address = 0;             // RETH
  uint32_t remote_key = 0, dma_length = 0;  // RETH
  uint32_t immediate = 0;                   // ImmDt, as a number in host byte order
  uint8_t syndrome = 0;                     // AETH
  uint32_t msn = 0;                         // AETH
  uint32_t payload_bytes = 0;               // without pad
  traces::ByteSpan payload;                 // empty where only its length is known
};

// What one queue pair of the NIC begins with, or goes on with after a part of the capture that is not known.
struct ResponderState {
  uint32_t expected_psn = 0, msn = 0;
  uint32_t path_mtu = 1024;  // bytes
};
struct RequesterState {
  uint32_t first_psn = 0;    // of the first packet to send
  uint32_t path_mtu = 1024;  // bytes
};

enum class WorkKind : uint8_t { kWrite, kSend, kRead };
struct WorkRequest {
  WorkKind kind = WorkKind::kWrite;
  bool has_immediate = false, solicited = false;
  uint32_t length = 0;  // bytes
  uint64_t remote_address = 0;
  uint32_t remote_key = 0;
  uint32_t immediate = 0;
};

// Memory that the NIC lets its peers use: [first, end), at the same address in the host.
struct OpenRegion {
  uint32_t remote_key = 0;
  uint64_t first = 0, end = 0;
  bool read = false, write = false;
};

// `connection` is the NIC's number of the queue pair, below hw::kMaxQps. A call takes effect before any later one; what
// the NIC sends because of it comes through the observer during the call or during a later one.
class ReplayNic {
 public:
  using Observer = std::function<void(uint32_t connection, const TransportPacket& packet)>;

  virtual ~ReplayNic() = default;

  // Before anything else.
  virtual void observe_sent(Observer observer) = 0;

  // Begins a new life of one half of a queue pair: all that it held is forgotten.
  virtual void set_responder(uint32_t connection, const ResponderState& state) = 0;
  virtual void set_requester(uint32_t connection, const RequesterState& state) = 0;
  // A region of the same key is replaced.
  virtual void set_region(const OpenRegion& region) = 0;

  virtual void post_receive(uint32_t connection, uint32_t length_bytes) = 0;
  virtual void post_send(uint32_t connection, const WorkRequest& work) = 0;
  // A packet from the peer of `connection`.
  virtual void receive(uint32_t connection, const TransportPacket& packet) = 0;
  // All that the NIC has to do without further packets is done; time-outs do not run out.
  virtual void settle() = 0;
};

}  // namespace sim
