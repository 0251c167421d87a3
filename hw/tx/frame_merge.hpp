// Puts the NIC's own replies between the RoCE frames, frame by frame, on their way to the MAC.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// RoCE frames go first, but no two in a row while a reply waits. A beat leaves in every cycle in which the frame under
// way, or at its end any frame, has one.
template <unsigned W>
struct FrameMerge {
  void step(hls::stream<Beat<W>>& roce, hls::stream<Beat<W>>& replies, hls::stream<Beat<W>>& out) {
    if (out.full()) return;
    const bool turn_of_reply = !replies.empty() && (roce.empty() || bool(owed_));
    const bool reply = bool(inside_) ? bool(of_reply_) : turn_of_reply;
    if (reply ? replies.empty() : roce.empty()) return;
    if (!bool(inside_)) owed_ = Bits<1>(!reply && !replies.empty());
    const Beat<W>& x = reply ? replies.read() : roce.read();
    out.write(x);
    inside_ = ~x.last;
    of_reply_ = Bits<1>(reply);
  }

 private:
  Bits<1> inside_, of_reply_;  // a frame is under way; it is a reply
  Bits<1> owed_;               // a reply has waited for a RoCE frame
};

}  // namespace tx
}  // namespace hw
