// Merges acknowledgements and data packets into one order of sending.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// Acknowledgements go first, because a peer's window waits for them; data is at least every second packet while it
// waits, so that a busy responder cannot silence the requester beside it.
struct Arbiter {
  void step(hls::stream<TxPacket>& acks, hls::stream<TxPacket>& data, hls::stream<TxPacket>& out) {
    if (out.full()) return;
    const bool take_ack = !acks.empty() && (data.empty() || !bool(was_ack_));
    if (!take_ack && data.empty()) return;
    if (take_ack) {
      out.write(acks.read());
    } else {
      out.write(data.read());
    }
    was_ack_ = Bits<1>(take_ack);
  }

 private:
  Bits<1> was_ack_;  // the last packet was an acknowledgement
};

}  // namespace tx
}  // namespace hw
