// A random mix of all operations on many QPs: WRITE, READ and SEND, with and without immediate data, of sizes from
// nothing up, at any alignment. Each message has a place of its own in both memories, with bytes between the places
// that nobody may touch.
#pragma once
#include <vector>

#include "models/receiver.hpp"

namespace models {

struct MixParams {
  uint32_t largest = 1 << 16;  // bytes of a message
  uint64_t iterations = 100;   // messages of a QP
  unsigned tx_depth = 16;
  bool reads = true;     // READs among them
  hw::Cycles start = 0;  // nothing is posted before
  uint64_t seed = 1;
  uint64_t own_address = uint64_t(1) << 32, peer_address = uint64_t(1) << 40;
  CpuParams cpu;
};

// A stage of the initiator; the peer needs a Receiver with receiver_params().
class Mix {
 public:
  Mix(const MixParams& params, const Side& own, const Side& peer);
  Mix(const Mix&) = delete;
  Mix& operator=(const Mix&) = delete;

  bool needs_receiver() const { return true; }
  ReceiverParams receiver_params(unsigned depth, const CpuParams& cpu) const;

  void step();
  hw::Cycles quiet() const;
  uint64_t held() const { return outstanding_; }
  bool done() const;
  // Every message's bytes are equal at both sides, and what lies between them is as it was. For after the run.
  bool verify();

  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  const std::vector<DoneMessage>& completions() const { return completions_; }
  // Completions that failed, or came out of order.
  uint64_t errors() const { return errors_; }
  ibv_wc_status first_error() const { return first_error_; }

  Waker waker;

 private:
  struct Message {
    ibv_wr_opcode opcode;
    uint32_t bytes;
    uint64_t offset;  // of its place from the beginning of either memory
    hw::Picoseconds post;
  };
  struct Qp {
    std::vector<Message> messages;
    std::vector<size_t> arrivals;  // those of them that take a receive at the peer
    uint64_t posted = 0, completed = 0;
    bool failed = false;
  };

  void plan();
  bool find_qp();
  bool post();
  bool poll();
  void complete(const WorkCompletion& wc);
  bool untouched(HostMemory& memory, uint64_t address, uint64_t seed);

  MixParams params_;
  Side own_, peer_;
  Cpu cpu_;
  uint64_t bytes_ = 0;  // of either memory
  uint32_t rkey_ = 0;
  std::vector<Qp> qps_;
  size_t next_ = 0;
  uint64_t outstanding_ = 0, errors_ = 0;
  ibv_wc_status first_error_ = IBV_WC_SUCCESS;
  std::vector<hw::Picoseconds> posts_;
  std::vector<DoneMessage> completions_;
};

}  // namespace models
