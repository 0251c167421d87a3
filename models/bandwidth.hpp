// ib_write_bw, ib_read_bw and ib_send_bw of perftest: one side keeps `tx_depth` work requests outstanding on each of
// its QPs.
//
// The messages of a QP take its buffers in turn. No two buffers hold the same bytes, and each has its own place at the
// other side, so that the comparison at the end finds a message that is missing there or lies where another belongs.
#pragma once
#include <vector>

#include "models/receiver.hpp"

namespace models {

// The buffers of one QP, which its messages take in turn.
struct BufferRing {
  uint64_t address = 0;
  uint64_t stride = 0, slots = 1;  // from buffer to buffer in bytes; buffers
  uint32_t size = 0;               // bytes of a message

  uint64_t at(uint64_t message) const { return address + message % slots * stride; }
  uint64_t bytes() const { return stride * slots; }
};

struct BandwidthParams {
  Transfer transfer = Transfer::write;
  bool immediate = false;  // of a write or send: the number of the message
  unsigned tx_depth = 128;
  std::vector<uint32_t> sizes{65536};  // bytes of a message, QP by QP; the last one holds for all further QPs
  // Messages of a QP whose messages are of the largest size; one with smaller messages sends as many bytes.
  uint64_t iterations = 1000;
  hw::Picoseconds think = 0;  // from a completion to the QP's next post
  hw::Cycles start = 0;       // nothing is posted before
  uint64_t seed = 1;          // of the bytes
  uint64_t own_address = uint64_t(1) << 32, peer_address = uint64_t(1) << 40;
  CpuParams cpu;
};

// A stage of the initiator. For a send, and with immediate data, the peer needs a Receiver with receiver_params().
class Bandwidth {
 public:
  // All buffers of a side; a QP has as many as `tx_depth` where they fit in, and at least one.
  static constexpr uint64_t kBufferBytes = uint64_t(1) << 24;

  Bandwidth(const BandwidthParams& params, const Side& own, const Side& peer);
  Bandwidth(const Bandwidth&) = delete;
  Bandwidth& operator=(const Bandwidth&) = delete;

  bool needs_receiver() const { return params_.transfer == Transfer::send || params_.immediate; }
  ReceiverParams receiver_params(unsigned depth, const CpuParams& cpu) const;

  void step();
  hw::Cycles quiet() const;
  uint64_t held() const { return outstanding_; }

  // Nothing is outstanding, and every QP has posted all or is in error.
  bool done() const;
  // The bytes have arrived, and every message completed well. For after the run.
  bool verify();

  // When the CPU began each post, in order; the messages in the order in which it saw their completions.
  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  const std::vector<DoneMessage>& completions() const { return completions_; }
  uint64_t errors() const { return errors_; }
  ibv_wc_status first_error() const { return first_error_; }

  Waker waker;

 private:
  struct Qp {
    uint32_t number;
    BufferRing own, peer;
    uint64_t iterations;
    uint64_t posted = 0, completed = 0;
    hw::Cycles ready = 0;  // the end of its think time
    bool failed = false;
    std::vector<hw::Picoseconds> post_times;  // of message m at m % tx_depth
  };

  void lay_out(const Side& own);
  bool may_post(const Qp& q) const;
  bool find_qp();
  bool post();
  bool poll();
  void complete(const WorkCompletion& wc);
  SendWr work_request(const Qp& q) const;

  BandwidthParams params_;
  Side own_, peer_;
  Cpu cpu_;
  uint32_t rkey_ = 0;
  std::vector<Qp> qps_;
  size_t next_ = 0;  // QP whose turn it is
  uint64_t outstanding_ = 0, errors_ = 0;
  ibv_wc_status first_error_ = IBV_WC_SUCCESS;
  std::vector<hw::Picoseconds> posts_;
  std::vector<DoneMessage> completions_;
};

}  // namespace models
