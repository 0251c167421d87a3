// HW_EACH_PORT(M, stage, IN(a), OUT(b), ...) expands to M(stage, 0, in, a) M(stage, 1, out, b) ...: what lists of
// stages are made of. At most twelve ports.
#pragma once

#define HW_EACH_PORT(M, S, ...)                                                                               \
  HW_PICK(__VA_ARGS__, HW_PORTS_12, HW_PORTS_11, HW_PORTS_10, HW_PORTS_9, HW_PORTS_8, HW_PORTS_7, HW_PORTS_6, \
          HW_PORTS_5, HW_PORTS_4, HW_PORTS_3, HW_PORTS_2, HW_PORTS_1, )                                       \
  (M, S, 0, __VA_ARGS__)

#define HW_SPLIT_IN(port) in, port
#define HW_SPLIT_OUT(port) out, port
#define HW_CALL(M, ARGUMENTS) M ARGUMENTS
#define HW_PICK(a, b, c, d, e, f, g, h, i, j, k, l, CHOSEN, ...) CHOSEN

#define HW_PORTS_1(M, S, I, P) HW_CALL(M, (S, I, HW_SPLIT_##P))
#define HW_PORTS_2(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_1(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_3(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_2(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_4(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_3(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_5(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_4(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_6(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_5(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_7(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_6(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_8(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_7(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_9(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_8(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_10(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_9(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_11(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_10(M, S, I + 1, __VA_ARGS__)
#define HW_PORTS_12(M, S, I, P, ...) HW_CALL(M, (S, I, HW_SPLIT_##P)) HW_PORTS_11(M, S, I + 1, __VA_ARGS__)

#include <stddef.h>

#include <tuple>
#include <type_traits>

namespace hw {
namespace synth {

// The type between the parentheses of a list entry, which keep its commas together.
template <class T>
struct Parenthesised;
template <class T>
struct Parenthesised<void(T)> {
  typedef T type;
};

// The streams of a stage, from the signature of its step().
template <class Step>
struct Signature;
template <class S, class... P>
struct Signature<void (S::*)(P...)> {
  template <size_t I>
  using port = typename std::remove_reference<typename std::tuple_element<I, std::tuple<P...>>::type>::type;
};
template <class S, size_t I>
using Port = typename Signature<decltype(&S::step)>::template port<I>;

}  // namespace synth
}  // namespace hw
