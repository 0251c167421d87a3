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
  kIcrcBytes = 4,
  kIpOffset = kEthernetBytes,
  kUdpOffset = kIpOffset + kIpBytes,
  kBthOffset = kUdpOffset + kUdpBytes,
  kExtOffset = kBthOffset + kBthBytes,        // 54: where RETH or AETH begin, and payload when there is neither
  kMaxHeaderBytes = kExtOffset + kRethBytes,  // 70
  kMinDatagramBytes = kIpBytes + kUdpBytes + kBthBytes + kIcrcBytes,  // 44: IP total length of a bare BTH
  kMaxPayloadBytes = 4096,                                            // the largest PMTU
};

namespace eth {
typedef Field<0, 48> Destination;
typedef Field<6, 48> Source;
typedef Field<12, 16> Type;
constexpr uint64_t kIpv4 = 0x0800;
}  // namespace eth

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
constexpr uint64_t kUdp = 17;
}  // namespace ip

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
// Syndrome: bits 6:5 give the kind (0 ACK, 1 RNR NAK, 3 NAK), bits 4:0 the credit count or the NAK code.
constexpr uint64_t kAck = 0x1f;  // credit field 31: no end-to-end flow control
constexpr uint64_t kNakSequence = 0x60;
constexpr uint64_t kNakInvalidRequest = 0x61;
constexpr uint64_t kNakRemoteAccess = 0x62;
constexpr uint64_t kNakRemoteOperation = 0x63;
}  // namespace aeth

// BTH opcodes of the reliable connected service (IBTA table 38).
enum Opcode : uint8_t {
  kWriteFirst = 0x06,
  kWriteMiddle = 0x07,
  kWriteLast = 0x08,
  kWriteOnly = 0x0a,
  kAcknowledge = 0x11,
};

// Not of a service: congestion notification packet (IBTA A17.9.3).
constexpr uint64_t kCongestionNotification = 0x81;

inline bool is(const Bits<8>& opcode, Opcode o) {
  return opcode == Bits<8>(o);
}
inline bool is_write(const Bits<8>& o) {
  return is(o, kWriteFirst) || is(o, kWriteMiddle) || is(o, kWriteLast) || is(o, kWriteOnly);
}
inline bool starts_message(const Bits<8>& o) {
  return is(o, kWriteFirst) || is(o, kWriteOnly);
}
inline bool ends_message(const Bits<8>& o) {
  return is(o, kWriteLast) || is(o, kWriteOnly);
}
inline bool has_reth(const Bits<8>& o) {
  return starts_message(o);
}
inline bool has_aeth(const Bits<8>& o) {
  return is(o, kAcknowledge);
}

// Bytes of extended header behind the BTH: 16 (RETH), 4 (AETH) or 0.
inline Bits<5> extended_bytes(const Bits<8>& o) {
  return Bits<5>(has_reth(o) ? uint64_t(kRethBytes) : has_aeth(o) ? uint64_t(kAethBytes) : 0);
}

}  // namespace wire
}  // namespace hw
