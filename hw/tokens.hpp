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

// rx/header_split -> ip -> udp -> bth. The headers of a frame as they came (behind the packet's own ones payload, or
// zeros), and what the cut found: `payload` bytes without pad, `body`: beats of payload do follow.
struct RxHeader {
  Bits<wire::kMaxHeaderBytes * 8> bytes;
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(bytes, payload, body, drop)
};

// rx/bth -> ext_headers. `ext`: the bytes behind the BTH.
struct RxPacket {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request, solicited;
  Bits<wire::kMaxExtBytes * 8> ext;
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, solicited, ext, payload, body, drop)
};

// rx/ext_headers -> qp_state: a packet with all its headers read, request or answer. What its opcode has no field for
// is zero. All packets take the same way through the tables, in the order of the wire, so that payload and verdict pair
// by order; each table acts on those that concern it.
struct RxTransport {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request, solicited;
  Bits<64> va;                // RETH
  Bits<32> rkey, dma_length;  // RETH
  Bits<32> immediate;         // ImmDt
  Bits<8> syndrome;           // AETH
  Bits<24> msn;               // AETH
  PacketBytes payload;
  Bits<1> body;
  DropCode drop;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, solicited, va, rkey, dma_length, immediate, syndrome, msn, payload, body,
           drop)
};

// The judgement on a request's PSN (IBTA 9.7.5.1).
enum Sequence : uint8_t {
  kInOrder = 0,    // the expected PSN
  kDuplicate = 1,  // behind it: acknowledge again, execute a READ again
  kGap = 2,        // ahead of it, first time: NAK
  kIgnore = 3,     // no answer: dropped earlier, ahead of a gap that is NAKed already, or no request at all
};

// qp_state -> memory_region -> receive_queue -> msn. `expected` is the PSN expected before this packet. `nak` is the
// syndrome with which a packet in order, or a duplicate READ, must be refused, 0 for none: qp_state fills it in for a
// right that the QP lacks and for a receive queue that is empty (RNR), memory_region for the key. `address`: the host
// address of the first byte of the message that begins with this packet, from memory_region for what has a RETH, from
// receive_queue for a SEND. `room`: the bytes of the receive work request that a SEND begins to fill; `receive`: the
// index of the work request that the packet's message uses.
struct RxChecked {
  RxTransport packet;
  Bits<2> sequence;
  Psn expected;
  Bits<8> nak;
  Bits<64> address;
  Bits<32> room;
  Bits<16> receive;
  HW_TOKEN(packet, sequence, expected, nak, address, room, receive)
};

// An acknowledgement for the requester: msn and syndrome as in the AETH. For a READ response that arrived in order it
// is an ACK of its PSN; an implied NAK is a sequence NAK that nobody sent.
struct RxAck {
  Qpn qpn;
  Psn psn;
  Bits<8> syndrome;
  Bits<24> msn;
  Tag tag;
  HW_TOKEN(qpn, psn, syndrome, msn)
};

// The completion of a receive work request, given when the last byte of the message has been handed to the host.
struct ReceiveCompletion {
  Qpn qpn;
  Bits<16> index;
  Bits<32> bytes, immediate;
  Bits<1> has_immediate, is_write, solicited;  // is_write: WRITE with immediate, whose data went elsewhere
  Tag tag;
  HW_TOKEN(qpn, index, bytes, immediate, has_immediate, is_write, solicited)
};

// outstanding_reads -> rx/payload: what becomes of a packet's payload, and what is told once it is with the host.
struct Placement {
  Bits<1> keep, body;
  Bits<64> address;
  PacketBytes bytes;
  Bits<1> completes;  // `completion` counts
  ReceiveCompletion completion;
  Bits<1> acknowledges;  // `ack` counts
  RxAck ack;
  Tag tag;
  HW_TOKEN(keep, body, address, bytes, completes, completion, acknowledges, ack)
};

// msn -> outstanding_reads: the placement of a request's payload; for an answer, the packet still to be judged: its
// syndrome and msn are in `placement.ack`, and keep is 0.
struct RxVerdict {
  Bits<1> answer;  // and not dropped earlier
  Bits<8> opcode;
  Placement placement;
  HW_TOKEN(answer, opcode, placement)
};

// msn -> tx/response_queue: an acknowledgement to send, or a READ to serve.
struct Response {
  Bits<1> read;
  Qpn qpn;
  Psn psn;           // of the acknowledgement, of the first READ response
  Bits<8> syndrome;  // of an acknowledgement
  Bits<24> msn;
  PmtuCode pmtu;  // of a READ, as what follows
  Bits<64> address;
  Bits<32> bytes;
  Tag tag;
  HW_TOKEN(read, qpn, psn, syndrome, msn, pmtu, address, bytes)
};

// tx/response_queue -> msn: a READ of this QP has been served, its place is free.
struct ReadServed {
  Qpn qpn;
  HW_TOKEN(qpn)
};

// ------------------------------------------------------------------------------------------------------- host

enum Operation : uint8_t { kOpWrite = 0, kOpSend = 1, kOpRead = 2 };

// A work request as the NIC gets it. `index` counts the QP's work requests modulo 2^16 and comes back in Completion.
struct Wqe {
  Qpn qpn;
  Bits<2> operation;
  Bits<1> has_immediate, solicited;
  Bits<64> local_address, remote_address;  // remote_address and rkey: not of a SEND
  Bits<32> rkey;
  Bits<32> length;  // bytes, 0 .. 2^31
  Bits<32> immediate;
  Bits<16> index;
  Tag tag;
  HW_TOKEN(qpn, operation, has_immediate, solicited, local_address, remote_address, rkey, length, immediate, index)
};

// A receive work request. `index` as in Wqe, counted by themselves.
struct ReceiveWqe {
  Qpn qpn;
  Bits<64> address;
  Bits<32> length;
  Bits<16> index;
  HW_TOKEN(qpn, address, length, index)
};
// receive_queue -> qp_state: one more receive work request can be used.
struct ReceivePosted {
  Qpn qpn;
  HW_TOKEN(qpn)
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
  Tag tag;
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

// work_queue -> flow_control -> retransmit -> arbiter -> connection: one packet to send. Answers join at the arbiter
// and use `syndrome` and `msn`; requests use the rest, READ responses `local_address` and `payload` too. `last`: of its
// message. `psns`: how many PSNs the packet takes, which is 1 except for a READ request: one for each response.
struct TxPacket {
  Bits<8> opcode;
  Qpn qpn;
  Psn psn;
  Bits<1> ack_request, solicited;
  Bits<64> local_address, remote_address;
  Bits<32> rkey, dma_length, immediate;
  PacketBytes payload;
  PmtuCode pmtu;
  Bits<5> psns;
  Bits<1> last;
  Bits<16> index;
  Bits<8> syndrome;
  Bits<24> msn;
  Tag tag;
  HW_TOKEN(opcode, qpn, psn, ack_request, solicited, local_address, remote_address, rkey, dma_length, immediate,
           payload, pmtu, psns, last, index, syndrome, msn)
};

// flow_control -> work_queue: PSNs of a QP that are no longer in flight, and whether the QP is dead: then its work
// requests are to come at once, to be flushed.
struct Credit {
  Qpn qpn;
  Bits<24> psns;
  Bits<1> dead;
  Tag tag;
  HW_TOKEN(qpn, psns, dead)
};

// flow_control -> outstanding_reads: a READ request is about to leave for the first time; its responses belong to
// `local_address`.
struct ReadIssued {
  Qpn qpn;
  Psn psn;
  Bits<64> local_address;
  Bits<32> bytes;
  HW_TOKEN(qpn, psn, local_address, bytes)
};
// outstanding_reads -> work_queue: all responses of a READ request of this QP are there.
struct ReadAnswered {
  Qpn qpn;
  Tag tag;
  HW_TOKEN(qpn)
};

// flow_control -> retransmit, in the order in which they must take effect. The list has one entry a PSN.
enum ListOp : uint8_t {
  kListSend = 0,     // remember `packet` in `packet.psns` entries and send it
  kListRelease = 1,  // forget `count` oldest entries of the QP: complete messages that end among them
  kListReplay = 2,   // send the `count` oldest entries of the QP again, from PSN `packet.psn`
  kListAbort = 3,    // forget `count` oldest entries; complete the first message with `status`, the others flushed
  kListFlush = 4,    // `packet` came for a QP in error: complete its message flushed
  kListOpen = 5,     // a new QP: give its list a first entry
};

struct ListCommand {
  Bits<3> op;
  TxPacket packet;
  Bits<24> count;
  Bits<4> status;
  Tag tag;
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

// The addresses of this NIC, which it answers for.
struct AddressControl {
  Bits<48> mac;
  Bits<32> ip;
  HW_TOKEN(mac, ip)
};

// One requester more of each table's owner (rule 3): writes the row of a QP or of a memory region.
struct QpStateControl {
  Qpn qpn;
  Psn expected;
  PmtuCode pmtu;
  Bits<5> rnr_timer;  // code, IBTA table 45
  Bits<1> receive;    // RTR or RTS: requests are taken
  Bits<1> remote_write, remote_read;
  HW_TOKEN(qpn, expected, pmtu, rnr_timer, receive, remote_write, remote_read)
};
struct MsnControl {
  Qpn qpn;
  Bits<24> msn;
  PmtuCode pmtu;
  Bits<5> max_reads;  // responder resources: READs that the peer may have under way, 0 .. kMaxReads
  HW_TOKEN(qpn, msn, pmtu, max_reads)
};
struct RegionControl {
  Bits<32> rkey;
  Bits<64> va, length, address;
  Bits<1> valid, remote_write, remote_read;
  HW_TOKEN(rkey, va, length, address, valid, remote_write, remote_read)
};
// A new life of a QP: what an earlier one left in the stage's rows is forgotten.
struct ReceiveQueueControl {
  Qpn qpn;
  HW_TOKEN(qpn)
};
struct OutstandingReadsControl {
  Qpn qpn;
  PmtuCode pmtu;
  HW_TOKEN(qpn, pmtu)
};
struct ResponseQueueControl {
  Qpn qpn;
  HW_TOKEN(qpn)
};
struct ConnectionControl {
  Qpn qpn, remote_qpn;
  Route route;
  HW_TOKEN(qpn, remote_qpn, route)
};
struct WorkQueueControl {
  Qpn qpn;
  PmtuCode pmtu;
  Bits<5> max_reads;  // READ requests that may be under way, 0 .. kMaxReads
  HW_TOKEN(qpn, pmtu, max_reads)
};
struct FlowControlControl {
  Qpn qpn;
  Psn psn;          // of the first packet to send (sq_psn)
  Bits<5> timeout;  // exponent, see TimerCommand
  Bits<3> retry_count;
  HW_TOKEN(qpn, psn, timeout, retry_count)
};

}  // namespace hw
