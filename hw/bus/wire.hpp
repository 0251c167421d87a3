// Where the header fields of a RoCE v2 packet lie (IBTA annex A17; facts of each field beside it), and the opcodes.
// Offsets count from the first byte of the Ethernet frame, untagged, IPv4 without options: the form in which the
// receive pipeline sees every packet after rx/ethernet.
#pragma once
#include "bits.hpp"

namespace hw {
namespace wire {

// A big-endian field: BITS bits at byte BYTE.
template <int BYTE, int BITS>
struct Field {
  enum { kLow = BYTE * 8, kBits = BITS };
};

template <class F, int N>
inline Bits<F::kBits> load(const Bits<N>& header) {
  return byte_swap(header.template get<F::kLow, F::kBits>());
}
template <class F, int N>
inline void store(Bits<N>& header, const Bits<F::kBits>& value) {
  header.template set<F::kLow>(byte_swap(value));
}

// Sizes in bytes.
enum : int {
  kEthernetBytes = 14,
  kIpBytes = 20,
  kUdpBytes = 8,
  kBthBytes = 12,
  kRethBytes = 16,
  kAethBytes = 4,
  kImmDtBytes = 4,
  kIcrcBytes = 4,
  kIcmpBytes = 8,  // of an echo: identifier and sequence number included
  kArpBytes = 28,
  kIpOffset = kEthernetBytes,
  kUdpOffset = kIpOffset + kIpBytes,
  kBthOffset = kUdpOffset + kUdpBytes,
  kExtOffset = kBthOffset + kBthBytes,  // 54: where extended headers begin, and payload when there are none
  kMaxExtBytes = kRethBytes + kImmDtBytes,
  kMaxHeaderBytes = kExtOffset + kMaxExtBytes,                        // 74
  kMinDatagramBytes = kIpBytes + kUdpBytes + kBthBytes + kIcrcBytes,  // 44: IP total length of a bare BTH
  kMaxPayloadBytes = 4096,                                            // the largest PMTU
};

namespace eth {
typedef Field<0, 48> Destination;
typedef Field<6, 48> Source;
typedef Field<12, 16> Type;
constexpr uint64_t kIpv4 = 0x0800;
constexpr uint64_t kArp = 0x0806;
constexpr uint64_t kBroadcast = 0xffffffffffff;
}  // namespace eth

namespace arp {                              // RFC 826, for Ethernet and IPv4
typedef Field<kEthernetBytes + 0, 64> Form;  // spaces and lengths of the addresses, and the operation
typedef Field<kEthernetBytes + 8, 48> SenderMac;
typedef Field<kEthernetBytes + 14, 32> SenderIp;
typedef Field<kEthernetBytes + 18, 48> TargetMac;
typedef Field<kEthernetBytes + 24, 32> TargetIp;
constexpr uint64_t kRequest = 0x0001080006040001;
constexpr uint64_t kReply = 0x0001080006040002;
}  // namespace arp

namespace ip {  // RFC 791
typedef Field<kIpOffset + 0, 8> VersionIhl;
typedef Field<kIpOffset + 1, 8> Tos;  // DSCP and ECN; masked in the ICRC
typedef Field<kIpOffset + 2, 16> TotalLength;
typedef Field<kIpOffset + 4, 16> Identification;
typedef Field<kIpOffset + 6, 16> FlagsFragment;  // bit 14 DF, bit 13 MF, 12:0 fragment offset
typedef Field<kIpOffset + 8, 8> Ttl;             // masked in the ICRC
typedef Field<kIpOffset + 9, 8> Protocol;
typedef Field<kIpOffset + 10, 16> Checksum;  // masked in the ICRC
typedef Field<kIpOffset + 12, 32> Source;
typedef Field<kIpOffset + 16, 32> Destination;
constexpr uint64_t kVersion4Ihl5 = 0x45;
constexpr uint64_t kIcmp = 1;
constexpr uint64_t kUdp = 17;
}  // namespace ip

namespace icmp {  // RFC 792
typedef Field<kIpOffset + kIpBytes + 0, 16> TypeCode;
typedef Field<kIpOffset + kIpBytes + 2, 16> Checksum;  // of all of the message
constexpr uint64_t kEchoRequest = 0x0800;
constexpr uint64_t kEchoReply = 0x0000;
}  // namespace icmp

namespace udp {  // RFC 768
typedef Field<kUdpOffset + 0, 16> SourcePort;
typedef Field<kUdpOffset + 2, 16> DestinationPort;
typedef Field<kUdpOffset + 4, 16> Length;
typedef Field<kUdpOffset + 6, 16> Checksum;  // zero for RoCE v2; masked in the ICRC
constexpr uint64_t kRocePort = 4791;
}  // namespace udp

namespace bth {  // IBTA 9.2
typedef Field<kBthOffset + 0, 8> Opcode;
typedef Field<kBthOffset + 1, 8> Flags;  // bit 7 solicited event, 6 MigReq, 5:4 PadCnt, 3:0 transport version
typedef Field<kBthOffset + 2, 16> PKey;
typedef Field<kBthOffset + 4, 8> Reserved8a;  // FECN, BECN, six reserved; masked in the ICRC
typedef Field<kBthOffset + 5, 24> DestQp;
typedef Field<kBthOffset + 8, 8> AckReq;  // bit 7
typedef Field<kBthOffset + 9, 24> PacketSequence;
}  // namespace bth

namespace reth {  // IBTA 9.3.3
typedef Field<kExtOffset + 0, 64> VirtualAddress;
typedef Field<kExtOffset + 8, 32> RKey;
typedef Field<kExtOffset + 12, 32> DmaLength;
}  // namespace reth

namespace aeth {  // IBTA 9.3.5.2
typedef Field<kExtOffset + 0, 8> Syndrome;
typedef Field<kExtOffset + 1, 24> MessageSequence;
// Syndrome: bits 6:5 give the kind (0 ACK, 1 RNR NAK, 3 NAK), bits 4:0 the credit count, the RNR timer's code or the
// NAK code.
constexpr uint64_t kAck = 0x1f;     // credit field 31: no end-to-end flow control
constexpr uint64_t kRnrNak = 0x20;  // and the timer's code
constexpr uint64_t kNakSequence = 0x60;
constexpr uint64_t kNakInvalidRequest = 0x61;
constexpr uint64_t kNakRemoteAccess = 0x62;
constexpr uint64_t kNakRemoteOperation = 0x63;
}  // namespace aeth

// Immediate data (IBTA 9.3.6): behind the RETH of a WRITE Only, else right behind the BTH.
namespace immdt {
typedef Field<kExtOffset, 32> Plain;
typedef Field<kExtOffset + kRethBytes, 32> BehindReth;
}  // namespace immdt

// BTH opcodes of the reliable connected service (IBTA table 38).
enum Opcode : uint8_t {
  kSendFirst = 0x00,
  kSendMiddle = 0x01,
  kSendLast = 0x02,
  kSendLastImm = 0x03,
  kSendOnly = 0x04,
  kSendOnlyImm = 0x05,
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteLastImm = 0x09,
  kWriteOnly = 0x0a,
  kWriteOnlyImm = 0x0b,
  kReadRequest = 0x0c,
  kReadResponseFirst = 0x0d,
  kReadResponseMiddle = 0x0e,
  kReadResponseLast = 0x0f,
  kReadResponseOnly = 0x10,
  kAcknowledge = 0x11,
};

// Not of a service: congestion notification packet (IBTA A17.9.3).
constexpr uint64_t kCongestionNotification = 0x81;

// An IPv4 header without options, of a packet that is no fragment: what it carries begins right behind it. A fragment
// has MF set, or an offset.
template <int N>
inline bool is_plain_ip(const Bits<N>& frame) {
  return load<ip::VersionIhl>(frame) == Bits<8>(ip::kVersion4Ihl5) &&
         !bool(load<ip::FlagsFragment>(frame).template get<0, 14>());
}

inline bool is(const Bits<8>& opcode, Opcode o) {
  return opcode == Bits<8>(o);
}
// A set of opcodes below 32 as a mask: one table look-up however many they are.
constexpr uint32_t set_of() {
  return 0;
}
template <class... O>
constexpr uint32_t set_of(Opcode first, O... others) {
  return uint32_t(1) << first | set_of(others...);
}
inline bool is_in(const Bits<8>& opcode, uint32_t set) {
  return !bool(opcode.get<5, 3>()) && bool(Bits<32>(set).shr(opcode.get<0, 5>()).get<0, 1>());
}

constexpr uint32_t kSends = set_of(kSendFirst, kSendMiddle, kSendLast, kSendLastImm, kSendOnly, kSendOnlyImm);
constexpr uint32_t kWrites = set_of(kWriteFirst, kWriteMiddle, kWriteLast, kWriteLastImm, kWriteOnly, kWriteOnlyImm);
constexpr uint32_t kReadResponses =
    set_of(kReadResponseFirst, kReadResponseMiddle, kReadResponseLast, kReadResponseOnly);
constexpr uint32_t kRequests = kSends | kWrites | set_of(kReadRequest);
constexpr uint32_t kAnswers = kReadResponses | set_of(kAcknowledge);
constexpr uint32_t kImmediates = set_of(kSendLastImm, kSendOnlyImm, kWriteLastImm, kWriteOnlyImm);
constexpr uint32_t kStarts = set_of(kSendFirst, kSendOnly, kSendOnlyImm, kWriteFirst, kWriteOnly, kWriteOnlyImm,
                                    kReadRequest, kReadResponseFirst, kReadResponseOnly);
constexpr uint32_t kEnds = set_of(kSendLast, kSendLastImm, kSendOnly, kSendOnlyImm, kWriteLast, kWriteLastImm,
                                  kWriteOnly, kWriteOnlyImm, kReadRequest, kReadResponseLast, kReadResponseOnly);
constexpr uint32_t kReths = set_of(kWriteFirst, kWriteOnly, kWriteOnlyImm, kReadRequest);
constexpr uint32_t kAeths = set_of(kReadResponseFirst, kReadResponseLast, kReadResponseOnly, kAcknowledge);
// Those that take a work request from the receive queue (IBTA 9.4.1, 9.4.2).
constexpr uint32_t kReceives = set_of(kSendFirst, kSendOnly, kSendOnlyImm, kWriteLastImm, kWriteOnlyImm);

inline bool is_send(const Bits<8>& o) {
  return is_in(o, kSends);
}
inline bool is_write(const Bits<8>& o) {
  return is_in(o, kWrites);
}
inline bool is_read_response(const Bits<8>& o) {
  return is_in(o, kReadResponses);
}
// Sent by a requester to a responder.
inline bool is_request(const Bits<8>& o) {
  return is_in(o, kRequests);
}
// Sent back by the responder.
inline bool is_answer(const Bits<8>& o) {
  return is_in(o, kAnswers);
}
inline bool starts_message(const Bits<8>& o) {
  return is_in(o, kStarts);
}
inline bool ends_message(const Bits<8>& o) {
  return is_in(o, kEnds);
}
inline bool has_reth(const Bits<8>& o) {
  return is_in(o, kReths);
}
inline bool has_aeth(const Bits<8>& o) {
  return is_in(o, kAeths);
}
inline bool has_immediate(const Bits<8>& o) {
  return is_in(o, kImmediates);
}
inline bool takes_receive(const Bits<8>& o) {
  return is_in(o, kReceives);
}

// The words of extended header that a packet can have, as a mask: none, AETH or ImmDt, RETH, RETH and ImmDt.
constexpr uint32_t kExtensions =
    1u << 0 | 1u << kAethBytes / 4 | 1u << kRethBytes / 4 | 1u << (kRethBytes + kImmDtBytes) / 4;

// Bytes of extended header behind the BTH: 0, 4 (AETH or ImmDt), 16 (RETH) or 20 (RETH and ImmDt).
inline Bits<5> extended_bytes(const Bits<8>& o) {
  const Bits<5> reth(has_reth(o) ? uint64_t(kRethBytes) : 0);
  return reth + Bits<5>(has_aeth(o) || has_immediate(o) ? uint64_t(kAethBytes) : 0);
}

}  // namespace wire
}  // namespace hw
