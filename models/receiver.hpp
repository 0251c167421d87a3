// The receiving side of SEND and of immediate data: keeps `depth` receive work requests posted on each QP and posts one
// again for each that completed, while there are messages to come.
#pragma once
#include <functional>
#include <vector>

#include "models/cpu.hpp"
#include "models/transfer.hpp"

namespace models {

// A message that takes a receive: the buffer for it, and what its completion must say.
struct Arrival {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool immediate = false;
  uint32_t imm_data = 0;
};

struct ReceiverParams {
  unsigned depth = 128;
  std::vector<uint64_t> messages;  // to come on each QP
  std::function<Arrival(size_t qp, uint64_t number)> expected;
  CpuParams cpu;  // a post of a receive costs its post_cost
};

class Receiver {
 public:
  // Posts the first receives at once.
  Receiver(const ReceiverParams& params, const Side& side);
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  void step();
  hw::Cycles quiet() const { return quiet_until(cpu_.due()); }

  uint64_t received() const { return received_; }
  // Completions that failed, or whose length or immediate data was not what was sent.
  uint64_t errors() const { return errors_; }
  bool done() const;

  Waker waker;

 private:
  struct Qp {
    uint64_t posted = 0, received = 0;
  };

  void post(size_t i);
  bool repost();
  bool poll();
  void check(size_t i, const WorkCompletion& wc);

  ReceiverParams params_;
  Side side_;
  Cpu cpu_;
  std::vector<Qp> qps_;
  std::vector<size_t> owed_;  // QPs that want a receive posted, in the order of completions
  size_t next_owed_ = 0;
  uint64_t received_ = 0, errors_ = 0;
};

}  // namespace models
