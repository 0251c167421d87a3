// The intake of a table that packets, the control plane and, in some, events of another stage change (rule 3 of the
// stage contract): one of them is taken a cycle and held until its row is there. Packets go first where nothing was
// held; behind each of the three the others have their turn, so that each waits for one of either other at most.
#pragma once
#include "../bus/stream.hpp"

namespace hw {
namespace tables {

struct NoEvent {};

// `Packet` is the token of the stream, or what is known once it has been looked at without its row: then a type that is
// made from one.
template <class Packet, class Control, class Token = Packet, class Event = NoEvent>
struct Intake {
  Packet packet;
  Control control;
  Event event;
  Bits<1> has_packet, has_control, has_event;

  bool holds() const { return bool(has_packet | has_control | has_event); }
  // Called when what was held is done with. Afterwards at most one of the flags is set.
  void take(hls::stream<Token>& packets, hls::stream<Control>& controls) {
    choose(!packets.empty(), !controls.empty(), false);
    read(packets, controls);
  }
  // `open`: events may be taken.
  void take(hls::stream<Token>& packets, hls::stream<Control>& controls, hls::stream<Event>& events, bool open = true) {
    choose(!packets.empty(), !controls.empty(), open && !events.empty());
    read(packets, controls);
    if (bool(has_event)) event = events.read();
  }

 private:
  // Behind a packet: control, event, packet. Behind control: event, packet, control. Else: packet, control, event.
  void choose(bool packet_waits, bool control_waits, bool event_waits) {
    const bool behind_packet = bool(has_packet), behind_control = bool(has_control);
    const bool control_turn = control_waits && (behind_packet || !(packet_waits || (behind_control && event_waits)));
    const bool event_turn = event_waits && !control_turn && (behind_packet || behind_control || !packet_waits);
    has_packet = Bits<1>(packet_waits && !control_turn && !event_turn);
    has_control = Bits<1>(control_turn);
    has_event = Bits<1>(event_turn);
  }
  void read(hls::stream<Token>& packets, hls::stream<Control>& controls) {
    if (bool(has_packet)) packet = Packet(packets.read());
    if (bool(has_control)) control = controls.read();
  }
};

}  // namespace tables
}  // namespace hw
