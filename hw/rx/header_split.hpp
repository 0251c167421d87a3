// Parts a frame into its headers, one token, and its payload, re-aligned so that its first byte is byte 0 of a beat.
#pragma once
#include "../bus/bytes.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

// The payload begins behind the BTH and the extended header of the opcode, and its length comes from the IP header:
// pad and ICRC are cut by it, not by the end of the frame. What the header token says of the payload (`body`) is what
// the beats show: a length that cannot be, or a frame that ends before its payload, has none, and a frame that ends
// inside its payload gets a shorter one. The last bytes of a packet leave while the first beat of the next one is
// taken, so that packets follow each other without a bubble.
template <unsigned W>
struct HeaderSplit {
  static_assert(W == 512 || W == 1024, "the BTH must lie in the first beat, all headers in two");

  void step(hls::stream<Beat<W>>& in, hls::stream<RxHeader>& headers, hls::stream<Beat<W>>& payload) {
    if ((bool(flush_) || bool(second_) || bool(body_)) && payload.full()) return;
    const bool take = !in.empty() && (bool(body_) || !headers.full());
    if (bool(flush_)) {
      payload.write(cut(Bits<W>(0), left_.template to<kCountBits>(), true, tag_));
      flush_ = Bits<1>(0);
    }
    if (!take) return;
    const Beat<W>& x = in.read();
    if (bool(body_)) {
      continue_body(x, left_, payload);
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
    if (kHeaderBits > W && !bool(x.last)) {
      hold_ = x.data;
      second_ = Bits<1>(1);
      return;
    }
    hold(x, announce(x.data.template to<kHeaderBits>(), x.bytes.template to<13>(), x.tag, headers));
  }

  void second_beat(const Beat<W>& x, hls::stream<RxHeader>& headers, hls::stream<Beat<W>>& payload) {
    second_ = Bits<1>(0);
    const Bits<kHeaderBits> bytes = cat(x.data.template get<0, 48>(), hold_).template to<kHeaderBits>();
    const PacketBytes left = announce(bytes, x.bytes.template to<13>() + PacketBytes(kBytes), x.tag, headers);
    if (ext_ == Bits<5>(wire::kRethBytes)) {
      hold(x, left);
    } else {
      continue_body(x, left, payload);
    }
  }

  // Writes the header token, when the last of its bytes lies among the first `seen` bytes of the frame or the frame
  // ends there, and gives the number of payload bytes that are to come.
  PacketBytes announce(const Bits<kHeaderBits>& bytes, const PacketBytes& seen, const Tag& tag,
                       hls::stream<RxHeader>& headers) {
    ext_ = wire::extended_bytes(wire::load<wire::bth::Opcode>(bytes));
    const PacketBytes start = PacketBytes(wire::kExtOffset) + ext_.template to<13>();
    RxHeader h;
    h.bytes = bytes;
    h.payload = start.ult(seen) ? payload_bytes(bytes) : PacketBytes(0);
    h.body = Bits<1>(h.payload != PacketBytes(0));
    h.tag = tag;
    headers.write(h);
    return h.payload;
  }

  // By the IP header; zero when that cannot be.
  PacketBytes payload_bytes(const Bits<kHeaderBits>& bytes) const {
    const Bits<16> pad = wire::load<wire::bth::Flags>(bytes).template get<4, 2>().template to<16>();
    const Bits<16> overhead = Bits<16>(wire::kMinDatagramBytes) + ext_.template to<16>() + pad;
    const Bits<16> total = wire::load<wire::ip::TotalLength>(bytes);
    const Bits<16> payload = total - overhead;
    const bool possible = !total.ult(overhead) && payload.ult(Bits<16>(wire::kMaxPayloadBytes + 1));
    return possible ? payload.template to<13>() : PacketBytes(0);
  }

  void continue_body(const Beat<W>& x, const PacketBytes& left, hls::stream<Beat<W>>& payload) {
    const PacketBytes at_hand = PacketBytes(kBytes) - skip().template to<13>() + x.bytes.template to<13>();
    const PacketBytes now = smaller(smaller(left, at_hand), PacketBytes(kBytes));
    const PacketBytes rest = left - now;
    if (left != PacketBytes(0)) {
      const bool last = rest == PacketBytes(0) || (bool(x.last) && !skip().ult(x.bytes));
      payload.write(cut(x.data, now.template to<kCountBits>(), last, x.tag));
    }
    hold(x, rest);
  }

  // Keeps a beat whose bytes behind the cut belong to the next beat of the payload, which has `left` bytes to come.
  void hold(const Beat<W>& x, const PacketBytes& left) {
    const PacketBytes here = skip().ult(x.bytes) ? (x.bytes - skip()).template to<13>() : PacketBytes(0);
    hold_ = x.data;
    tag_ = x.tag;
    left_ = bool(x.last) ? smaller(left, here) : left;
    body_ = ~x.last;
    flush_ = Bits<1>(bool(x.last) && left_ != PacketBytes(0));
  }

  // Where in a beat the payload is cut.
  Count skip() const {
    return Count(ext_ == Bits<5>(wire::kRethBytes)   ? uint64_t(kSkipReth)
                 : ext_ == Bits<5>(wire::kAethBytes) ? uint64_t(kSkipAeth)
                                                     : uint64_t(kSkipBth));
  }

  // A payload beat of `count` bytes: the end of the held beat and the beginning of `next`.
  Beat<W> cut(const Bits<W>& next, const Count& count, bool last, const Tag& tag) const {
    Beat<W> o;
    o.data = ext_ == Bits<5>(wire::kRethBytes)   ? Bits<W>::template funnel<kSkipReth * 8>(hold_, next)
             : ext_ == Bits<5>(wire::kAethBytes) ? Bits<W>::template funnel<kSkipAeth * 8>(hold_, next)
                                                 : Bits<W>::template funnel<kSkipBth * 8>(hold_, next);
    if (last) o.data = keep_bytes(o.data, count);
    o.bytes = count;
    o.last = Bits<1>(last);
    o.tag = tag;
    return o;
  }

  enum : int {
    kSkipBth = wire::kExtOffset % kBytes,
    kSkipAeth = (wire::kExtOffset + wire::kAethBytes) % kBytes,
    kSkipReth = (wire::kExtOffset + wire::kRethBytes) % kBytes,
  };

  Bits<1> second_;  // the next beat is the second one of a frame and completes its headers
  Bits<1> body_;    // the next beat belongs to a frame whose header token is out
  Bits<1> flush_;   // the held beat has the last payload bytes of a packet
  Bits<W> hold_;    // the beat before the next one
  Tag tag_;
  PacketBytes left_;  // payload bytes that are not out yet
  Bits<5> ext_;       // extended header bytes of the packet
};

}  // namespace rx
}  // namespace hw
