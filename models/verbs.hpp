// The host's programming interface to a NIC, in the shape, names and values of <infiniband/verbs.h>: memory regions,
// completion queues, queue pairs of the reliable connected service; RDMA WRITE and READ, SEND, immediate data.
//
// The CPU side (reg_mr .. poll_cq) belongs to one workload; the NIC side (next_order .. complete) to models::HostPort.
// What one side does reaches the other in a later cycle, so the order of the two within a cycle changes nothing:
//   orders       control rows and doorbells that carry their WQE, in order, `doorbell_latency` after the call;
//   completions  CQEs, in order, visible to the CPU `completion_latency` after the NIC gave them.
// Latencies are those of a posted PCIe write; neither is charged to the rate of the link.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <variant>
#include <vector>

#include "hw/bus/clock.hpp"
#include "hw/tokens.hpp"

namespace models {

enum ibv_wr_opcode {
  IBV_WR_RDMA_WRITE = 0,
  IBV_WR_RDMA_WRITE_WITH_IMM = 1,
  IBV_WR_SEND = 2,
  IBV_WR_SEND_WITH_IMM = 3,
  IBV_WR_RDMA_READ = 4,
};
enum ibv_wc_opcode {
  IBV_WC_SEND = 0,
  IBV_WC_RDMA_WRITE = 1,
  IBV_WC_RDMA_READ = 2,
  IBV_WC_RECV = 128,
  IBV_WC_RECV_RDMA_WITH_IMM = 129,
};
enum : unsigned { IBV_ACCESS_LOCAL_WRITE = 1, IBV_ACCESS_REMOTE_WRITE = 2, IBV_ACCESS_REMOTE_READ = 4 };
enum : unsigned { IBV_SEND_SOLICITED = 4 };  // send_flags
enum : unsigned { IBV_WC_WITH_IMM = 2 };     // wc_flags
enum ibv_mtu { IBV_MTU_256 = 1, IBV_MTU_512 = 2, IBV_MTU_1024 = 3, IBV_MTU_2048 = 4, IBV_MTU_4096 = 5 };
enum ibv_qp_state { IBV_QPS_RESET = 0, IBV_QPS_INIT = 1, IBV_QPS_RTR = 2, IBV_QPS_RTS = 3, IBV_QPS_ERR = 6 };
enum ibv_wc_status {
  IBV_WC_SUCCESS = 0,
  IBV_WC_WR_FLUSH_ERR = 5,
  IBV_WC_REM_INV_REQ_ERR = 9,
  IBV_WC_REM_ACCESS_ERR = 10,
  IBV_WC_REM_OP_ERR = 11,
  IBV_WC_RETRY_EXC_ERR = 12,
};
const char* name_of(ibv_qp_state state);
const char* name_of(ibv_wc_status status);

// A call that the interface does not allow: what() names the object, the value and what is allowed, in one line.
class VerbsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Mr {
  uint64_t address = 0, length = 0;
  unsigned access = 0;
  uint32_t lkey = 0, rkey = 0;  // index << 8 | key
};

struct Cq {
  uint32_t number = 0;
};

// Numbers in host byte order; MAC addresses in the low 48 bits.
struct AddressHandle {
  uint64_t destination_mac = 0, source_mac = 0;
  uint32_t destination_ip = 0, source_ip = 0;
  uint16_t udp_source_port = 0xc000;
};

// What a move of the state machine reads: to INIT the access flags; to RTR path_mtu, dest_qp_num, rq_psn, ah,
// max_dest_rd_atomic and min_rnr_timer; to RTS sq_psn, timeout, retry_cnt and max_rd_atomic.
struct QpAttr {
  ibv_qp_state qp_state = IBV_QPS_RESET;
  unsigned qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  ibv_mtu path_mtu = IBV_MTU_1024;
  uint32_t dest_qp_num = 0;
  uint32_t rq_psn = 0, sq_psn = 0;
  AddressHandle ah;
  unsigned timeout = 14;  // 4.096 us * 2^timeout, 0: never
  unsigned retry_cnt = 7;
  unsigned max_rd_atomic = hw::kMaxReads;       // READs of ours under way
  unsigned max_dest_rd_atomic = hw::kMaxReads;  // READs of the peer that we serve at a time
  unsigned min_rnr_timer = 12;                  // code, IBTA table 45: 0.64 ms
};

struct SendWr {
  uint64_t wr_id = 0;
  ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
  uint64_t local_address = 0;
  uint32_t length = 0;  // bytes, up to 2^31
  uint64_t remote_addr = 0;
  uint32_t rkey = 0;
  uint32_t imm_data = 0;
  unsigned send_flags = 0;
};

struct RecvWr {
  uint64_t wr_id = 0;
  uint64_t address = 0;
  uint32_t length = 0;  // bytes, up to 2^31
};

struct WorkCompletion {
  uint64_t wr_id = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  uint32_t byte_len = 0;
  uint32_t qp_num = 0;
  ibv_wc_opcode opcode = IBV_WC_RDMA_WRITE;
  unsigned wc_flags = 0;
  uint32_t imm_data = 0;  // with IBV_WC_WITH_IMM
};

struct DeviceParams {
  hw::Clock clock{250000000};
  hw::Picoseconds doorbell_latency = 220000;
  hw::Picoseconds completion_latency = 220000;
  uint32_t first_qpn = 17;  // QP numbers count from here; different devices had better differ
};

// One row or work request on its way to the NIC, and the cycle in which it is there.
using Control = std::variant<hw::RegionControl, hw::QpStateControl, hw::ReceiveQueueControl, hw::MsnControl,
                             hw::OutstandingReadsControl, hw::ResponseQueueControl, hw::ConnectionControl,
                             hw::WorkQueueControl, hw::FlowControlControl, hw::ReceiveWqe, hw::Wqe>;
// What the NIC tells the host of a work request.
using Cqe = std::variant<hw::Completion, hw::ReceiveCompletion>;

struct Order {
  hw::Cycles arrival;
  Control what;
};

class Device {
 public:
  explicit Device(const DeviceParams& params) : params_(params) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Mr reg_mr(uint64_t address, uint64_t length, unsigned access);
  void dereg_mr(const Mr& mr);
  Cq create_cq();
  // Returns the QP number. A work request holds one of the `max_send_wr` or `max_recv_wr` places until its completion
  // is polled.
  uint32_t create_qp(Cq send_cq, Cq recv_cq, unsigned max_send_wr = 128, unsigned max_recv_wr = 128);
  uint32_t create_qp(Cq cq, unsigned max_send_wr = 128, unsigned max_recv_wr = 128) {
    return create_qp(cq, cq, max_send_wr, max_recv_wr);
  }
  void modify_qp(uint32_t qp_num, const QpAttr& attr);
  ibv_qp_state query_qp(uint32_t qp_num);

  // 0; ENOMEM: the send queue is full; EINVAL: the QP is not RTS, or the work request is longer than 2^31 bytes, or a
  // READ where max_rd_atomic is 0. On a QP in ERR the work request completes as flushed, after everything posted before
  // it.
  int post_send(uint32_t qp_num, const SendWr& wr);
  // 0; ENOMEM: the receive queue is full; EINVAL: the QP is in RESET, or the buffer longer than 2^31 bytes. On a QP in
  // ERR it completes as flushed.
  int post_recv(uint32_t qp_num, const RecvWr& wr);
  // Moves up to `entries` completions to `wc`; returns how many.
  int poll_cq(Cq cq, int entries, WorkCompletion* wc);
  // A poll would find a completion.
  bool can_poll(Cq cq) {
    settle();
    return !cqs_.at(cq.number).entries.empty();
  }
  // `callback(cycle)`: a completion of `cq` can be polled from that cycle on.
  void on_completion(Cq cq, std::function<void(hw::Cycles)> callback);

  // Sets a row of the NIC's tables as it stands, or gives it a work request, past the rules of this interface: for
  // tools that take the place of an endpoint whose QPs somebody else made. From then on completions of QPs that
  // create_qp did not make are nobody's.
  void set_row(const Control& row) {
    has_strangers_ = true;
    order(row);
  }

  hw::Cycles next_order() const { return has_order() ? order().arrival : hw::kForever; }
  const Order& order() const { return receives_next() ? receive_orders_.front() : orders_.front(); }
  void order_taken() { (receives_next() ? receive_orders_ : orders_).pop_front(); }
  // How many are under way: so many cycles the NIC needs to take them.
  size_t orders() const { return orders_.size() + receive_orders_.size(); }
  // `callback(cycle)`: an order is there in that cycle.
  void on_order(std::function<void(hw::Cycles)> callback) { on_order_ = std::move(callback); }
  void complete(const Cqe& cqe);

  // Orders under way, and work requests without a completion.
  uint64_t held() const;

 private:
  struct Sent {
    uint64_t wr_id;
    ibv_wc_opcode opcode;
    uint32_t length;
    uint16_t index;
    bool flushed;  // never given to the NIC
  };
  struct Received {
    RecvWr wr;
    uint16_t index;
  };
  struct Qp {
    uint32_t number, send_cq, recv_cq;
    unsigned max_send_wr, max_recv_wr;
    QpAttr attr;
    uint16_t next_send = 0, next_receive = 0;
    std::deque<Sent> sent;
    std::deque<Received> received;
    unsigned unpolled_sends = 0, unpolled_receives = 0;
  };
  struct CompletionQueue {
    std::deque<WorkCompletion> entries;
    std::function<void(hw::Cycles)> callback;
  };
  struct Arriving {
    hw::Cycles visible;
    Cqe cqe;
  };

  bool has_order() const { return !orders_.empty() || !receive_orders_.empty(); }
  // Those of the same cycle go behind all others, whichever stage was called first.
  bool receives_next() const {
    if (receive_orders_.empty()) return false;
    return orders_.empty() || receive_orders_.front().arrival < orders_.front().arrival;
  }
  Qp& qp(uint32_t number);
  bool is_own(uint32_t number) const { return number - params_.first_qpn < qps_.size(); }
  hw::Cycles after(hw::Picoseconds latency) const;
  void order(const Control& what, std::deque<Order>& queue);
  void order(const Control& what) { order(what, orders_); }
  void order_receive(const Qp& q, const Received& r);
  void enter_rtr(Qp& q);
  void enter_rts(Qp& q);
  void enter_error(Qp& q);
  void stop_receiving(const Qp& q);
  void settle();
  uint32_t cq_of(const hw::Completion& completion) { return qp(uint32_t(completion.qpn.u64())).send_cq; }
  uint32_t cq_of(const hw::ReceiveCompletion& completion) { return qp(uint32_t(completion.qpn.u64())).recv_cq; }
  void take(const hw::Completion& completion);
  void take(const hw::ReceiveCompletion& completion);
  void give(Qp& q, ibv_wc_status status);
  void give_flushed(Qp& q);
  void flush_receives(Qp& q);
  void notify(uint32_t cq, hw::Cycles cycle);

  DeviceParams params_;
  std::vector<Mr> regions_;
  std::vector<CompletionQueue> cqs_;
  std::deque<Qp> qps_;
  std::deque<Order> orders_, receive_orders_;  // receives by themselves: a CPU of their own may post them
  std::deque<Arriving> arriving_;
  bool has_strangers_ = false;
  std::function<void(hw::Cycles)> on_order_;
};

}  // namespace models
