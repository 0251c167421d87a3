// Drives every operation of a body of Bits over many widths and positions with random operands. What comes out is
// handed to a transcript; two bodies are equal when their transcripts are. C++17, all bodies.
#pragma once
#include <stdint.h>

#include <random>
#include <utility>

namespace vocabulary {

// Widths around every boundary between words, and some more in between, up to 1088.
constexpr int kEdges[] = {1, 2, 3, 7, 8, 13, 16, 24, 31, 32, 33, 48, 63, 64};
constexpr int kEdgeCount = sizeof kEdges / sizeof *kEdges;
constexpr int kWidths = kEdgeCount + 22;
constexpr unsigned hash(unsigned a, unsigned b) {
  unsigned x = (a + 1) * 2654435761u ^ (b + 7) * 2246822519u;
  x = (x ^ (x >> 15)) * 2246822519u;
  return x ^ (x >> 13);
}
constexpr int width(int i) {
  if (i < kEdgeCount) return kEdges[i];
  const int k = i - kEdgeCount;
  constexpr int around[] = {65, 127, 128, 129, 191, 192, 193, 320, 448, 511, 512, 513, 1023, 1024, 1025, 1087, 1088};
  constexpr int count = sizeof around / sizeof *around;
  return k < count ? around[k] : 66 + int(hash(unsigned(k), 99) % 1020);
}

template <template <int> class B, int N, class Transcript>
class Exercise {
 public:
  Exercise(Transcript& out, uint64_t seed) : out_(out), random_(seed * 2000 + N) {}

  void run(int rounds) {
    for (int i = 0; i < rounds; i++) {
      const B<N> a = operand<N>(), b = operand<N>();
      arithmetic(a, b);
      narrow(a, b);
      positions(a, b, std::make_integer_sequence<int, 4>());
      indexed(a);
    }
  }

 private:
  Transcript& out_;
  std::mt19937_64 random_;

  template <class T>
  void say(const char* what, const T& value) {
    out_.template add<N>(what, value);
  }

  // Random, sparse, near zero or near all ones: carries and borrows run far.
  template <int M>
  B<M> operand() {
    B<M> x;
    const unsigned kind = unsigned(random_() % 4);
    for (int i = 0; i < (M + 63) / 64; i++) {
      const uint64_t word = kind == 0 ? random_() : kind == 1 ? uint64_t(1) << random_() % 64 : 0;
      x = x.template shl<64>() | B<M>(word);
    }
    if (kind == 2) x = B<M>(random_() % 3);
    if (kind == 3) x = ~B<M>(random_() % 3);
    return x;
  }

  void arithmetic(const B<N>& a, const B<N>& b) {
    say("a", a);
    say("+", a + b);
    say("-", a - b);
    say("&", a & b);
    say("|", a | b);
    say("^", a ^ b);
    say("~", ~a);
    say("==", B<1>(a == b));
    say("== itself", B<1>(a == a + B<N>(0)));
    say("!=", B<1>(a != b));
    say("ult", B<1>(a.ult(b)));
    say("ult itself", B<1>(a.ult(a)));
    say("bool", B<1>(bool(a)));
    say("bool of zero", B<1>(bool(a ^ a)));
    say("parity", a.parity());
    say("default", B<N>());
  }

  void narrow(const B<N>& a, const B<N>& b) {
    if constexpr (N <= 64) {
      say("*", a * b);
      say("u64", B<64>(a.u64()));
      if constexpr (N % 8 == 0) say("reversed_bytes", a.reversed_bytes());
    }
  }

  template <int... K>
  void positions(const B<N>& a, const B<N>& b, std::integer_sequence<int, K...>) {
    (position<K>(a, b), ...);
  }
  // Constant positions: the ends for K = 0 and 1, scattered ones for the others.
  template <int K>
  void position(const B<N>& a, const B<N>& b) {
    constexpr int size = K == 0 ? N : K == 1 ? 1 : 1 + int(hash(N, K) % N);
    constexpr int low = K == 1 ? N - 1 : int(hash(N, K + 50) % unsigned(N - size + 1));
    constexpr int shift = K == 0 ? 0 : K == 1 ? N : int(hash(N, K + 100) % unsigned(N));
    constexpr int other = K == 0 ? 64 : 1 + int(hash(N, K + 150) % 1088);
    say("get", a.template get<low, size>());
    B<N> changed = a;
    changed.template set<low>(operand<size>());
    say("set", changed);
    say("shl", a.template shl<shift>());
    say("shr", a.template shr<shift>());
    say("to", a.template to<other>());
    say("back", a.template to<other>().template to<N>());
    if constexpr (N % 64 == 0 && shift < N) say("funnel", B<N>::template funnel<shift>(a, b));
  }

  void indexed(const B<N>& a) {
    const uint64_t k = random_() % 8 == 0 ? random_() % 2048 : random_() % N;
    say("at", a.at(B<11>(k)));
    say("shl by", a.shl(B<11>(k)));
    say("shr by", a.shr(B<11>(k)));
    say("at, narrow index", a.at(B<3>(k)));
    say("shl by, narrow index", a.shl(B<3>(k)));
    say("shr by, wide index", a.shr(B<32>(k)));
  }
};

template <template <int> class B, class Transcript, int... I>
void exercise_widths(Transcript& out, int rounds, std::integer_sequence<int, I...>) {
  (Exercise<B, width(I), Transcript>(out, 1).run(rounds), ...);
}

template <template <int> class B, class Transcript>
void exercise_all(Transcript& out, int rounds) {
  exercise_widths<B>(out, rounds, std::make_integer_sequence<int, kWidths>());
}

}  // namespace vocabulary
