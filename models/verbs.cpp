#include "models/verbs.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "hw/bus/causes.hpp"

namespace models {

namespace {

template <class T>
std::string text(T value) {
  return std::to_string(value);
}

void require(bool good, const std::string& object, const char* name, uint64_t value, const std::string& allowed) {
  if (!good) throw VerbsError(object + ": " + name + " = " + text(value) + ": allowed are " + allowed);
}

// Beside these moves, every state may go to RESET and to ERR (IBTA 10.3.1).
bool may_move(ibv_qp_state from, ibv_qp_state to) {
  return to == IBV_QPS_RESET || to == IBV_QPS_ERR || (from == IBV_QPS_RESET && to == IBV_QPS_INIT) ||
         (from == IBV_QPS_INIT && to == IBV_QPS_RTR) || (from == IBV_QPS_RTR && to == IBV_QPS_RTS);
}

std::string moves_from(ibv_qp_state from) {
  std::string all;
  for (ibv_qp_state to : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
    if (may_move(from, to)) all += std::string(name_of(to)) + ", ";
  return all + "RESET, ERR";
}

hw::Route route_of(const AddressHandle& ah) {
  hw::Route r;
  r.destination_mac = hw::Bits<48>(ah.destination_mac);
  r.source_mac = hw::Bits<48>(ah.source_mac);
  r.destination_ip = hw::Bits<32>(ah.destination_ip);
  r.source_ip = hw::Bits<32>(ah.source_ip);
  r.udp_source_port = hw::Bits<16>(ah.udp_source_port);
  return r;
}

hw::RegionControl region_row(const Mr& mr, bool valid) {
  hw::RegionControl row;
  row.rkey = hw::Bits<32>(mr.rkey);
  row.va = row.address = hw::Bits<64>(mr.address);
  row.length = hw::Bits<64>(mr.length);
  row.valid = hw::Bits<1>(valid);
  row.remote_write = hw::Bits<1>((mr.access & IBV_ACCESS_REMOTE_WRITE) != 0);
  row.remote_read = hw::Bits<1>((mr.access & IBV_ACCESS_REMOTE_READ) != 0);
  return row;
}

template <class Control>
Control row_of_qp(uint32_t number) {
  Control row;
  row.qpn = hw::Qpn(number);
  return row;
}

// What a send work request asks of the NIC and what its completion says, by ibv_wr_opcode.
struct OpcodeOf {
  hw::Operation operation;
  bool immediate;
  ibv_wc_opcode completion;
};
constexpr OpcodeOf kOpcodes[] = {{hw::kOpWrite, false, IBV_WC_RDMA_WRITE},
                                 {hw::kOpWrite, true, IBV_WC_RDMA_WRITE},
                                 {hw::kOpSend, false, IBV_WC_SEND},
                                 {hw::kOpSend, true, IBV_WC_SEND},
                                 {hw::kOpRead, false, IBV_WC_RDMA_READ}};

hw::Wqe wqe_of(uint32_t qp_num, const SendWr& wr, uint16_t index) {
  const OpcodeOf& op = kOpcodes[wr.opcode];
  hw::Wqe wqe;
  wqe.qpn = hw::Qpn(qp_num);
  wqe.operation = hw::Bits<2>(op.operation);
  wqe.has_immediate = hw::Bits<1>(op.immediate);
  wqe.solicited = hw::Bits<1>((wr.send_flags & IBV_SEND_SOLICITED) != 0);
  wqe.local_address = hw::Bits<64>(wr.local_address);
  wqe.remote_address = hw::Bits<64>(wr.remote_addr);
  wqe.rkey = hw::Bits<32>(wr.rkey);
  wqe.length = hw::Bits<32>(wr.length);
  wqe.immediate = hw::Bits<32>(wr.imm_data);
  wqe.index = hw::Bits<16>(index);
  return wqe;
}

// A traced run tells messages apart.
hw::Wqe tagged(hw::Wqe wqe) {
  const bool receives = wqe.operation == hw::Bits<2>(hw::kOpSend) || bool(wqe.has_immediate);
  if (hw::Causes* causes = hw::world().causes)
    wqe.tag.id = causes->posts(uint32_t(wqe.qpn.u64()), uint32_t(wqe.index.u64()), wqe.length.u64(), receives);
  return wqe;
}

constexpr uint64_t kMax24 = 0xffffff;
constexpr uint64_t kMaxLength = uint64_t(1) << 31;

}  // namespace

Mr Device::reg_mr(uint64_t address, uint64_t length, unsigned access) {
  require(length != 0 && address + (length - 1) >= address, "reg_mr", "length", length,
          "1 and more, up to the end of the address space");
  const uint64_t index = regions_.size() + 1;  // key 0 of index 0 would look like no key at all
  require(index < hw::kMaxRegions, "reg_mr", "regions", index, "up to " + text(hw::kMaxRegions - 1));
  Mr mr;
  mr.address = address;
  mr.length = length;
  mr.access = access;
  mr.lkey = mr.rkey = uint32_t(index << 8 | (index * 61 & 0xff));
  regions_.push_back(mr);
  order(region_row(mr, true));
  return mr;
}

void Device::dereg_mr(const Mr& mr) {
  order(region_row(mr, false));
}

Cq Device::create_cq() {
  cqs_.emplace_back();
  return Cq{uint32_t(cqs_.size() - 1)};
}

uint32_t Device::create_qp(Cq send_cq, Cq recv_cq, unsigned max_send_wr, unsigned max_recv_wr) {
  for (const Cq cq : {send_cq, recv_cq})
    require(cq.number < cqs_.size(), "create_qp", "cq", cq.number, "those of create_cq");
  require(max_send_wr >= 1 && max_send_wr <= hw::kSendWqes, "create_qp", "max_send_wr", max_send_wr,
          "1 .. " + text(hw::kSendWqes));
  require(max_recv_wr <= hw::kReceiveWqes, "create_qp", "max_recv_wr", max_recv_wr, "0 .. " + text(hw::kReceiveWqes));
  require(qps_.size() < hw::kMaxQps, "create_qp", "QPs", qps_.size() + 1, "up to " + text(hw::kMaxQps));
  Qp q;
  q.number = uint32_t(params_.first_qpn + qps_.size());
  q.send_cq = send_cq.number;
  q.recv_cq = recv_cq.number;
  q.max_send_wr = max_send_wr;
  q.max_recv_wr = max_recv_wr;
  qps_.push_back(std::move(q));
  return qps_.back().number;
}

void Device::modify_qp(uint32_t qp_num, const QpAttr& attr) {
  settle();
  Qp& q = qp(qp_num);
  const std::string object = "qp " + text(qp_num);
  if (!may_move(q.attr.qp_state, attr.qp_state))
    throw VerbsError(object + ": qp_state " + name_of(q.attr.qp_state) + " to " + name_of(attr.qp_state) +
                     ": allowed are " + moves_from(q.attr.qp_state));
  switch (attr.qp_state) {
    case IBV_QPS_INIT:
      q.attr.qp_access_flags = attr.qp_access_flags;
      break;
    case IBV_QPS_RTR:
      require(attr.path_mtu >= IBV_MTU_256 && attr.path_mtu <= IBV_MTU_4096, object, "path_mtu", attr.path_mtu,
              "1 .. 5 (256 .. 4096 bytes)");
      require(attr.dest_qp_num <= kMax24, object, "dest_qp_num", attr.dest_qp_num, "0 .. 16777215");
      require(attr.rq_psn <= kMax24, object, "rq_psn", attr.rq_psn, "0 .. 16777215");
      require(attr.max_dest_rd_atomic <= hw::kMaxReads, object, "max_dest_rd_atomic", attr.max_dest_rd_atomic,
              "0 .. " + text(hw::kMaxReads));
      require(attr.min_rnr_timer <= 31, object, "min_rnr_timer", attr.min_rnr_timer, "0 .. 31");
      q.attr.max_dest_rd_atomic = attr.max_dest_rd_atomic;
      q.attr.min_rnr_timer = attr.min_rnr_timer;
      q.attr.path_mtu = attr.path_mtu;
      q.attr.dest_qp_num = attr.dest_qp_num;
      q.attr.rq_psn = attr.rq_psn;
      q.attr.ah = attr.ah;
      enter_rtr(q);
      break;
    case IBV_QPS_RTS:
      require(attr.sq_psn <= kMax24, object, "sq_psn", attr.sq_psn, "0 .. 16777215");
      require(attr.timeout <= 31, object, "timeout", attr.timeout, "0 .. 31");
      require(attr.retry_cnt <= 7, object, "retry_cnt", attr.retry_cnt, "0 .. 7");
      require(attr.max_rd_atomic <= hw::kMaxReads, object, "max_rd_atomic", attr.max_rd_atomic,
              "0 .. " + text(hw::kMaxReads));
      q.attr.max_rd_atomic = attr.max_rd_atomic;
      q.attr.sq_psn = attr.sq_psn;
      q.attr.timeout = attr.timeout;
      q.attr.retry_cnt = attr.retry_cnt;
      enter_rts(q);
      break;
    case IBV_QPS_RESET:
      require(q.sent.empty(), object, "work requests without completion in a move to RESET", q.sent.size(), "0");
      stop_receiving(q);
      q.received.clear();
      break;
    case IBV_QPS_ERR:
      enter_error(q);
      break;
  }
  q.attr.qp_state = attr.qp_state;
}

void Device::enter_rtr(Qp& q) {
  auto state = row_of_qp<hw::QpStateControl>(q.number);
  state.expected = hw::Psn(q.attr.rq_psn);
  state.pmtu = hw::PmtuCode(q.attr.path_mtu);
  state.rnr_timer = hw::Bits<5>(q.attr.min_rnr_timer);
  state.receive = hw::Bits<1>(1);
  state.remote_write = hw::Bits<1>((q.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0);
  state.remote_read = hw::Bits<1>((q.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0);
  auto msn = row_of_qp<hw::MsnControl>(q.number);
  msn.pmtu = hw::PmtuCode(q.attr.path_mtu);
  msn.max_reads = hw::Bits<5>(q.attr.max_dest_rd_atomic);
  auto connection = row_of_qp<hw::ConnectionControl>(q.number);
  connection.remote_qpn = hw::Qpn(q.attr.dest_qp_num);
  connection.route = route_of(q.attr.ah);
  order(connection);  // first what the answer to a request needs
  order(row_of_qp<hw::ResponseQueueControl>(q.number));
  order(msn);
  order(row_of_qp<hw::ReceiveQueueControl>(q.number));
  order(state);
  for (const Received& r : q.received) order_receive(q, r);
}

void Device::enter_rts(Qp& q) {
  auto reads = row_of_qp<hw::OutstandingReadsControl>(q.number);
  reads.pmtu = hw::PmtuCode(q.attr.path_mtu);
  auto work = row_of_qp<hw::WorkQueueControl>(q.number);
  work.pmtu = hw::PmtuCode(q.attr.path_mtu);
  work.max_reads = hw::Bits<5>(q.attr.max_rd_atomic);
  auto flow = row_of_qp<hw::FlowControlControl>(q.number);
  flow.psn = hw::Psn(q.attr.sq_psn);
  flow.timeout = hw::Bits<5>(q.attr.timeout);
  flow.retry_count = hw::Bits<3>(q.attr.retry_cnt);
  order(reads);
  order(flow);
  order(work);
}

void Device::enter_error(Qp& q) {
  stop_receiving(q);
  q.attr.qp_state = IBV_QPS_ERR;
  flush_receives(q);
}

void Device::stop_receiving(const Qp& q) {
  if (q.attr.qp_state == IBV_QPS_RTR || q.attr.qp_state == IBV_QPS_RTS) order(row_of_qp<hw::QpStateControl>(q.number));
}

ibv_qp_state Device::query_qp(uint32_t qp_num) {
  settle();
  return qp(qp_num).attr.qp_state;
}

int Device::post_send(uint32_t qp_num, const SendWr& wr) {
  settle();
  Qp& q = qp(qp_num);
  const bool error = q.attr.qp_state == IBV_QPS_ERR;
  const bool may_read = wr.opcode != IBV_WR_RDMA_READ || q.attr.max_rd_atomic > 0;
  if ((!error && q.attr.qp_state != IBV_QPS_RTS) || wr.length > kMaxLength || !may_read) return EINVAL;
  if (q.sent.size() + q.unpolled_sends >= q.max_send_wr) return ENOMEM;
  const uint16_t index = error ? uint16_t(0) : q.next_send++;
  q.sent.push_back({wr.wr_id, kOpcodes[wr.opcode].completion, wr.length, index, error});
  if (error)
    give_flushed(q);
  else
    order(tagged(wqe_of(qp_num, wr, index)));
  return 0;
}

int Device::post_recv(uint32_t qp_num, const RecvWr& wr) {
  settle();
  Qp& q = qp(qp_num);
  if (q.attr.qp_state == IBV_QPS_RESET || wr.length > kMaxLength) return EINVAL;
  if (q.received.size() + q.unpolled_receives >= q.max_recv_wr) return ENOMEM;
  q.received.push_back({wr, q.next_receive++});
  if (q.attr.qp_state == IBV_QPS_ERR)
    flush_receives(q);
  else if (q.attr.qp_state != IBV_QPS_INIT)
    order_receive(q, q.received.back());
  return 0;
}

void Device::order_receive(const Qp& q, const Received& r) {
  auto wqe = row_of_qp<hw::ReceiveWqe>(q.number);
  wqe.address = hw::Bits<64>(r.wr.address);
  wqe.length = hw::Bits<32>(r.wr.length);
  wqe.index = hw::Bits<16>(r.index);
  order(wqe, receive_orders_);
}

int Device::poll_cq(Cq cq, int entries, WorkCompletion* wc) {
  settle();
  std::deque<WorkCompletion>& queue = cqs_.at(cq.number).entries;
  int n = 0;
  for (; n < entries && !queue.empty(); n++) {
    wc[n] = queue.front();
    queue.pop_front();
    Qp& q = qp(wc[n].qp_num);
    (wc[n].opcode >= IBV_WC_RECV ? q.unpolled_receives : q.unpolled_sends)--;
  }
  return n;
}

void Device::on_completion(Cq cq, std::function<void(hw::Cycles)> callback) {
  cqs_.at(cq.number).callback = std::move(callback);
}

void Device::complete(const Cqe& cqe) {
  const auto number = std::visit([](const auto& completion) { return uint32_t(completion.qpn.u64()); }, cqe);
  if (has_strangers_ && !is_own(number)) return;
  hw::Cycles visible = after(params_.completion_latency);
  if (!arriving_.empty()) visible = std::max(visible, arriving_.back().visible);
  arriving_.push_back({visible, cqe});
  notify(std::visit([this](const auto& completion) { return cq_of(completion); }, cqe), visible);
}

uint64_t Device::held() const {
  uint64_t n = orders();
  for (const Qp& q : qps_) n += q.sent.size();
  return n;
}

Device::Qp& Device::qp(uint32_t number) {
  const uint64_t index = uint64_t(number) - params_.first_qpn;
  if (number < params_.first_qpn || index >= qps_.size())
    throw VerbsError("qp " + text(number) + ": allowed are the numbers that create_qp gave");
  return qps_[index];
}

hw::Cycles Device::after(hw::Picoseconds latency) const {
  const hw::Cycles now = hw::world().now;
  if (latency == 0) return now + 1;
  return std::max(now + 1, params_.clock.edge_at_or_after(params_.clock.edge(now) + latency));
}

void Device::order(const Control& what, std::deque<Order>& queue) {
  queue.push_back({after(params_.doorbell_latency), what});
  if (on_order_) on_order_(queue.back().arrival);
}

// Lets the CPU see the completions that are visible in the running cycle.
void Device::settle() {
  while (!arriving_.empty() && arriving_.front().visible <= hw::world().now) {
    std::visit([this](const auto& completion) { take(completion); }, arriving_.front().cqe);
    arriving_.pop_front();
  }
}

void Device::take(const hw::Completion& completion) {
  Qp& q = qp(uint32_t(completion.qpn.u64()));
  if (q.sent.empty() || q.sent.front().flushed || q.sent.front().index != completion.index.u64())
    throw VerbsError("qp " + text(q.number) + ": completion of work request " + text(completion.index.u64()) +
                     ": allowed is " + (q.sent.empty() ? std::string("none") : text(q.sent.front().index)));
  if (bool(completion.status) && q.attr.qp_state != IBV_QPS_ERR) enter_error(q);
  give(q, ibv_wc_status(completion.status.u64()));
  give_flushed(q);
}

// What arrives for a QP in ERR belongs to a work request that is flushed already.
void Device::take(const hw::ReceiveCompletion& completion) {
  Qp& q = qp(uint32_t(completion.qpn.u64()));
  if (q.attr.qp_state == IBV_QPS_ERR) return;
  if (q.received.empty() || q.received.front().index != completion.index.u64())
    throw VerbsError("qp " + text(q.number) + ": completion of receive work request " + text(completion.index.u64()) +
                     ": allowed is " + (q.received.empty() ? std::string("none") : text(q.received.front().index)));
  WorkCompletion wc{q.received.front().wr.wr_id, IBV_WC_SUCCESS, uint32_t(completion.bytes.u64()), q.number,
                    bool(completion.is_write) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV};
  if (bool(completion.has_immediate)) {
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = uint32_t(completion.immediate.u64());
  }
  cqs_[q.recv_cq].entries.push_back(wc);
  q.received.pop_front();
  q.unpolled_receives++;
}

void Device::give(Qp& q, ibv_wc_status status) {
  const Sent& s = q.sent.front();
  cqs_[q.send_cq].entries.push_back({s.wr_id, status, s.length, q.number, s.opcode});
  q.sent.pop_front();
  q.unpolled_sends++;
}

void Device::give_flushed(Qp& q) {
  while (!q.sent.empty() && q.sent.front().flushed) {
    give(q, IBV_WC_WR_FLUSH_ERR);
    notify(q.send_cq, hw::world().now + 1);
  }
}

void Device::flush_receives(Qp& q) {
  for (; !q.received.empty(); q.received.pop_front(), q.unpolled_receives++)
    cqs_[q.recv_cq].entries.push_back({q.received.front().wr.wr_id, IBV_WC_WR_FLUSH_ERR, 0, q.number, IBV_WC_RECV});
  notify(q.recv_cq, hw::world().now + 1);
}

void Device::notify(uint32_t cq, hw::Cycles cycle) {
  if (cqs_[cq].callback) cqs_[cq].callback(cycle);
}

}  // namespace models
