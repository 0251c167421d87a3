// Departures of a peer's implementation from the InfiniBand rules, by name: what they explain does not fail.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sim/replay/verdict/verdict.hpp"

namespace sim {

enum class Quirk : uint8_t {
  kNakAfterRnr,
  kOperationalErrorForLongSend,
  kSilenceAfterInvalidate,
  kMiddleAfterPartialRead,
  kNoImpliedNak,
  kNoResourceLimit,
  kAckInMessage,
  kOwnPsnReack,
  kUnlimitedCredits,
};
constexpr size_t kQuirks = 9;

struct QuirkRow {
  Quirk quirk;
  const char* name;
  const char* row;       // of the protocol cases (facts D, D.1, D.2)
  const char* sentence;  // what the peer does, and what is right
};

const QuirkRow& row_of(Quirk quirk);

bool departs(Peer peer, Quirk quirk);

}  // namespace sim
