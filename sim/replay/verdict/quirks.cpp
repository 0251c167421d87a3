#include "sim/replay/verdict/quirks.hpp"

namespace sim {

namespace {

// In the order of the enumeration.
constexpr QuirkRow kRows[kQuirks] = {
    {Quirk::kNakAfterRnr, "nak_after_rnr", "D 16",
     "sends sequence NAKs after an RNR NAK; right is silence until the PSN returns"},
    {Quirk::kOperationalErrorForLongSend, "operational_error_for_long_send", "D 30",
     "answers a SEND longer than the receive with Remote Operational Error; right is Invalid Request"},
    {Quirk::kSilenceAfterInvalidate, "silence_after_invalidate", "D 31",
     "acknowledges a SEND with Invalidate of a bad key with the old MSN and falls silent; right is a NAK"},
    {Quirk::kMiddleAfterPartialRead, "middle_after_partial_read", "D 5",
     "goes on with Middle when the rest of a READ is asked for again; right is First"},
    {Quirk::kNoImpliedNak, "no_implied_nak", "D 7",
     "waits for the timer when a READ response is missing; right is to ask again at once"},
    {Quirk::kNoResourceLimit, "no_resource_limit", "D 32",
     "serves more READs than it has resources for; allowed is Invalid Request"},
    {Quirk::kAckInMessage, "ack_in_message", "D.1",
     "acknowledges a duplicate in mid-message at once; right is to wait for what asks for an ACK"},
    {Quirk::kOwnPsnReack, "own_psn_reack", "D.2 3",
     "acknowledges a duplicate again with its own PSN; right is the PSN completed last"},
    {Quirk::kUnlimitedCredits, "unlimited_credits", "D.1",
     "always gives credit 31; credits are no part of the verdict"},
};

}  // namespace

const QuirkRow& row_of(Quirk quirk) {
  return kRows[size_t(quirk)];
}

bool departs(Peer peer, Quirk) {
  return peer == Peer::kRxe;
}

}  // namespace sim
