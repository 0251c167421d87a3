// ib_write_lat of perftest: two hosts write in turn; each waits until the last byte of its receive buffer says that the
// other's message is there, answers, and then waits for its own completion.
#pragma once
#include <vector>

#include "models/cpu.hpp"
#include "models/host.hpp"

namespace models {

struct WriteLatencyParams {
  uint32_t size = 2;           // bytes of a message, 1 and more
  uint64_t iterations = 1000;  // messages of each side
  uint64_t seed = 1;           // of the bytes before the last
  uint64_t send_address = uint64_t(1) << 32, receive_address = uint64_t(1) << 40;
  QpAttr attr;  // of the connection; PSNs and addresses as in models::connect
  CpuParams cpu;
};

// One side: a stage of its host.
class PingPong {
 public:
  PingPong(const WriteLatencyParams& params, const Host& host, bool starts);
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;

  void step();
  hw::Cycles quiet() const { return quiet_until(cpu_.due()); }
  uint64_t held() const { return sent_ - completed_; }
  bool done() const { return completed_ == params_.iterations && received_ == params_.iterations; }

  uint32_t qp() const { return qp_; }
  uint32_t rkey() const { return mr_.rkey; }
  void set_peer_key(uint32_t rkey) { peer_key_ = rkey; }
  // When each message was begun.
  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  uint64_t errors() const { return errors_; }

  Waker waker;

 private:
  enum class Wait { message, post, completion };

  bool receive();
  bool send();
  bool complete();
  uint64_t last_byte(uint64_t buffer) const { return buffer + params_.size - 1; }

  WriteLatencyParams params_;
  Host host_;
  bool starts_;
  Cpu cpu_;
  Cq cq_;
  uint32_t qp_ = 0, peer_key_ = 0;
  Mr mr_;
  Wait wait_ = Wait::message;
  uint64_t received_ = 0, sent_ = 0, completed_ = 0, errors_ = 0;
  std::vector<hw::Picoseconds> posts_;
};

// Both sides, connected: `client` begins.
class WriteLatency {
 public:
  WriteLatency(const WriteLatencyParams& params, const Host& a, const Host& b);

  PingPong client, server;

  bool done() const { return client.done() && server.done(); }
  // Each receive buffer equals the other's send buffer, and every message completed well. For after the run.
  bool verify();
  // Half of each round trip: iterations - 1 samples.
  std::vector<hw::Picoseconds> samples() const;

 private:
  WriteLatencyParams params_;
  HostMemory &memory_a_, &memory_b_;
};

}  // namespace models
