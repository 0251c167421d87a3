// Work requests one by one, as a list says: what each is, for what it waits, and how long the program thinks then.
//
// A request waits for the post of the one before it on its QP; where `depth` says so, for the completion of the one
// `depth` before it; where `received` says so, for that many messages of the peer. Then it waits its think time.
// Each message has a place in both memories, WRITEs and SENDs apart from READs. Places are used again behind
// kAreaBytes, by messages of the same bytes.
#pragma once
#include <deque>
#include <vector>

#include "models/receiver.hpp"

namespace models {

struct WorkRequest {
  Transfer transfer = Transfer::write;
  bool immediate = false;
  uint32_t imm_data = 0;
  uint32_t bytes = 0;
  uint32_t depth = 0;         // 0: waits for no completion
  uint64_t received = 0;      // messages of the peer on this QP, READs not counted; 0: waits for none
  hw::Picoseconds think = 0;  // from the last of what it waits for

  bool pushes() const { return transfer != Transfer::read; }
  bool takes_receive() const { return transfer == Transfer::send || immediate; }
};

struct WorkListParams {
  std::vector<std::vector<WorkRequest>> qps;
  unsigned capacity = 1024;  // requests of a QP that may be outstanding: what its send queue holds
  hw::Cycles start = 0;      // nothing is posted before
  uint64_t seed = 1;
  uint64_t own_address = uint64_t(1) << 32, peer_address = uint64_t(1) << 40;
  CpuParams cpu;
};

// A stage of the initiator. The peer needs a Receiver with receiver_params() when needs_receiver().
class WorkList {
 public:
  static constexpr uint64_t kAreaBytes = uint64_t(1) << 26;

  WorkList(const WorkListParams& params, const Side& own, const Side& peer);
  WorkList(const WorkList&) = delete;
  WorkList& operator=(const WorkList&) = delete;

  // Requests that wait for messages of the peer look for the last bytes of what `peer` sends. Before the run.
  void listen_to(const WorkList& peer);

  bool needs_receiver() const;
  ReceiverParams receiver_params(unsigned depth, const CpuParams& cpu) const;

  void step();
  hw::Cycles quiet() const;
  uint64_t held() const { return outstanding_; }
  bool done() const;
  // The bytes of every message are equal at both sides. For after the run.
  bool verify();

  const std::vector<hw::Picoseconds>& posts() const { return posts_; }
  const std::vector<DoneMessage>& completions() const { return completions_; }
  uint64_t errors() const { return errors_; }
  ibv_wc_status first_error() const { return first_error_; }

  Waker waker;

 private:
  struct Message {
    WorkRequest request;
    uint64_t offset = 0;  // of its place from the beginning of either memory
    hw::Picoseconds post = 0;
    hw::Picoseconds completed = 0, received = 0;  // when the CPU saw what later ones, or this one, wait for
  };
  struct Qp {
    std::vector<Message> messages;
    std::vector<size_t> pushes, arrivals;  // those that come without being asked for, and those that take a receive
    uint64_t posted = 0, completed = 0;
    hw::Picoseconds last_post = 0;  // its end
    bool failed = false;
  };
  struct Arrival {
    hw::Cycles visible;
    Message* waits;
  };

  void lay_out();
  uint64_t last_byte(size_t qp, uint64_t push) const;
  hw::Cycles ready_at(const Qp& q) const;
  bool may_post(const Qp& q) const;
  bool find_qp();
  bool post();
  bool arrived() const { return !arriving_.empty() && arriving_.front().visible <= hw::world().now; }
  bool poll();
  void complete(const WorkCompletion& wc);

  WorkListParams params_;
  Side own_, peer_;
  Cpu cpu_;
  uint64_t pushed_bytes_ = 0, bytes_ = 0;  // of either memory: WRITEs and SENDs, then READs
  uint32_t rkey_ = 0;
  std::vector<Qp> qps_;
  size_t next_ = 0;
  std::deque<Arrival> arriving_;  // in order of time
  uint64_t outstanding_ = 0, errors_ = 0;
  ibv_wc_status first_error_ = IBV_WC_SUCCESS;
  std::vector<hw::Picoseconds> posts_;
  std::vector<DoneMessage> completions_;
};

}  // namespace models
