// Parts a frame into its headers, one token, and its payload, re-aligned so that its first byte is byte 0 of a beat.
#pragma once
#include "../bus/bytes.hpp"
#include "../bus/extension.hpp"
#include "../bus/head.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// The payload begins behind the BTH and the extended header of the opcode, and its length comes from the IP header:
// pad and ICRC are cut by it, not by the end of the frame. The header token leaves with the beat in which the payload
// begins. What it says of the payload (`body`) is what the beats show: a frame that ends before its payload has none,
// and one that ends inside its payload has a shorter one, whatever rx/l3_length made of it. The last bytes of a packet
// leave while the first beat of the next one is taken, so that packets follow each other without a bubble.
//
// What the next step needs is kept short for the clock: lengths are read as soon as the opcode is there, and the
// payload that is left only counts down by whole beats; all the rest is on the way to an output, which may take longer
// (rule 9).
template <unsigned W>
struct HeaderSplit {
  void step(hls::stream<Beat<W>>& in, hls::stream<RxHeader>& headers, hls::stream<Beat<W>>& payload) {
    if ((bool(ended_) || bool(body_)) && payload.full()) return;
    if (bool(ended_) && left_ != PacketBytes(0)) {
      payload.write(cut(Bits<W>(0), bytes_.template to<13>(), true, tag_));
    }
    ended_ = Bits<1>(0);
    if (in.empty() || (!bool(body_) && headers.full())) return;
    const Beat<W>& x = in.read();
    if (bool(body_)) {
      continue_body(x, payload);
    } else {
      continue_head(x, headers);
    }
  }

 private:
  enum : int {
    kBytes = W / 8,
    kCountBits = clog2(kBytes + 1),
    kHeadBeats = beats_of<W>(wire::kMaxHeaderBytes),
    kHeadBits = kHeadBeats * W,
    kOpcodeBeat = wire::kBthOffset / kBytes,  // TotalLength lies before the opcode, PadCnt right behind it
  };
  typedef Bits<kCountBits> Count;

  void continue_head(const Beat<W>& x, hls::stream<RxHeader>& headers) {
    const Bits<kHeadBits> head = head_.with_next(x.data);
    const Bits<7> beat = head_.count().template to<7>();
    if (beat == Bits<7>(kOpcodeBeat)) {
      read_lengths(head_.template with_next_at<kOpcodeBeat>(x.data));
    }
    const bool complete = beat == by_extension(ext_, WholeBeats());
    const bool ends = complete || bool(x.last);
    if (ends) announce(head, complete && reaches_payload(x), x.tag, headers);
    head_.keep(x.data, ends);
    body_ = Bits<1>(complete) & ~x.last;
    hold(x);
    ended_ = Bits<1>(complete && reaches_payload(x)) & x.last;
  }

  // The payload's by the IP header (IBTA A17.3.1), modulo 2^13.
  template <int N>
  void read_lengths(const Bits<N>& head) {
    ext_ = wire::extended_bytes(wire::load<wire::bth::Opcode>(head));
    const Bits<2> pad = wire::load<wire::bth::Flags>(head).template get<4, 2>();
    const PacketBytes total = wire::load<wire::ip::TotalLength>(head).template get<0, 13>();
    left_ = by_extension(ext_, BehindHeaders{total, pad.template to<13>()});
  }
  // A difference for each length, so that they are there when the opcode has been read. The pad is not added: headers
  // are whole words.
  struct BehindHeaders {
    PacketBytes total, pad;
    template <int EXTENDED>
    PacketBytes at() const {
      return total - (PacketBytes(wire::kMinDatagramBytes + EXTENDED) | pad);
    }
  };

  // Writes the header token; `reached`: the frame has a byte where its payload begins.
  void announce(const Bits<kHeadBits>& head, bool reached, const Tag& tag, hls::stream<RxHeader>& headers) {
    RxHeader h;
    h.bytes = head.template to<wire::kMaxHeaderBytes * 8>();
    h.payload = reached ? left_ : PacketBytes(0);
    h.body = Bits<1>(h.payload != PacketBytes(0));
    h.tag = tag;
    headers.write(h);
  }

  void continue_body(const Beat<W>& x, hls::stream<Beat<W>>& payload) {
    const bool more = PacketBytes(kBytes).ult(left_);
    if (left_ != PacketBytes(0)) {
      const bool last = !more || (bool(x.last) && !reaches_payload(x));
      payload.write(cut(x.data, x.bytes.template to<13>() + PacketBytes(kBytes), last, x.tag));
    }
    left_ = more ? left_ - PacketBytes(kBytes) : PacketBytes(0);
    body_ = ~x.last;
    hold(x);
    ended_ = Bits<1>(reaches_payload(x)) & x.last;
  }

  void hold(const Beat<W>& x) {
    hold_ = x.data;
    bytes_ = x.bytes;
    tag_ = x.tag;
  }

  // The header fills so many beats, and so many bytes of one more: where the payload is cut.
  struct WholeBeats {
    template <int EXTENDED>
    Bits<7> at() const {
      return Bits<7>((wire::kExtOffset + EXTENDED) / kBytes);
    }
  };
  struct Skip {
    template <int EXTENDED>
    Count at() const {
      return Count((wire::kExtOffset + EXTENDED) % kBytes);
    }
  };
  struct Reaches {
    const Count& bytes;
    template <int EXTENDED>
    bool at() const {
      return Count((wire::kExtOffset + EXTENDED) % kBytes).ult(bytes);
    }
  };
  Count skip() const { return by_extension(ext_, Skip()); }
  // Whether a beat goes beyond the cut.
  bool reaches_payload(const Beat<W>& x) const { return by_extension(ext_, Reaches{x.bytes}); }

  // A payload beat: the end of the held beat and the beginning of `next`, of which together `present` bytes are there.
  Beat<W> cut(const Bits<W>& next, const PacketBytes& present, bool last, const Tag& tag) const {
    const PacketBytes at_hand = smaller(present - skip().template to<13>(), PacketBytes(kBytes));
    Beat<W> o;
    o.data = by_extension(ext_, Aligned{hold_, next});
    o.bytes = smaller(left_, at_hand).template to<kCountBits>();
    if (last) o.data = keep_bytes(o.data, o.bytes);
    o.last = Bits<1>(last);
    o.tag = tag;
    return o;
  }
  struct Aligned {
    const Bits<W>& hold;
    const Bits<W>& next;
    template <int EXTENDED>
    Bits<W> at() const {
      return Bits<W>::template funnel<(wire::kExtOffset + EXTENDED) % kBytes * 8>(hold, next);
    }
  };

  Head<W, kHeadBeats> head_;
  Bits<1> body_;      // the next beat belongs to a frame whose header token is out
  Bits<W> hold_;      // the beat before the next one
  Count bytes_;       // and how many bytes it has
  Bits<1> ended_;     // it ended its frame, beyond the cut: what is left of the payload leaves without a next one
  Tag tag_;           // of its packet
  PacketBytes left_;  // payload bytes that are not out yet
  Bits<5> ext_;       // extended header bytes of the packet
};

}  // namespace rx
}  // namespace hw
