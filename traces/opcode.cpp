#include "traces/opcode.hpp"

#include "traces/text.hpp"

namespace traces {
namespace {

using H = Header;
using P = Position;
using V = Verb;

constexpr Operation kReserved = {nullptr, V::kReserved, P::kOnly, {H::kNone, H::kNone}};

// IBTA 9.2 opcodes of the reliable connection; the other transports share the rows they define.
constexpr Operation kOperations[32] = {
    {"SEND_First", V::kSend, P::kFirst, {H::kNone, H::kNone}},
    {"SEND_Middle", V::kSend, P::kMiddle, {H::kNone, H::kNone}},
    {"SEND_Last", V::kSend, P::kLast, {H::kNone, H::kNone}},
    {"SEND_Last_Imm", V::kSend, P::kLast, {H::kImmDt, H::kNone}},
    {"SEND_Only", V::kSend, P::kOnly, {H::kNone, H::kNone}},
    {"SEND_Only_Imm", V::kSend, P::kOnly, {H::kImmDt, H::kNone}},
    {"WRITE_First", V::kWrite, P::kFirst, {H::kReth, H::kNone}},
    {"WRITE_Middle", V::kWrite, P::kMiddle, {H::kNone, H::kNone}},
    {"WRITE_Last", V::kWrite, P::kLast, {H::kNone, H::kNone}},
    {"WRITE_Last_Imm", V::kWrite, P::kLast, {H::kImmDt, H::kNone}},
    {"WRITE_Only", V::kWrite, P::kOnly, {H::kReth, H::kNone}},
    {"WRITE_Only_Imm", V::kWrite, P::kOnly, {H::kReth, H::kImmDt}},
    {"READ_Request", V::kReadRequest, P::kOnly, {H::kReth, H::kNone}},
    {"READ_Resp_First", V::kReadResponse, P::kFirst, {H::kAeth, H::kNone}},
    {"READ_Resp_Middle", V::kReadResponse, P::kMiddle, {H::kNone, H::kNone}},
    {"READ_Resp_Last", V::kReadResponse, P::kLast, {H::kAeth, H::kNone}},
    {"READ_Resp_Only", V::kReadResponse, P::kOnly, {H::kAeth, H::kNone}},
    {"ACK", V::kAck, P::kOnly, {H::kAeth, H::kNone}},
    {"ATOMIC_ACK", V::kAtomicAck, P::kOnly, {H::kAeth, H::kAtomicAckEth}},
    {"CMP_SWAP", V::kAtomic, P::kOnly, {H::kAtomicEth, H::kNone}},
    {"FETCH_ADD", V::kAtomic, P::kOnly, {H::kAtomicEth, H::kNone}},
    kReserved,
    {"SEND_Last_Inv", V::kSend, P::kLast, {H::kIeth, H::kNone}},
    {"SEND_Only_Inv", V::kSend, P::kOnly, {H::kIeth, H::kNone}},
    kReserved,
    kReserved,
    kReserved,
    kReserved,
    {"FLUSH", V::kFlush, P::kOnly, {H::kFlush, H::kNone}},
    {"ATOMIC_WRITE", V::kAtomicWrite, P::kOnly, {H::kAtomicWrite, H::kNone}},
    kReserved,
    kReserved,
};

constexpr const char* kTransportNames[8] = {"RC", "UC", "RD", "UD", "T4", "XRC", "T6", "T7"};

// By Header: RETH, AETH, AtomicAckETH, AtomicETH, ImmDt, IETH, FETH with RETH, RETH of an atomic write.
constexpr uint8_t kHeaderSizes[] = {0, 16, 4, 8, 28, 4, 4, 20, 16};

constexpr size_t kDethSize = 8;
constexpr size_t kRdethSize = 4;
constexpr size_t kXrcethSize = 4;
constexpr size_t kCnpReservedSize = 16;

}  // namespace

const Operation& operation_of(uint8_t opcode) {
  return kOperations[opcode & 31];
}

std::string opcode_name(uint8_t opcode) {
  if (opcode == kOpcodeCnp) return "CNP";
  const std::string transport = kTransportNames[opcode >> 5];
  if (const char* name = operation_of(opcode).name) return transport + "_" + name;
  return transport + format("_OP%02x", opcode & 31);
}

size_t size_of(Header header) {
  return kHeaderSizes[static_cast<size_t>(header)];
}

size_t transport_header_size(uint8_t opcode) {
  switch (transport_of(opcode)) {
    case Transport::kRd:
      return kRdethSize + (is_response(opcode) ? 0 : kDethSize);
    case Transport::kUd:
      return kDethSize;
    case Transport::kXrc:
      return is_response(opcode) ? 0 : kXrcethSize;
    default:
      return 0;
  }
}

size_t extended_headers_size(uint8_t opcode) {
  if (opcode == kOpcodeCnp) return kCnpReservedSize;
  const Operation& operation = operation_of(opcode);
  return transport_header_size(opcode) + size_of(operation.headers[0]) + size_of(operation.headers[1]);
}

bool is_response(uint8_t opcode) {
  const Verb verb = operation_of(opcode).verb;
  return verb == Verb::kReadResponse || verb == Verb::kAck || verb == Verb::kAtomicAck;
}

}  // namespace traces
