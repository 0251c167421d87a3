// How a message is cut into packets (IBTA 9.4.1, 9.4.3, 9.4.4): a message of at most one PMTU is an Only, a longer one
// First, Middles of exactly one PMTU, Last; a READ is cut into requests of at most `read_psns` PSNs, one PSN for each
// response (9.7.2). Part of tx/work_queue.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

typedef Bits<23> MessagePsns;  // a message of 2^31 bytes has 2^23 at the smallest PMTU, counted from 0

// One packet of a message, worked out when the packet before it leaves, or when the work request comes.
struct Piece {
  MessagePsns more;  // PSNs of the message behind the first one of this packet
  Bits<5> psns;      // of this packet
  Bits<1> last;
};

// PSNs of a packet that is not the last: `read_psns` of a READ request.
inline Bits<5> full_psns(bool is_read, const Bits<5>& read_psns) {
  return is_read ? read_psns : Bits<5>(1);
}

inline Piece piece_of(const MessagePsns& more, bool last, bool is_read, const Bits<5>& read_psns) {
  Piece p;
  p.more = more;
  p.psns = last ? more.to<5>() + Bits<5>(1) : full_psns(is_read, read_psns);
  p.last = Bits<1>(last);
  return p;
}

// The first packet of a message whose last byte is the `last_byte`-th, counted from 0; a message of no bytes is one
// packet too, as if it had a byte. For all PMTUs side by side, since `pmtu` comes late.
inline Piece first_piece(const Bits<32>& last_byte, const PmtuCode& pmtu, bool is_read, const Bits<5>& read_psns) {
  const MessagePsns full = full_psns(is_read, read_psns).to<23>();
  Piece chosen;
  for (int code = 1; code <= 5; code++) {
    const bool is = pmtu == PmtuCode(code);
    const MessagePsns more = last_byte.shr(Bits<4>(7 + code)).to<23>();
    const Piece p = piece_of(more, more.ult(full), is_read, read_psns);
    chosen.more = chosen.more | (is ? p.more : MessagePsns(0));
    chosen.psns = chosen.psns | (is ? p.psns : Bits<5>(0));
    chosen.last = chosen.last | (is ? p.last : Bits<1>(0));
  }
  return chosen;
}

// The packet behind `p`, which is not the last and so is a full one.
inline Piece next_piece(const Piece& p, bool is_read, const Bits<5>& read_psns) {
  const MessagePsns full = full_psns(is_read, read_psns).to<23>();
  return piece_of(p.more - full, p.more.ult(full.shl<1>()), is_read, read_psns);
}

// `first`, `last`: of the message's packets.
inline Bits<8> request_opcode(const Wqe& w, bool first, bool last) {
  if (w.operation == Bits<2>(kOpRead)) return Bits<8>(wire::kReadRequest);
  const bool write = w.operation == Bits<2>(kOpWrite);
  const Bits<8> send(first ? (last ? wire::kSendOnly : wire::kSendFirst)
                           : (last ? wire::kSendLast : wire::kSendMiddle));
  const Bits<8> immediate(last && bool(w.has_immediate));
  return send + immediate + Bits<8>(write ? uint64_t(wire::kWriteFirst - wire::kSendFirst) : 0);
}

// A message of which some packets have left; zero before the first.
struct Rest {
  Bits<1> begun;
  Piece next;
  MessagePsns sent;
  Bits<16> since_nth;  // packets since one was the n-th, for which acknowledgements are asked
};

inline Rest rest_behind(const Rest& rest, const Piece& p, bool is_read, const Bits<5>& read_psns, bool nth) {
  Rest r;
  r.begun = Bits<1>(1);
  r.next = next_piece(p, is_read, read_psns);
  r.sent = rest.sent + p.psns.to<23>();
  if (!nth) r.since_nth = rest.since_nth + Bits<16>(1);
  return r;
}

// The RETH of a WRITE is that of the whole message in each of its packets; First and Only take it to the wire. A READ
// is cut into requests, each with a RETH of its own. `last` may cut the message short.
inline TxPacket packet_of(const Wqe& w, const Rest& rest, const Piece& piece, const PmtuCode& pmtu, bool is_read,
                          bool last) {
  const Bits<4> shift = Bits<4>(7) + pmtu.to<4>();
  const Bits<32> sent = rest.sent.to<32>().shl(shift);
  const Bits<32> bytes = last ? w.length - sent : piece.psns.to<32>().shl(shift);
  TxPacket p;
  p.opcode = request_opcode(w, !bool(rest.begun), last);
  p.qpn = w.qpn;
  p.solicited = Bits<1>(bool(w.solicited) && last && !is_read);
  p.local_address = w.local_address + sent.to<64>();
  p.remote_address = is_read ? w.remote_address + sent.to<64>() : w.remote_address;
  p.rkey = w.rkey;
  p.dma_length = is_read ? bytes : w.length;
  p.immediate = w.immediate;
  p.payload = is_read ? PacketBytes(0) : bytes.to<13>();
  p.pmtu = pmtu;
  p.psns = piece.psns;
  p.last = Bits<1>(last);
  p.index = w.index;
  p.tag = w.tag;
  return p;
}

}  // namespace tx
}  // namespace hw
