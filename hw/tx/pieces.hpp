// How a message is cut into packets (IBTA 9.4.3, 9.4.4, 9.7.2), counted in PSNs. Part of tx/work_queue.
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
inline Bits<5> full_psns(const Bits<2>& operation, const Bits<5>& read_psns) {
  return operation == Bits<2>(kOpRead) ? read_psns : Bits<5>(1);
}

inline Piece piece_of(const MessagePsns& more, bool last, const Bits<2>& operation, const Bits<5>& read_psns) {
  Piece p;
  p.more = more;
  p.psns = last ? more.to<5>() + Bits<5>(1) : full_psns(operation, read_psns);
  p.last = Bits<1>(last);
  return p;
}

// The first packet of a message whose last byte is the `last_byte`-th, counted from 0; a message of no bytes is one
// packet too, as if it had a byte. For all PMTUs side by side, since `pmtu` comes late.
inline Piece first_piece(const Bits<32>& last_byte, const PmtuCode& pmtu, const Bits<2>& operation,
                         const Bits<5>& read_psns) {
  const MessagePsns full = full_psns(operation, read_psns).to<23>();
  Piece chosen;
  for (int code = 1; code <= 5; code++) {
    const bool is = pmtu == PmtuCode(code);
    const MessagePsns more = last_byte.shr(Bits<4>(7 + code)).to<23>();
    const Piece p = piece_of(more, more.ult(full), operation, read_psns);
    chosen.more = chosen.more | (is ? p.more : MessagePsns(0));
    chosen.psns = chosen.psns | (is ? p.psns : Bits<5>(0));
    chosen.last = chosen.last | (is ? p.last : Bits<1>(0));
  }
  return chosen;
}

// The packet behind `p`, which is not the last and so is a full one.
inline Piece next_piece(const Piece& p, const Bits<2>& operation, const Bits<5>& read_psns) {
  const MessagePsns full = full_psns(operation, read_psns).to<23>();
  return piece_of(p.more - full, p.more.ult(full.shl<1>()), operation, read_psns);
}

// `first`, `last`: of the message.
inline Bits<8> request_opcode(const Wqe& w, bool first, bool last) {
  if (w.operation == Bits<2>(kOpRead)) return Bits<8>(wire::kReadRequest);
  const bool write = w.operation == Bits<2>(kOpWrite);
  const Bits<8> send(first ? (last ? wire::kSendOnly : wire::kSendFirst)
                           : (last ? wire::kSendLast : wire::kSendMiddle));
  const Bits<8> immediate(last && bool(w.has_immediate));
  return send + immediate + Bits<8>(write ? uint64_t(wire::kWriteFirst - wire::kSendFirst) : 0);
}

}  // namespace tx
}  // namespace hw
