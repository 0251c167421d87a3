// Holds the lengths of a RoCE v2 packet against each other and cuts the frame to what the IP header claims.
//
// Everything behind finds the ICRC, the pad and the payload by these lengths, so they are checked first, before the
// ICRC (docs/protocol.md rows 35 and 44): IP total length, UDP length, the headers that the opcode asks for, PadCnt.
// Ethernet padding and trailers after the IP packet are cut off: the beat with the packet's last byte becomes the last
// one and the rest of the frame is swallowed. A packet that lies about its lengths leaves up to the beat that shows it,
// the one with the PadCnt; one that is shorter than it claims leaves as it is. Both are `bad` on the last beat.
#pragma once
#include "../bus/bytes.hpp"
#include "../bus/counter.hpp"
#include "../bus/extension.hpp"
#include "../bus/head.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct L3Length {
  Counter length_errors;
  HW_COUNTERS(length_errors)

  void step(hls::stream<Beat<W>>& in, hls::stream<Beat<W>>& out) {
    if (in.empty() || (!bool(swallow_) && out.full())) return;
    const Beat<W>& x = in.read();
    if (bool(swallow_)) {
      swallow_ = ~x.last;
    } else if (!bool(inside_) && !head_.lacks_one()) {
      collect(x, out);
    } else {
      cut(x, out);
    }
  }

 private:
  enum : int {
    kLengthBits = 13,
    kCountBits = clog2(W / 8 + 1),
    kHeadBeats = beats_of<W>(wire::kBthOffset + 2),
    kHeadBits = kHeadBeats * int(W),
    kBytesBefore = (kHeadBeats - 1) * int(W) / 8,  // the beat that decides
  };
  typedef Bits<kLengthBits> Length;
  // With the largest PMTU and all the headers there are. Larger ones would not fit into `Length`, nor into
  // rx/packet_store.
  static constexpr uint64_t kMaxDatagramBytes = wire::kMinDatagramBytes + wire::kMaxExtBytes + wire::kMaxPayloadBytes;
  // A beat before the one that decides.
  void collect(const Beat<W>& x, hls::stream<Beat<W>>& out) {
    head_.keep(x.data, bool(x.last));
    Beat<W> y = x;
    y.bad = x.last;
    out.write(y);
    if (bool(x.last)) length_errors.inc();
  }

  // The beat with the last byte of the head, or one behind it.
  void cut(const Beat<W>& x, hls::stream<Beat<W>>& out) {
    const bool first = !bool(inside_);
    const Bits<kHeadBits> head = head_.template with_next_at<kHeadBeats - 1>(x.data);
    if (first) head_.keep(x.data, true);
    const bool lies = first && !consistent(head);
    // Of the IP packet; a frame too short for its Ethernet header holds no consistent length either.
    const Length left = first ? wire::load<wire::ip::TotalLength>(head).template to<kLengthBits>() : left_;
    // The packet begins so many bytes behind the beginning of the beat (modulo 2^kLengthBits).
    const Length before = first ? Length(wire::kEthernetBytes) - Length(kBytesBefore) : Length(0);
    const Length bytes = x.bytes.template to<kLengthBits>() - before;
    const bool complete = !bytes.ult(left);
    const bool ends = lies || complete || bool(x.last);
    const bool wrong = lies || (bool(x.last) && !complete);

    Beat<W> y = x;
    y.last = Bits<1>(ends);
    y.bad = Bits<1>(wrong) | (x.bad & x.last);
    if (complete && !lies) {
      y.bytes = (before + left).template to<kCountBits>();
      y.data = keep_bytes(x.data, y.bytes);
    }
    out.write(y);
    if (wrong) length_errors.inc();
    left_ = left - bytes;
    inside_ = Bits<1>(!ends);
    swallow_ = Bits<1>(ends) & ~x.last;
  }

  // Payload and pad fill whole words (IBTA 9.2.3), as all headers do, so a datagram does too: where there is payload,
  // there is room for the pad. An acknowledgement has none.
  template <int N>
  static bool consistent(const Bits<N>& head) {
    const Bits<16> total = wire::load<wire::ip::TotalLength>(head);
    const Bits<8> opcode = wire::load<wire::bth::Opcode>(head);
    const bool pad = bool(wire::load<wire::bth::Flags>(head).template get<4, 2>());
    const bool room = by_extension(wire::extended_bytes(opcode), Room{total, pad});
    const bool bare = total == Bits<16>(wire::kMinDatagramBytes + wire::kAethBytes);
    return wire::load<wire::udp::Length>(head) == total - Bits<16>(wire::kIpBytes) && room &&
           !Bits<16>(kMaxDatagramBytes).ult(total) && !bool(total.template get<0, 2>()) &&
           (!wire::is(opcode, wire::kAcknowledge) || bare);
  }

  // Whether a datagram is long enough for EXTENDED bytes of extended header, and longer when it has a pad.
  struct Room {
    Bits<16> total;
    bool pad;
    template <int EXTENDED>
    bool at() const {
      const Bits<16> headers(wire::kMinDatagramBytes + EXTENDED);
      return !total.ult(headers) && !(pad && total == headers);
    }
  };

  Head<W, kHeadBeats> head_;
  Bits<1> inside_, swallow_;  // a packet whose head was good; the rest of a frame
  Length left_;               // bytes of the packet that have not come yet
};

}  // namespace rx
}  // namespace hw
