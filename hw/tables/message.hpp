// A message that comes packet by packet into consecutive host memory: which payloads add up to it, and where each of
// them goes. The responder needs it for a SEND or WRITE, the requester for the responses to a READ.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tables {

// The part of a message that is still to come. Its next byte goes to end - remaining, so that only the short number
// moves on with a packet.
struct Message {
  Bits<64> end;  // host address behind the message
  Bits<32> remaining;

  Message() = default;
  Message(const Bits<64>& address, const Bits<32>& bytes) : end(address + bytes.to<64>()), remaining(bytes) {}

  Bits<64> address() const { return end - remaining.to<64>(); }
};

// How a payload compares with the bytes that remain.
struct Share {
  Bits<1> part, all;  // fewer bytes, as many

  Share() = default;
  Share(const PacketBytes& bytes, const Bits<32>& remaining) {
    const bool large = bool(remaining.get<13, 19>());  // more than any packet brings
    const PacketBytes small = remaining.get<0, 13>();
    part = Bits<1>(large || bytes.ult(small));
    all = Bits<1>(!large && bytes == small);
  }
};

// Which of the three are right.
struct RightShares {
  Bits<1> part, all, more;

  bool holds(const Share& share) const {
    return bool((part & share.part) | (all & share.all) | (more & ~(share.part | share.all)));
  }
};

// A payload against the PMTU: one that ends its message may fill it, any other must; and only a message of no bytes
// ends with none (docs/protocol.md D row 24).
struct Piece {
  Bits<1> starts{1}, ends;
  Bits<1> hollow;          // a Last without bytes
  PmtuCode smallest_pmtu;  // that holds it; 6 when none does
  Bits<1> full;            // and is filled by it

  Piece() = default;
  Piece(const Bits<8>& opcode, const PacketBytes& bytes)
      : starts(wire::starts_message(opcode)), ends(wire::ends_message(opcode)) {
    hollow = Bits<1>(!bool(starts) && !bool(bytes));
    for (uint64_t code = 0; code < 6; code++)
      if (pmtu_bytes(PmtuCode(code)).ult(bytes)) smallest_pmtu = PmtuCode(code + 1);
    full = Bits<1>(bytes == pmtu_bytes(smallest_pmtu));
  }

  bool suits(const PmtuCode& pmtu) const {
    return bool(ends) ? !bool(hollow) && !pmtu.ult(smallest_pmtu) : bool(full) && pmtu == smallest_pmtu;
  }
};

}  // namespace tables
}  // namespace hw
