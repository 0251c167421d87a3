// The tokens that stages hand to each other, in the order in which a packet meets them. A token belongs to one packet,
// message or control request; packets carry their Tag along.
#pragma once
#include "bus/beat.hpp"
#include "bus/psn.hpp"
#include "bus/stream.hpp"
#include "bus/wire.hpp"
#include "limits.hpp"

namespace hw {

typedef Bits<13> PacketBytes;  // payload of one packet: 0 .. 4096

// PMTU codes as in the verbs: 1 = 256, 2 = 512, 3 = 1024, 4 = 2048, 5 = 4096 bytes.
typedef Bits<3> PmtuCode;
inline PacketBytes pmtu_bytes(const PmtuCode& code) {
  return PacketBytes(128).shl(code);
}

// ---------------------------------------------------------------------------------------------------- receive

// Why a packet ends in the NIC. Payload and verdict pair by order, so a dropped packet's token lives on until
// rx/payload has thrown its beats away.
enum Drop : uint8_t {
  kKeep = 0,
  kDropIp = 1,         // IP header: version, checksum, address, fragment
  kDropUdp = 2,        // UDP header
  kDropTransport = 3,  // BTH: version, partition key, opcode of another service, unknown QP
  kDropSequence = 4,   // ahead of a gap, or a duplicate: acknowledged, not placed
  kDropAccess = 5,     // refused by the responder: NAKed
};
typedef Bits<3> DropCode;

// rx/header_split -> ip -> udp -> bth. The first 70 bytes of a frame as they came (payload where the packet's own
// headers are shorter), and what the cut found: `payload` bytes without pad, `body`: beats of payload do follow.
struct RxHeader {
  Bits<wire::kMaxHeaderBytes * 8> bytes;
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(bytes, payload, body, drop)
};

// rx/bth -> ext_headers. `ext`: the 16 bytes behind the BTH.
struct RxPacket {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request;
  Bits<128> ext;
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, ext, payload, body, drop)
};

// rx/ext_headers -> qp_state: a packet for the responder, or one whose payload is to be thrown away.
struct RxRequest {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request;
  Bits<64> va;
  Bits<32> rkey, dma_length;
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, va, rkey, dma_length, payload, body, drop)
};

// rx/ext_headers -> flow_control: an ACK or NAK for the requester.
struct RxAck {
  Qpn qpn;
  Psn psn;
  Bits<8> syndrome;
  Bits<24> msn;
  Tag tag;
  HW_TOKEN(qpn, psn, syndrome, msn)
};

// The judgement on a request's PSN (IBTA 9.7.5.1).
enum Sequence : uint8_t {
  kInOrder = 0,    // the expected PSN
  kDuplicate = 1,  // behind it: acknowledge again
  kGap = 2,        // ahead of it, first time: NAK
  kIgnore = 3,     // no answer: dropped earlier, or ahead of a gap that is NAKed already
};

// qp_state -> memory_region -> msn. `expected` is the PSN expected before this packet. `nak` is the syndrome with which
// a packet in order must be refused, 0 for none: qp_state fills it in for a right that the QP lacks, memory_region for
// the key. `address` comes from memory_region: the host address of the first byte of the message.
struct RxChecked {
  RxRequest request;
  Bits<2> sequence;
  Psn expected;
  Bits<8> nak;
  Bits<64> address;
  HW_TOKEN(request, sequence, expected, nak, address)
};

// msn -> rx/payload: what becomes of a packet's payload.
struct Placement {
  Bits<1> keep, body;
  Bits<64> address;
  PacketBytes bytes;
  Tag tag;
  HW_TOKEN(keep, body, address, bytes)
};

// msn -> ack_queue: an acknowledgement to send.
struct AckToSend {
  Qpn qpn;
  Psn psn;
  Bits<8> syndrome;
  Bits<24> msn;
  Tag tag;
  HW_TOKEN(qpn, psn, syndrome, msn)
};

// ------------------------------------------------------------------------------------------------------- host

// A work request as the NIC gets it. `index` counts the QP's work requests modulo 2^16 and comes back in Completion.
struct Wqe {
  Qpn qpn;
  Bits<64> local_address, remote_address;
  Bits<32> rkey;
  Bits<32> length;  // bytes, 0 .. 2^31
  Bits<16> index;
  HW_TOKEN(qpn, local_address, remote_address, rkey, length, index)
};

// Completion status: the values of ibv_wc_status that a send queue can give.
enum Status : uint8_t {
  kSuccess = 0,
  kFlushed = 5,           // IBV_WC_WR_FLUSH_ERR
  kRemoteInvalid = 9,     // IBV_WC_REM_INV_REQ_ERR
  kRemoteAccess = 10,     // IBV_WC_REM_ACCESS_ERR
  kRemoteOperation = 11,  // IBV_WC_REM_OP_ERR
  kRetriesExceeded = 12,  // IBV_WC_RETRY_EXC_ERR
};

struct Completion {
  Qpn qpn;
  Bits<16> index;
  Bits<4> status;
  HW_TOKEN(qpn, index, status)
};

// A DMA transfer: `bytes` at host address `address`. Data travels beside it, byte 0 of the transfer in byte 0 of the
// first beat, one last beat a transfer.
struct DmaCommand {
  Bits<64> address;
  PacketBytes bytes;
  Tag tag;
  HW_TOKEN(address, bytes)
};

// --------------------------------------------------------------------------------------------------- transmit

// work_queue -> flow_control -> retransmit -> arbiter -> connection: one packet to send. Acknowledgements join at the
// arbiter and use `syndrome` and `msn`; data packets use the rest. `first`/`last`: of its message.
struct TxPacket {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request;
  Bits<64> local_address, remote_address;
  Bits<32> rkey, dma_length;
  PacketBytes payload;
  Bits<1> last;
  Bits<16> index;
  Bits<8> syndrome;
  Bits<24> msn;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, local_address, remote_address, rkey, dma_length, payload, last, index,
           syndrome, msn)
};

// flow_control -> retransmit, in the order in which they must take effect.
enum ListOp : uint8_t {
  kListSend = 0,     // remember `packet` and send it
  kListRelease = 1,  // forget `count` oldest packets of the QP: complete messages that end among them
  kListReplay = 2,   // send the `count` oldest packets of the QP again, from PSN `packet.psn`
  kListAbort = 3,    // forget `count` oldest packets; complete the first message with `status`, the others flushed
  kListFlush = 4,    // `packet` came for a QP in error: complete its message flushed
  kListOpen = 5,     // a new QP: give its list a first entry
};

struct ListCommand {
  Bits<3> op;
  TxPacket packet;
  Bits<24> count;
  Bits<4> status;
  HW_TOKEN(op, packet, count, status)
};

// flow_control -> timer: start (again) or stop the time-out of a QP. It runs 4.096 us * 2^exponent; 0 is never.
struct TimerCommand {
  Qpn qpn;
  Bits<1> start;
  Bits<5> exponent;
  HW_TOKEN(qpn, start, exponent)
};
struct TimerExpired {
  Qpn qpn;
  HW_TOKEN(qpn)
};

// What a packet needs to find its peer.
struct Route {
  Bits<48> destination_mac, source_mac;
  Bits<32> destination_ip, source_ip;
  Bits<16> udp_source_port;
  HW_TOKEN(destination_mac, source_mac, destination_ip, source_ip, udp_source_port)
};

// connection -> tx/payload -> ext_headers. `packet.qpn` is the peer's QPN from here on.
struct TxRouted {
  TxPacket packet;
  Route route;
  HW_TOKEN(packet, route)
};

// The header under construction, innermost first: ext_headers -> bth -> udp -> ip -> ethernet -> frame. Each stage
// writes its own bytes of `bytes`, which has the layout of the frame; `header` says how many the packet has.
struct TxHeader {
  TxRouted routed;
  Bits<wire::kMaxHeaderBytes * 8> bytes;
  Bits<7> header;
  HW_TOKEN(routed, bytes, header)
};

// tx/ethernet -> frame: the finished header.
struct TxFrame {
  Bits<wire::kMaxHeaderBytes * 8> bytes;
  Bits<7> header;
  PacketBytes payload;
  Bits<1> body;
  Tag tag;
  HW_TOKEN(bytes, header, payload, body)
};

// -------------------------------------------------------------------------------------------------- control plane

// One requester more of each table's owner (rule 3): writes the row of a QP or of a memory region.
struct QpStateControl {
  Qpn qpn;
  Psn expected;
  Bits<1> receive;  // RTR or RTS: requests are taken
  Bits<1> remote_write;
  HW_TOKEN(qpn, expected, receive, remote_write)
};
struct MsnControl {
  Qpn qpn;
  Bits<24> msn;
  PmtuCode pmtu;
  HW_TOKEN(qpn, msn, pmtu)
};
struct RegionControl {
  Bits<32> rkey;
  Bits<64> va, length, address;
  Bits<1> valid, remote_write;
  HW_TOKEN(rkey, va, length, address, valid, remote_write)
};
struct ConnectionControl {
  Qpn qpn, remote_qpn;
  Route route;
  HW_TOKEN(qpn, remote_qpn, route)
};
struct WorkQueueControl {
  Qpn qpn;
  PmtuCode pmtu;
  HW_TOKEN(qpn, pmtu)
};
struct FlowControlControl {
  Qpn qpn;
  Psn psn;          // of the first packet to send (sq_psn)
  Bits<5> timeout;  // exponent, see TimerCommand
  Bits<3> retry_count;
  HW_TOKEN(qpn, psn, timeout, retry_count)
};

}  // namespace hw
