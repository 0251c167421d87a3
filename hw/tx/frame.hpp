// Joins the header of a packet and its payload into a frame, which lacks only its ICRC.
#pragma once
#include "../bus/extension.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

// The header leaves beat by beat; the payload moves up by what the header has of the beat in which they meet, and a pad
// of zeros makes it a multiple of four bytes (IBTA 9.2.5). One beat leaves in every cycle, across packets too; the only
// extra cycle is the one in which the last bytes spill into a beat of their own.
template <unsigned W>
struct Frame {
  void step(hls::stream<TxFrame>& frames, hls::stream<Beat<W>>& payload, hls::stream<Beat<W>>& out) {
    if (out.full()) return;
    if (bool(tail_)) return out.write(end(aligned(Bits<W>(0)), tail_bytes_));
    if (!bool(busy_)) {
      if (frames.empty()) return;
      begin(frames.read());
    }
    if (beats_ != Bits<7>(0)) return header_beat(out);
    if (!bool(body_)) return out.write(end(header_.template to<W>(), offset().template to<kCountBits>()));
    if (!payload.empty()) payload_beat(payload.read(), out);
  }

 private:
  enum : int { kBytes = W / 8, kCountBits = clog2(W / 8 + 1), kHeaderBits = wire::kMaxHeaderBytes * 8 };
  static_assert(wire::kExtOffset % 4 == 2, "no header ends with a beat");
  typedef Bits<kCountBits> Count;
  typedef Bits<kCountBits + 1> Position;  // of a byte in two beats

  void begin(const TxFrame& f) {
    busy_ = Bits<1>(1);
    header_ = f.bytes;
    bytes_ = f.header;
    beats_ = f.header.template shr<clog2(kBytes)>();
    body_ = f.body;
    tag_ = f.tag;
  }

  // One that has nothing but header.
  void header_beat(hls::stream<Beat<W>>& out) {
    out.write(beat(header_.template to<W>(), Count(kBytes), false));
    header_ = header_.template shr<W>();
    beats_ = beats_ - Bits<7>(1);
  }

  void payload_beat(const Beat<W>& x, hls::stream<Beat<W>>& out) {
    const Position words = (x.bytes.template to<kCountBits + 1>() + Position(3)).template shr<2>();
    const Position all = offset() + words.template shl<2>();
    const bool fits = !Position(kBytes).ult(all);
    const Bits<W> data = header_.template to<W>() | aligned(x.data);
    if (bool(x.last) && fits) return out.write(end(data, all.template to<kCountBits>()));
    out.write(beat(data, Count(kBytes), false));
    header_ = Bits<kHeaderBits>(0);
    hold_ = x.data;
    tail_ = x.last;
    tail_bytes_ = (all - Position(kBytes)).template to<kCountBits>();
  }

  // The last beat of the frame.
  Beat<W> end(const Bits<W>& data, const Count& bytes) {
    busy_ = tail_ = Bits<1>(0);
    header_ = Bits<kHeaderBits>(0);
    hold_ = Bits<W>(0);
    return beat(data, bytes, true);
  }

  // Where in a beat the payload begins.
  Position offset() const { return bytes_.template get<0, clog2(kBytes)>().template to<kCountBits + 1>(); }

  // The end of the held beat, which the payload before `next` has filled, and the beginning of `next`.
  Bits<W> aligned(const Bits<W>& next) const {
    return by_extension((bytes_ - Bits<7>(wire::kExtOffset)).template to<5>(), Aligned{hold_, next});
  }
  struct Aligned {
    const Bits<W>& hold;
    const Bits<W>& next;
    template <int EXTENDED>
    Bits<W> at() const {
      return Bits<W>::template funnel<W - (wire::kExtOffset + EXTENDED) * 8 % W>(hold, next);
    }
  };

  Beat<W> beat(const Bits<W>& data, const Count& bytes, bool last) const {
    Beat<W> o;
    o.data = data;
    o.bytes = bytes;
    o.last = Bits<1>(last);
    o.tag = tag_;
    return o;
  }

  Bits<1> busy_;              // a packet is under way
  Bits<1> body_;              // and has payload
  Bits<1> tail_;              // the end of the held beat is the end of the frame
  Count tail_bytes_;          // and has so many bytes, pad included
  Bits<kHeaderBits> header_;  // what of it is not out yet, zero behind its end
  Bits<7> bytes_;             // of all of it
  Bits<7> beats_;             // that are to come and hold nothing else
  Bits<W> hold_;              // the payload beat before the next one, zero before the first
  Tag tag_;
};

}  // namespace tx
}  // namespace hw
