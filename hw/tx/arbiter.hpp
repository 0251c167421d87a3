// Merges what the responder and what the requester send into one order of sending.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// They take turns while both wait, packet by packet: neither a peer that reads nor the requests of this host can
// silence the other side. A response that finds the link idle goes first, because a peer's window waits for it.
struct Arbiter {
  void step(hls::stream<TxPacket>& responses, hls::stream<TxPacket>& requests, hls::stream<TxPacket>& out) {
    if (out.full()) return;
    const bool responds = !responses.empty() && (requests.empty() || !bool(was_response_));
    if (!responds && requests.empty()) return;
    if (responds) {
      out.write(responses.read());
    } else {
      out.write(requests.read());
    }
    was_response_ = Bits<1>(responds);
  }

 private:
  Bits<1> was_response_;  // the last packet
};

}  // namespace tx
}  // namespace hw
