// How a message is cut into packets (IBTA 9.4.3, 9.4.4, 9.7.2), counted in PSNs. Part of tx/work_queue.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

typedef Bits<24> MessagePsns;  // a message of 2^31 bytes has 2^23 at the smallest PMTU

// One packet of a message. It is known when the packet before it leaves, or when the work request comes, so that no
// more than a choice between the two stands before whatever depends on it.
struct Piece {
  MessagePsns left;  // PSNs of the message from this packet on
  Bits<5> psns;      // of this packet
  Bits<1> last;
};

// PSNs of a packet that is not the last: `read_psns` of a READ request.
inline Bits<5> full_psns(const Bits<2>& operation, const Bits<5>& read_psns) {
  return operation == Bits<2>(kOpRead) ? read_psns : Bits<5>(1);
}

inline Piece piece_of(const MessagePsns& left, bool last, const Bits<2>& operation, const Bits<5>& read_psns) {
  Piece p;
  p.left = left;
  p.psns = operation == Bits<2>(kOpRead) && last ? left.to<5>() : full_psns(operation, read_psns);
  p.last = Bits<1>(last);
  return p;
}

// The first packet of a work request, for all PMTUs side by side. A message of no bytes is one packet.
inline Piece first_piece(const Wqe& w, const PmtuCode& pmtu, const Bits<5>& read_psns) {
  Piece chosen;
  for (int code = 1; code <= 5; code++) {
    const int shift = 7 + code;
    const Bits<32> whole = w.length.shr(Bits<4>(shift)), rest = w.length & ~(~Bits<32>(0)).shl(Bits<4>(shift));
    const MessagePsns left = whole.to<24>() + MessagePsns(bool(rest) || !bool(w.length));
    const Piece p = piece_of(left, !full_psns(w.operation, read_psns).to<24>().ult(left), w.operation, read_psns);
    if (pmtu != PmtuCode(code)) continue;
    chosen.left = chosen.left | p.left;
    chosen.psns = chosen.psns | p.psns;
    chosen.last = chosen.last | p.last;
  }
  return chosen;
}

// The packet behind `p`, which is not the last and so is a full one.
inline Piece next_piece(const Piece& p, const Bits<2>& operation, const Bits<5>& read_psns) {
  const MessagePsns full = full_psns(operation, read_psns).to<24>();
  return piece_of(p.left - full, !full.shl<1>().ult(p.left), operation, read_psns);
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
