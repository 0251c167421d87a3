// Which of two acknowledgements for one QP makes the other unnecessary.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

inline bool is_nak(const Bits<8>& syndrome) {
  return bool(syndrome.get<5, 1>());  // kinds 1 and 3
}
// After one of these the QP is in error, and nothing may follow (docs/protocol.md D row 27).
inline bool is_fatal(const Bits<8>& syndrome) {
  return syndrome.get<5, 2>() == Bits<2>(3) && bool(syndrome.get<0, 5>());
}

// True when `later` leaves nothing of `waiting` to be told. An ACK acknowledges all that precedes it, a NAK all before
// its PSN (rows 10, 12), so whoever names the higher PSN says more: an ACK from a NAK's PSN on tells that what the NAK
// wanted is there, one behind it says less than the NAK (row 11). A fatal NAK stays.
template <class Ack, class Waiting>
bool replaces(const Ack& later, const Waiting& waiting) {
  return !is_fatal(waiting.syndrome) && (is_fatal(later.syndrome) || !later.psn.before(waiting.psn));
}

}  // namespace tx
}  // namespace hw
