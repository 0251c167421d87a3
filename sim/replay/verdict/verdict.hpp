// What is said of one packet, or of a pair, when a simulated NIC stands in the place of a captured endpoint.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

enum class Verdict : uint8_t {
  kMatch,
  kEquivalent,     // another form of the same
  kDifferent,      // both sent it, in contradiction
  kMissing,        // captured only
  kExtra,          // simulated only
  kNotComparable,  // the capture does not say what is right
  kUnseen,  // one side only, and the capture shows that its cause or counterpart was lost on the way or by the tap
};
constexpr size_t kVerdicts = 7;

// Whose implementation the captured endpoint is.
enum class Peer : uint8_t { kNone, kRxe };

enum class AckCompare : uint8_t {
  kMeaning,  // what is acknowledged
  kExact     // and one by one, with syndrome and credits
};

struct VerdictOptions {
  Peer peer = Peer::kNone;
  AckCompare ack_compare = AckCompare::kMeaning;
};

// The two that are compared, as an index.
enum Side : uint8_t { kCaptured, kSimulated };
constexpr Side other(Side side) {
  return side == kCaptured ? kSimulated : kCaptured;
}

}  // namespace sim
