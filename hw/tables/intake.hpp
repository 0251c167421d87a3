// The intake of a table that packets and the control plane both change (rule 3 of the stage contract): one of the two
// is taken a cycle and held until its row is there. Packets go first, but control waits for one packet at most.
#pragma once
#include "../bus/stream.hpp"

namespace hw {
namespace tables {

// `Packet` is the token of the stream, or what is known once it has been looked at without its row: then a type that is
// made from one.
template <class Packet, class Control, class Token = Packet>
struct Intake {
  Packet packet;
  Control control;
  Bits<1> has_packet, has_control;

  // Called when what was held is done with. Afterwards at most one of the flags is set.
  void take(hls::stream<Token>& packets, hls::stream<Control>& controls) {
    const bool packet_waits = !packets.empty();
    const bool control_turn = !controls.empty() && !(packet_waits && !bool(has_packet));
    if (control_turn) {
      control = controls.read();
    } else if (packet_waits) {
      packet = Packet(packets.read());
    }
    has_packet = Bits<1>(packet_waits && !control_turn);
    has_control = Bits<1>(control_turn);
  }
};

}  // namespace tables
}  // namespace hw
