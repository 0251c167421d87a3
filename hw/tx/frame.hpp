// Joins the header of a packet and its payload into a frame, which lacks only its ICRC.
#pragma once
#include "../tokens.hpp"

namespace hw {
namespace tx {

// The payload moves up by the length of the header; the header bytes of the beat in which the payload begins are held
// as if they were the end of a payload beat before it, so that every beat is one shift of two neighbours. A pad of
// zeros makes the payload a multiple of four bytes (IBTA 9.2.5). One beat leaves in every cycle, across packets too;
// the only extra cycle is the one in which the last bytes spill into a beat of their own.
template <unsigned W>
struct Frame {
  static_assert(W == 512 || W == 1024, "the headers must end in the first two beats");

  void step(hls::stream<TxFrame>& frames, hls::stream<Beat<W>>& payload, hls::stream<Beat<W>>& out) {
    if (out.full()) return;
    if (bool(tail_)) {
      out.write(beat(joined(Bits<W>(0)), tail_bytes_, true));
      tail_ = Bits<1>(0);
      return;
    }
    if (!bool(body_)) {
      if (frames.empty()) return;
      if (begin(frames.read(), out)) return;
    }
    if (payload.empty()) return;
    move(payload.read(), out);
  }

 private:
  enum : int {
    kBytes = W / 8,
    kCountBits = clog2(W / 8 + 1),
    kWithBth = wire::kExtOffset,
    kWithAeth = wire::kExtOffset + wire::kAethBytes,
    kWithReth = wire::kExtOffset + wire::kRethBytes,
  };
  typedef Bits<kCountBits> Count;
  typedef Bits<kCountBits + 1> Position;  // of a byte in two beats

  // The three lengths differ in one bit each.
  static_assert((kWithReth & 64) && !(kWithAeth & 64) && !(kWithBth & 64) && (kWithAeth & 8) && !(kWithBth & 8), "");
  static bool has_reth(const Bits<7>& header) { return bool(header.get<6, 1>()); }
  static bool has_aeth(const Bits<7>& header) { return !has_reth(header) && bool(header.get<3, 1>()); }

  // Takes a header. True when a beat has left with it; else the first payload beat may join it in the same cycle.
  bool begin(const TxFrame& f, hls::stream<Beat<W>>& out) {
    const bool spills = has_reth(f.header) && kWithReth > kBytes;
    header_ = f.header;
    tag_ = f.tag;
    hold_ = has_reth(f.header)   ? ending_at<kWithReth>(f)
            : has_aeth(f.header) ? ending_at<kWithAeth>(f)
                                 : ending_at<kWithBth>(f);
    body_ = f.body;
    tail_ = Bits<1>(spills && !bool(f.body));
    tail_bytes_ = Count(kWithReth % kBytes);
    if (!spills && bool(f.body)) return false;
    out.write(beat(f.bytes.template to<W>(), spills ? Count(kBytes) : f.header.template to<kCountBits>(), !spills));
    return true;
  }

  void move(const Beat<W>& x, hls::stream<Beat<W>>& out) {
    const Position words = (x.bytes.template to<kCountBits + 1>() + Position(3)).template shr<2>();
    const Position end = offset() + words.template shl<2>();
    const bool fits = !Position(kBytes).ult(end);
    const bool done = bool(x.last) && fits;
    out.write(beat(joined(x.data), done ? end.template to<kCountBits>() : Count(kBytes), done));
    hold_ = x.data;
    body_ = ~x.last;
    tail_ = Bits<1>(bool(x.last) && !fits);
    tail_bytes_ = (end - Position(kBytes)).template to<kCountBits>();
  }

  // The W bits of a header that end with its byte LENGTH - 1.
  template <int LENGTH>
  static Bits<W> ending_at(const TxFrame& f) {
    return cat(f.bytes, Bits<W>(0)).template get<LENGTH * 8, W>();
  }

  // Where in a beat the payload begins.
  Position offset() const {
    return Position(has_reth(header_)   ? uint64_t(kWithReth % kBytes)
                    : has_aeth(header_) ? uint64_t(kWithAeth % kBytes)
                                        : uint64_t(kWithBth % kBytes));
  }

  // The end of the held beat, followed by the beginning of `next`.
  Bits<W> joined(const Bits<W>& next) const {
    return has_reth(header_)   ? Bits<W>::template funnel<W - kWithReth * 8 % W>(hold_, next)
           : has_aeth(header_) ? Bits<W>::template funnel<W - kWithAeth * 8 % W>(hold_, next)
                               : Bits<W>::template funnel<W - kWithBth * 8 % W>(hold_, next);
  }

  Beat<W> beat(const Bits<W>& data, const Count& bytes, bool last) const {
    Beat<W> o;
    o.data = data;
    o.bytes = bytes;
    o.last = Bits<1>(last);
    o.tag = tag_;
    return o;
  }

  Bits<1> body_;      // payload beats of the packet are to come
  Bits<1> tail_;      // the end of the held beat is the end of the frame
  Count tail_bytes_;  // and has so many bytes, pad included
  Bits<W> hold_;      // the beat before the next one
  Bits<7> header_;    // bytes of header
  Tag tag_;
};

}  // namespace tx
}  // namespace hw
