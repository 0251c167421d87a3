// Foreign<fn, ports...>: an HLS function written for a vendor's tool, in the place of a stage (rule 12 of the stage
// contract). One call is one cycle; a call that blocks goes on in the next one. In simulation only.
//
//   Foreign<vendor::arbiter<0>, From<TxPacket, vendor::Meta>, From<TxPacket, vendor::Meta>, To<TxPacket, vendor::Meta>>
//
// Its ports are those of the stage that it replaces, in the order of that stage's step() and of fn's parameters. What
// the pipeline's tokens and the function's data have to do with each other, Convert says. The Tag of the token that the
// function read last goes with what it writes, so that it is accounted like any stage.
//
// A function's state is its own: as it is static, two NICs need two functions, hence the instance number that vendors'
// code has as a template parameter.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "hw/bus/beat.hpp"
#include "hw/bus/stream.hpp"
#include "sim/foreign/stream.hpp"

namespace foreign {

// To be specialised where the types differ: `static To convert(const From&)`.
template <class To, class From>
struct Convert {
  static_assert(std::is_same<To, From>::value, "specialise foreign::Convert for these types");
  static To convert(const From& x) { return x; }
};

namespace detail {

template <class T, class = void>
struct HasTag : std::false_type {};
template <class T>
struct HasTag<T, std::void_t<decltype(std::declval<T&>().tag)>> : std::true_type {};

}  // namespace detail

// A port that the function reads; `Data` is its own type.
template <class Token, class Data>
class From {
 public:
  using Pipe = hls::stream<Token>;

  stream<Data> s;

  // A token that the function has not read yet keeps its place.
  void take(Pipe& pipe) {
    if (!s.empty() || pipe.empty()) return;
    const Token& token = pipe.read();
    hw::Tag tag;
    if constexpr (detail::HasTag<Token>::value) tag = token.tag;
    s.put(Convert<Data, Token>::convert(token), tag);
  }
  void give(Pipe&) {}
};

// A port that the function writes.
template <class Token, class Data>
class To {
 public:
  using Pipe = hls::stream<Token>;

  stream<Data> s;

  void take(Pipe&) {}
  void give(Pipe& pipe) {
    if (s.empty() || pipe.full()) return;
    const hw::Tag tag = s.tag();
    Token token = Convert<Token, Data>::convert(s.get());
    if constexpr (detail::HasTag<Token>::value) token.tag = tag;
    pipe.write(token);
  }
};

template <auto fn, class... Ports>
class Foreign {
 public:
  Foreign() {
    std::apply([this](auto&... port) { (port.s.attach(call_), ...); }, ports_);
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  void step(typename Ports::Pipe&... pipes) {
    const uint64_t moved = tokens_moved(pipes...);
    std::apply([&](auto&... port) { (port.take(pipes), ...); }, ports_);
    call_.run();
    std::apply([&](auto&... port) { (port.give(pipes), ...); }, ports_);
    idle_ = tokens_moved(pipes...) == moved ? idle_ + 1 : 0;
  }

  // What the function's own state may still do without a token is not known: it is called this often before it sleeps.
  static constexpr hw::Cycles kIdleCalls = 64;
  hw::Cycles quiet() const { return idle_ < kIdleCalls ? 0 : hw::kForever; }
  // Tokens between the pipeline and the function.
  uint64_t held() const {
    return std::apply([](const auto&... port) { return (uint64_t(!port.s.empty()) + ... + 0); }, ports_);
  }

 private:
  static uint64_t tokens_moved(const typename Ports::Pipe&... pipes) {
    return ((pipes.written() + pipes.was_read()) + ... + 0);
  }
  void call() {
    std::apply([](auto&... port) { fn(port.s...); }, ports_);
  }

  std::tuple<Ports...> ports_;
  Call call_{[this] { call(); }};
  hw::Cycles idle_ = 0;
};

}  // namespace foreign
