// Parts a frame into its headers, one token, and its payload, re-aligned so that its first byte is byte 0 of a beat.
#pragma once
#include "../bus/bytes.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// The payload begins behind the BTH and the extended header of the opcode, and its length comes from the IP header:
// pad and ICRC are cut by it, not by the end of the frame. What the header token says of the payload (`body`) is what
// the beats show: a frame that ends before its payload has none, and one that ends inside its payload has a shorter
// one, whatever rx/l3_length made of it. The last bytes of a packet leave while the first beat of the next one is
// taken, so that packets follow each other without a bubble.
//
// What the next step needs is kept short for the clock: lengths are read off the first beat, and the payload that is
// left only counts down by whole beats; all the rest is on the way to an output, which may take longer (rule 9).
template <unsigned W>
struct HeaderSplit {
  static_assert(W == 512 || W == 1024, "the BTH must lie in the first beat, all headers in two");

  void step(hls::stream<Beat<W>>& in, hls::stream<RxHeader>& headers, hls::stream<Beat<W>>& payload) {
    const bool flush = bool(ended_) && left_ != PacketBytes(0) && skip().ult(bytes_);
    if ((flush || bool(second_) || bool(body_)) && payload.full()) return;
    const bool take = !in.empty() && (bool(body_) || !headers.full());
    if (flush) {
      payload.write(cut(Bits<W>(0), bytes_.template to<13>(), true, tag_));
      ended_ = Bits<1>(0);
    }
    if (!take) return;
    const Beat<W>& x = in.read();
    if (bool(body_)) {
      continue_body(x, payload);
    } else if (bool(second_)) {
      second_beat(x, headers, payload);
    } else {
      first_beat(x, headers);
    }
  }

 private:
  enum { kBytes = W / 8, kCountBits = clog2(W / 8 + 1), kHeaderBits = wire::kMaxHeaderBytes * 8 };
  typedef Bits<kCountBits> Count;

  void first_beat(const Beat<W>& x, hls::stream<RxHeader>& headers) {
    const bool complete = kHeaderBits <= W || bool(x.last);
    ext_ = wire::extended_bytes(wire::load<wire::bth::Opcode>(x.data));
    left_ = payload_bytes(x.data);
    if (complete && kHeaderBits > W && ext_ == Bits<5>(wire::kRethBytes)) left_ = PacketBytes(0);
    if (complete) announce(x.data.template to<kHeaderBits>(), skip().ult(x.bytes), x.tag, headers);
    hold(x);
    second_ = Bits<1>(!complete);
    body_ = Bits<1>(complete && !bool(x.last));
  }

  void second_beat(const Beat<W>& x, hls::stream<RxHeader>& headers, hls::stream<Beat<W>>& payload) {
    const bool begins_here = ext_ == Bits<5>(wire::kRethBytes);
    const Bits<kHeaderBits> bytes = cat(x.data.template get<0, 48>(), hold_).template to<kHeaderBits>();
    announce(bytes, !begins_here || skip().ult(x.bytes), x.tag, headers);
    second_ = Bits<1>(0);
    if (begins_here) {
      hold(x);
      body_ = ~x.last;
    } else {
      continue_body(x, payload);
    }
  }

  // By the IP header (IBTA A17.3.1), modulo 2^13.
  static PacketBytes payload_bytes(const Bits<W>& frame) {
    const Bits<5> ext = wire::extended_bytes(wire::load<wire::bth::Opcode>(frame));
    const Bits<2> pad = wire::load<wire::bth::Flags>(frame).template get<4, 2>();
    const PacketBytes overhead = PacketBytes(wire::kMinDatagramBytes) + ext.template to<13>() + pad.template to<13>();
    return wire::load<wire::ip::TotalLength>(frame).template get<0, 13>() - overhead;
  }

  // Writes the header token; `reached`: the frame has a byte where its payload begins.
  void announce(const Bits<kHeaderBits>& bytes, bool reached, const Tag& tag, hls::stream<RxHeader>& headers) {
    RxHeader h;
    h.bytes = bytes;
    h.payload = reached ? left_ : PacketBytes(0);
    h.body = Bits<1>(h.payload != PacketBytes(0));
    h.tag = tag;
    headers.write(h);
  }

  void continue_body(const Beat<W>& x, hls::stream<Beat<W>>& payload) {
    const bool more = PacketBytes(kBytes).ult(left_);
    if (left_ != PacketBytes(0)) {
      const bool last = !more || (bool(x.last) && !skip().ult(x.bytes));
      payload.write(cut(x.data, x.bytes.template to<13>() + PacketBytes(kBytes), last, x.tag));
    }
    left_ = more ? left_ - PacketBytes(kBytes) : PacketBytes(0);
    hold(x);
    body_ = ~x.last;
  }

  void hold(const Beat<W>& x) {
    hold_ = x.data;
    bytes_ = x.bytes;
    tag_ = x.tag;
    ended_ = x.last;
  }

  // Where in a beat the payload is cut.
  Count skip() const {
    return Count(ext_ == Bits<5>(wire::kRethBytes)   ? uint64_t(kSkipReth)
                 : ext_ == Bits<5>(wire::kAethBytes) ? uint64_t(kSkipAeth)
                                                     : uint64_t(kSkipBth));
  }

  // A payload beat: the end of the held beat and the beginning of `next`, of which together `present` bytes are there.
  Beat<W> cut(const Bits<W>& next, const PacketBytes& present, bool last, const Tag& tag) const {
    const PacketBytes at_hand = smaller(present - skip().template to<13>(), PacketBytes(kBytes));
    Beat<W> o;
    o.data = ext_ == Bits<5>(wire::kRethBytes)   ? Bits<W>::template funnel<kSkipReth * 8>(hold_, next)
             : ext_ == Bits<5>(wire::kAethBytes) ? Bits<W>::template funnel<kSkipAeth * 8>(hold_, next)
                                                 : Bits<W>::template funnel<kSkipBth * 8>(hold_, next);
    o.bytes = smaller(left_, at_hand).template to<kCountBits>();
    if (last) o.data = keep_bytes(o.data, o.bytes);
    o.last = Bits<1>(last);
    o.tag = tag;
    return o;
  }

  enum : int {
    kSkipBth = wire::kExtOffset % kBytes,
    kSkipAeth = (wire::kExtOffset + wire::kAethBytes) % kBytes,
    kSkipReth = (wire::kExtOffset + wire::kRethBytes) % kBytes,
  };

  Bits<1> second_;    // the next beat is the second one of a frame and completes its headers
  Bits<1> body_;      // the next beat belongs to a frame whose header token is out
  Bits<W> hold_;      // the beat before the next one
  Count bytes_;       // and how many bytes it has
  Bits<1> ended_;     // it was the last one of its frame: what it has of the payload leaves without a next one
  Tag tag_;           // of its packet
  PacketBytes left_;  // payload bytes that are not out yet
  Bits<5> ext_;       // extended header bytes of the packet
};

}  // namespace rx
}  // namespace hw
