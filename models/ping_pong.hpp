// ib_write_lat and ib_send_lat of perftest: two hosts send in turn. Each waits for the other's message (of a write:
// until the last byte of its buffer says that it is there; of a send: for the completion of its receive), answers, and
// then waits for its own completion.
#pragma once
#include <vector>

#include "models/cpu.hpp"
#include "models/transfer.hpp"

namespace models {

struct PingPongParams {
  Transfer transfer = Transfer::write;  // or send
  uint32_t size = 2;                    // bytes of a message, 1 and more for a write
  uint64_t iterations = 1000;           // messages of each side
  unsigned rx_depth = 16;               // receives that a side keeps posted
  hw::Cycles start = 0;                 // nothing is sent before
  uint64_t seed = 1;                    // of the bytes before the last
  uint64_t send_address = uint64_t(1) << 32, receive_address = uint64_t(1) << 40;
  CpuParams cpu;
};

// One side: a stage of its host.
class PingPongSide {
 public:
  PingPongSide(const PingPongParams& params, const Side& side, bool starts);
  PingPongSide(const PingPongSide&) = delete;
  PingPongSide& operator=(const PingPongSide&) = delete;

  void step();
  hw::Cycles quiet() const;
  uint64_t held() const { return sent_ - completed_; }
  bool done() const { return completed_ == params_.iterations && received_ == params_.iterations; }

  uint32_t rkey() const { return mr_.rkey; }
  void set_peer_key(uint32_t rkey) { peer_key_ = rkey; }
  // When each message was begun.
  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  // When the CPU saw its last completion; 0: none yet.
  hw::Picoseconds last_completion() const { return last_completion_; }
  uint64_t errors() const { return errors_; }

  Waker waker;

 private:
  enum class Wait { message, post, completion };

  bool sends() const { return params_.transfer == Transfer::send; }
  void post_receive();
  bool has_message();
  bool receive();
  bool send();
  bool complete();
  uint64_t last_byte(uint64_t buffer) const { return buffer + params_.size - 1; }

  PingPongParams params_;
  Side side_;
  bool starts_;
  Cpu cpu_;
  uint32_t peer_key_ = 0;
  Mr mr_;
  Wait wait_ = Wait::message;
  uint64_t receives_posted_ = 0, received_ = 0, sent_ = 0, completed_ = 0, errors_ = 0;
  std::vector<hw::Picoseconds> posts_;
  hw::Picoseconds last_completion_ = 0;
};

// Both sides: `client` begins.
class PingPong {
 public:
  PingPong(const PingPongParams& params, const Sides& sides);

  PingPongSide client, server;

  bool done() const { return client.done() && server.done(); }
  // Each receive buffer equals the other's send buffer, and every message completed well. For after the run.
  bool verify();
  // Half of each round trip: iterations - 1 samples.
  std::vector<hw::Picoseconds> samples() const;

 private:
  PingPongParams params_;
  HostMemory &memory_a_, &memory_b_;
};

}  // namespace models
