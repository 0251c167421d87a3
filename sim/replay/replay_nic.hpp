// The NIC under replay, with its clock or without: what replay asks of it, and what it tells.
#pragma once
#include <cstdint>
#include <functional>

#include "traces/bytes.hpp"
#include "traces/roce.hpp"

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
// The fields of a decoded packet, without payload.
TransportPacket transport_of(const traces::RocePacket& roce);

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

// Both ends of a queue pair on the wire.
struct Binding {
  uint32_t qpn = 0, peer_qpn = 0;
  traces::IpAddress address, peer_address;
  traces::MacAddress mac{}, peer_mac{};
  uint16_t source_port = 0;  // UDP
  uint16_t partition_key = 0;
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

  // Whether packets have data here; without, none is kept or compared.
  virtual bool carries_data() const { return false; }

  // What only a NIC with a clock, a line and memory makes use of. What follows set_time() happens at that time of the
  // capture. bind() comes before anything else of a connection; stage_payload() gives bytes of its next work request.
  virtual void set_time(int64_t) {}
  virtual void bind(uint32_t, const Binding&) {}
  virtual void stage_payload(uint32_t, uint64_t /*offset_bytes*/, traces::ByteSpan) {}
  virtual void seed_memory(uint64_t /*address*/, traces::ByteSpan) {}
  virtual void receive_frame(traces::ByteSpan) {}  // of no connection, as it came

  // Begins a new life of one half of a queue pair: all that it held is forgotten.
  virtual void set_responder(uint32_t connection, const ResponderState& state) = 0;
  virtual void set_requester(uint32_t connection, const RequesterState& state) = 0;
  // A region of the same key is replaced.
  virtual void set_region(const OpenRegion& region) = 0;

  virtual void post_receive(uint32_t connection, uint32_t length_bytes) = 0;
  virtual void post_send(uint32_t connection, const WorkRequest& work) = 0;
  // A packet from the peer of `connection`; `frame` as it came, empty when it is to be made of the fields.
  virtual void receive(uint32_t connection, const TransportPacket& packet, traces::ByteSpan frame) = 0;
  // All that the NIC has to do without further packets is done; time-outs do not run out.
  virtual void settle() = 0;
};

}  // namespace sim
