// Feeds and drains the streams of a stage, one token a step at most, whatever the body of hls::stream.
#pragma once
#include <deque>
#include <vector>

#include "hw/bus/stream.hpp"

namespace vocabulary {

#if defined(HW_LOWER)

inline void next_cycle() {}

template <class T>
struct Feed {
  hls::stream<T> stream{};
  std::deque<T> tokens;

  void before() {
    stream.rvalid = hw::Bits<1>(!tokens.empty());
    stream.pop = hw::Bits<1>(0);
    if (!tokens.empty()) stream.rdata = tokens.front();
  }
  void after() {
    if (bool(stream.pop)) tokens.pop_front();
  }
};

template <class T>
struct Drain {
  hls::stream<T> stream{};
  std::vector<T> tokens;

  void before() {
    stream.wready = hw::Bits<1>(1);
    stream.push = hw::Bits<1>(0);
  }
  void after() {
    if (bool(stream.push)) tokens.push_back(stream.wdata);
  }
};

#else

inline void next_cycle() {
#if !defined(__SYNTHESIS__)
  hw::world().now++;
#endif
}

template <class T>
struct Feed {
  hls::stream<T> stream;
  std::deque<T> tokens;

  void before() {
    if (tokens.empty() || stream.full()) return;
    stream.write(tokens.front());
    tokens.pop_front();
  }
  void after() {}
};

template <class T>
struct Drain {
  hls::stream<T> stream;
  std::vector<T> tokens;

  void before() {}
  void after() {
    if (!stream.empty()) tokens.push_back(stream.read());
  }
};

#endif

template <class F, class... Ports>
void step(F stage, Ports&... ports) {
  (ports.before(), ...);
  next_cycle();
  stage();
  next_cycle();
  (ports.after(), ...);
}

}  // namespace vocabulary
