#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/bytes.hpp"
#include "traces/ip_address.hpp"
#include "traces/roce.hpp"

namespace traces {

/// Attribute of a communication management MAD (IBTA 12.6).
enum class CmKind : uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16
};

/// What REQ, REP and DREQ say of a connection. Fields that a kind does not have stay zero.
struct CmMessage {
  CmKind kind = CmKind::kReq;
  uint32_t local_id = 0;  ///< communication IDs of the sender and of the receiver
  uint32_t remote_id = 0;
  uint32_t qpn = 0;           ///< of the sender; of the receiver in a DREQ
  uint32_t starting_psn = 0;  ///< of what the receiver of the message will request
  uint32_t path_mtu = 0;      ///< bytes; 0 when it is none of IBTA's five
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
  uint8_t ack_timeout = 0;  ///< T of 4.096 us x 2^T
};

/// The CM message of a packet to QP 1; nothing for any other MAD, or when it is cut.
std::optional<CmMessage> decode_cm(const RocePacket& roce, ByteSpan frame);

/// Both ends of a connection that a REQ and its REP agreed on.
struct CmConnection {
  IpAddress active, passive;  ///< senders of REQ and REP
  CmMessage request, reply;
};

/// Puts REQs and REPs together. Bounded: an old REQ without its REP is forgotten.
class CmExchanges {
 public:
  /// A CM message, in capture order. Gives the connection with the REP that completes it; a repeated REP gives nothing.
  std::optional<CmConnection> add(const CmMessage& message, const IpAddress& source, const IpAddress& destination);

 private:
  static constexpr size_t kWaiting = 4096;

  struct Request {
    IpAddress source, destination;
    CmMessage message;
    bool answered = false;
  };
  std::vector<Request> requests_;  ///< a ring once it is full
  size_t oldest_ = 0;
};

}  // namespace traces
