// The invariant CRC of RoCE v2, beat by beat (IBTA annex A17.3.3; docs/protocol.md C).
//
// Every beat is taken as whole, its unused bytes being zero (rule 6), so the register of a packet's last beat has
// run over too many zero bytes. The receiver does not mind, it only compares with a constant that depends on how many
// (`is_residue`); the sender takes them back (`take_back`). That keeps shifters out of the recurrence, which is one XOR
// matrix. Ethernet's 14 bytes, outside of the ICRC, are likewise taken as zeros and made good in the start value.
//
// crc_beat and take_back have two bodies each: XOR matrices for synthesis, the processor's own means for simulation.
#pragma once
#include "beat.hpp"
#include "constant.hpp"
#include "crc32_poly.hpp"
#include "head.hpp"
#include "wire.hpp"
#include "xor_matrix.hpp"

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
#include "crc32_fast.hpp"
#endif

namespace hw {
namespace icrc {

typedef Bits<32> Register;

// Before the first beat of a frame.
constexpr uint32_t kStart = crc32::after_zeros(crc32::kResidue, -8 * wire::kEthernetBytes);

template <class F, int W>
inline void set_ones(Bits<W>& frame) {
  wire::store<F>(frame, ~Bits<F::kBits>());
}

// Makes the beginning of a frame what the ICRC sees: what routers and switches may change is taken as ones.
enum : int { kMaskedBytes = wire::kBthOffset + 5 };
template <int N>
inline void mask(Bits<N>& frame) {
  static_assert(N >= kMaskedBytes * 8, "all masked fields");
  frame.template set<0>(Bits<wire::kEthernetBytes * 8>());
  set_ones<wire::ip::Tos>(frame);
  set_ones<wire::ip::Ttl>(frame);
  set_ones<wire::ip::Checksum>(frame);
  set_ones<wire::udp::Checksum>(frame);
  set_ones<wire::bth::Reserved8a>(frame);
}

// The same for a beat alone, the one at `place` in its frame; PLACE and those before it.
template <int W, int PLACE = beats_of<W>(kMaskedBytes) - 1>
struct BeatMask {
  enum { kBits = beats_of<W>(kMaskedBytes) * W };

  template <int M>
  static void apply(const Bits<M>& place, Bits<W>& beat) {
    if (place == Bits<M>(PLACE)) {
      Bits<kBits> frame;
      frame.template set<PLACE * W>(beat);
      mask(frame);
      beat = frame.template get<PLACE * W, W>();
    } else {
      BeatMask<W, PLACE - 1>::apply(place, beat);
    }
  }
};
template <int W>
struct BeatMask<W, -1> {
  template <int M>
  static void apply(const Bits<M>&, Bits<W>&) {}
};

// A whole beat of W bits, from a register of zero.
template <int W>
struct BeatMatrix : XorMatrix<W, 32> {
  constexpr BeatMatrix() {
    uint32_t column = crc32::after_zeros(1, 1);  // the last bit; one step more for every bit behind it
    for (int bit = W - 1; bit >= 0; bit--) {
      this->set_column(bit, column);
      column = crc32::after_zeros(column, 1);
    }
  }
};

// The residue with 0 .. W/8-1 zero bytes behind it.
template <int W>
struct ResidueTable {
  uint32_t after[W / 8];

  constexpr ResidueTable() : after{} {
    for (int i = 0; i < W / 8; i++) after[i] = crc32::after_zeros(crc32::kResidue, 8 * i);
  }
};

// How many bytes of a beat with `bytes` (1 .. W/8) valid ones are unused.
template <int W>
inline Bits<clog2(W / 8)> unused(const Bits<clog2(W / 8 + 1)>& bytes) {
  return (Bits<clog2(W / 8 + 1)>(W / 8) - bytes).template get<0, clog2(W / 8)>();
}

// The body for synthesis of crc_beat: one XOR matrix.
template <int W>
inline Register crc_beat_by_matrix(const Register& state, const Bits<W>& data) {
  return Constant<BeatMatrix<W>>::value.times(data ^ state.template to<W>());
}

// The register after all W/8 bytes of a beat.
template <int W>
inline Register crc_beat(const Register& state, const Bits<W>& data) {
#if defined(HW_LOWER) || defined(__SYNTHESIS__)
  return crc_beat_by_matrix(state, data);
#else
  return Register(crc32::words<W / 64>(uint32_t(state.u64()), data.w));
#endif
}

// Takes BYTES zero bytes back.
template <int BYTES>
struct TakeBackMatrix : XorMatrix<32, 32> {
  constexpr TakeBackMatrix() {
    for (int bit = 0; bit < 32; bit++) set_column(bit, crc32::after_zeros(uint32_t(1) << bit, -8 * BYTES));
  }
};

// The body for synthesis of take_back: by powers of two, the lower BITS bits of `zero_bytes`.
template <int BITS, int M>
struct TakeBackByMatrix {
  static Register from(const Register& state, const Bits<M>& zero_bytes) {
    const Register rest = TakeBackByMatrix<BITS - 1, M>::from(state, zero_bytes);
    const bool some = bool(zero_bytes.template get<BITS - 1, 1>());
    return some ? Constant<TakeBackMatrix<(1 << (BITS - 1))>>::value.times(rest) : rest;
  }
};
template <int M>
struct TakeBackByMatrix<0, M> {
  static Register from(const Register& state, const Bits<M>&) { return state; }
};

// x^(-8 n): what the register is multiplied by to take n zero bytes back.
template <int M>
struct TakeBackTable {
  uint32_t factor[1 << M];

  constexpr TakeBackTable() : factor{} {
    for (int n = 0; n < 1 << M; n++) factor[n] = crc32::power_of_x(-8 * n);
  }
};

// The register as it was before its last `zero_bytes` bytes, which were zero.
template <int M>
inline Register take_back(const Register& state, const Bits<M>& zero_bytes) {
#if defined(HW_LOWER) || defined(__SYNTHESIS__)
  return TakeBackByMatrix<M, M>::from(state, zero_bytes);
#else
  const uint32_t factor = Constant<TakeBackTable<M>>::value.factor[zero_bytes.u64()];
  return Register(crc32::multiply(uint32_t(state.u64()), factor));
#endif
}

// Whether the register after crc_beat() of a last beat with so many `unused` bytes tells of a right ICRC.
template <int W>
inline bool is_residue(const Register& state, const Bits<clog2(W / 8)>& unused) {
  return state == Register(Constant<ResidueTable<W>>::value.after[unused.u64()]);
}

// The ICRC over the frames of a bus, as state of a stage. After the last beat of a frame `state` is that frame's.
template <unsigned W>
struct Running {
  Register state;

  void take(const Beat<W>& x) {
    Bits<W> covered = x.data;
    BeatMask<W>::apply(place_, covered);
    if (place_ == Place(0)) state = Register(kStart);
    state = crc_beat(state, covered);
    if (place_ != Place(kMaskedBeats)) place_ = place_ + Place(1);
    if (bool(x.last)) place_ = Place(0);
  }

 private:
  enum { kMaskedBeats = beats_of<W>(kMaskedBytes) };
  typedef Bits<clog2(kMaskedBeats + 1)> Place;
  Place place_;  // of the next beat in its frame, kMaskedBeats for all that have nothing masked
};

}  // namespace icrc
}  // namespace hw
