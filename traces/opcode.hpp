#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace traces {

/// Upper three bits of the BTH opcode (IBTA 9.2, table of opcodes).
enum class Transport : uint8_t { kRc = 0, kUc = 1, kRd = 2, kUd = 3, kXrc = 5 };

/// What the lower five bits of the opcode do.
enum class Verb : uint8_t {
  kReserved,
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAck,
  kAtomicAck,
  kAtomic,
  kFlush,
  kAtomicWrite
};

/// Where the packet stands in its message.
enum class Position : uint8_t { kOnly, kFirst, kMiddle, kLast };

/// One extended header behind the BTH, in wire order.
enum class Header : uint8_t { kNone, kReth, kAeth, kAtomicAckEth, kAtomicEth, kImmDt, kIeth, kFlush, kAtomicWrite };

/// One row of the opcode table.
struct Operation {
  const char* name;  ///< nullptr where reserved
  Verb verb;
  Position position;
  Header headers[2];
};

constexpr uint8_t kOpcodeRcAck = 0x11;
constexpr uint8_t kOpcodeCnp = 0x81;  ///< congestion notification (RoCEv2 annex A17.9.3)

constexpr Transport transport_of(uint8_t opcode) {
  return static_cast<Transport>(opcode >> 5);
}
const Operation& operation_of(uint8_t opcode);

/// "RC_WRITE_First", "UD_SEND_Only", "CNP"; reserved ones as "RC_OP1f", unknown transports as "T7_ACK".
std::string opcode_name(uint8_t opcode);

/// Bytes of one extended header.
size_t size_of(Header header);

/// Bytes of the transport's own header (RDETH and DETH, DETH, XRCETH) between the BTH and the operation's headers.
size_t transport_header_size(uint8_t opcode);

/// Bytes of all headers between the BTH and the payload. A CNP counts its 16 reserved bytes.
size_t extended_headers_size(uint8_t opcode);

/// Sent by the responder: READ responses, ACK, atomic ACK.
bool is_response(uint8_t opcode);

/// A request that RC WRITE service serves: WRITE with or without immediate.
inline bool is_rc_write(uint8_t opcode) {
  return transport_of(opcode) == Transport::kRc && operation_of(opcode).verb == Verb::kWrite;
}

/// Last packet of a message, Only included.
inline bool ends_message(uint8_t opcode) {
  const Position position = operation_of(opcode).position;
  return position == Position::kOnly || position == Position::kLast;
}

/// First packet of a message, Only included.
inline bool starts_message(uint8_t opcode) {
  const Position position = operation_of(opcode).position;
  return position == Position::kOnly || position == Position::kFirst;
}

}  // namespace traces
