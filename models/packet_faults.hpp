// Faults by what a packet is, whatever its place among the frames of the link: connection, kind, PSN, and which of its
// transmissions. For that, the packets of both links are followed as the two ends see them.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace models {

// What a packet is in its direction. A response has the PSN of what it answers, so PSNs are no name without the kind.
enum class PacketKind : uint8_t { request, response, ack };  // response: of a READ; ack: ACK or NAK

// What the receiver does with a transmission of a request or a READ response: it is the next one in order; it lies
// behind a gap, and will be sent again in any case; it has been there before.
enum class Turn : uint8_t { any, due, ahead, again };

struct PacketFault {
  uint32_t connection = 0;
  PacketKind kind = PacketKind::request;
  uint32_t psn = 0;
  Turn turn = Turn::any;
  uint64_t copy = 1;  // which of the transmissions with this turn, from 1
};

struct ConnectionOnWire {
  uint32_t pmtu_bytes = 0;
};

// The RoCE v2 headers of an untagged IPv4 frame, as far as faults need them.
struct PacketIdentity {
  PacketKind kind;
  uint32_t dest_qp, psn;
  bool reads;                 // a READ request
  uint32_t dma_length_bytes;  // of a READ request
};
std::optional<PacketIdentity> identify(const std::vector<uint8_t>& frame);

class PacketFaults {
 public:
  // Directions are 0 and 1; QP number `first_qpn[direction] + i` is where the packets of connection i go.
  PacketFaults(std::vector<ConnectionOnWire> connections, std::vector<uint32_t> first_qpn);

  void drop(unsigned direction, const PacketFault& fault);
  // True for a frame that is lost. To be called for each that enters the link of `direction`; `dropped`: another plan
  // has lost it already.
  bool loses(unsigned direction, const std::vector<uint8_t>& frame, bool dropped);

  uint64_t planned() const { return planned_; }
  uint64_t happened() const { return happened_; }

 private:
  using Key = std::tuple<unsigned, uint32_t, PacketKind, uint32_t, Turn>;
  struct Plan {
    uint64_t seen = 0;
    std::set<uint64_t> copies;
  };
  struct Read {
    uint32_t next, left;  // PSN of the response that is due; responses to come
  };
  // Requests in one direction, and the responses to them in the other.
  struct Conversation {
    std::optional<uint32_t> next;  // PSN that the responder waits for
    std::deque<Read> reads;
  };

  Turn turn_of(const Conversation& c, const PacketIdentity& packet) const;
  void deliver(Conversation& c, const PacketIdentity& packet, uint32_t pmtu_bytes);
  bool hits(const Key& key);

  std::vector<ConnectionOnWire> connections_;
  std::vector<uint32_t> first_qpn_;
  std::vector<Conversation> conversations_;  // connection * 2 + direction of the requests
  std::map<Key, Plan> plans_;
  uint64_t planned_ = 0, happened_ = 0;
};

}  // namespace models
