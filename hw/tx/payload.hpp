// Asks the host for the payload of a packet.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// The data comes back in the order of the commands and meets its header in tx/frame.
struct Payload {
  void step(hls::stream<TxRouted>& in, hls::stream<TxRouted>& out, hls::stream<DmaCommand>& command) {
    if (in.empty() || out.full() || command.full()) return;
    const TxRouted& r = in.read();
    if (r.packet.payload != PacketBytes(0)) command.write(command_of(r.packet));
    out.write(r);
  }

 private:
  static DmaCommand command_of(const TxPacket& p) {
    DmaCommand c;
    c.address = p.local_address;
    c.bytes = p.payload;
    c.tag = p.tag;
    return c;
  }
};

}  // namespace tx
}  // namespace hw
