// A bench for stages as plain objects: sets the cycle, feeds and drains streams with random stalls, and records when
// each token moved. No SystemC.
#pragma once
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "hw/bus/beat.hpp"
#include "hw/bus/stream.hpp"

namespace test {

// Moves the simulated cycle. Every test starts a world of its own.
class Bench {
 public:
  explicit Bench(uint64_t seed = 1) : random_(seed) { hw::reset_world(0); }

  hw::Cycles now() const { return hw::world().now; }
  // Runs `step` once, then everything that feeds and drains, then the clock edge. The order does not matter.
  void tick(const std::function<void()>& step) {
    step();
    for (auto& port : ports_) port();
    hw::world().now++;
  }
  void run(hw::Cycles cycles, const std::function<void()>& step) {
    for (hw::Cycles i = 0; i < cycles; i++) tick(step);
  }
  // True with the given probability in percent.
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  std::mt19937_64& random() { return random_; }
  void add_port(std::function<void()> port) { ports_.push_back(std::move(port)); }

 private:
  std::mt19937_64 random_;
  std::vector<std::function<void()>> ports_;
};

template <class T>
void configure(hls::stream<T>& s, const std::string& name, unsigned capacity, hw::Kind kind = hw::Kind::reg,
               unsigned depth = 1) {
  s.configure(hw::StreamSpec{name, capacity, kind});
  s.connect_writer(hw::StreamBase::End(), depth);
}

// Offers `tokens` in order, one a cycle at most, each cycle with probability `percent`.
template <class T>
class Source {
 public:
  Source(Bench& bench, hls::stream<T>& s, std::vector<T> tokens, unsigned percent = 100) : tokens_(std::move(tokens)) {
    bench.add_port([this, &bench, &s, percent] {
      if (next_ < tokens_.size() && bench.chance(percent) && !s.full()) {
        s.write(tokens_[next_++]);
        cycles.push_back(bench.now());
      }
    });
  }
  bool done() const { return next_ == tokens_.size(); }
  void add(const T& t) { tokens_.push_back(t); }
  std::vector<hw::Cycles> cycles;  // in which each token was written

 private:
  std::vector<T> tokens_;
  size_t next_ = 0;
};

template <class T>
class Sink {
 public:
  Sink(Bench& bench, hls::stream<T>& s, unsigned percent = 100) {
    bench.add_port([this, &bench, &s, percent] {
      if (bench.chance(percent) && !s.empty()) {
        tokens.push_back(s.read());
        cycles.push_back(bench.now());
      }
    });
  }
  std::vector<T> tokens;
  std::vector<hw::Cycles> cycles;  // in which each token was read
};

// Cuts the bytes of one packet into beats (rule 6).
template <unsigned W>
std::vector<hw::Beat<W>> to_beats(const std::vector<uint8_t>& bytes, uint32_t tag = 0) {
  std::vector<hw::Beat<W>> beats;
  for (size_t at = 0; at < bytes.size(); at += W / 8) {
    hw::Beat<W> beat;
    const size_t n = std::min<size_t>(W / 8, bytes.size() - at);
    memcpy(beat.data.w, bytes.data() + at, n);
    beat.bytes = typename hw::Beat<W>::Count(n);
    beat.last = hw::Bits<1>(at + n == bytes.size());
    beat.tag.id = tag;
    beats.push_back(beat);
  }
  return beats;
}

// Joins beats into packets, one entry per beat marked last; checks rule 6 on the way.
template <unsigned W>
std::vector<std::vector<uint8_t>> to_packets(const std::vector<hw::Beat<W>>& beats) {
  std::vector<std::vector<uint8_t>> packets(1);
  for (const hw::Beat<W>& beat : beats) {
    const size_t n = beat.bytes.u64();
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(beat.data.w);
    EXPECT_TRUE(n == W / 8 || bool(beat.last)) << "partial beat inside a packet";
    for (size_t i = n; i < W / 8; i++) EXPECT_EQ(bytes[i], 0) << "unused byte not zero";
    packets.back().insert(packets.back().end(), bytes, bytes + n);
    if (bool(beat.last)) packets.emplace_back();
  }
  packets.pop_back();
  return packets;
}

}  // namespace test
