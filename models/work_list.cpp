#include "models/work_list.hpp"

#include <algorithm>

namespace models {

namespace {

constexpr ibv_wr_opcode kOpcodes[][2] = {{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM},
                                         {IBV_WR_RDMA_READ, IBV_WR_RDMA_READ},
                                         {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM}};

// Places one behind the other; from the beginning again where the next would lie behind `most`.
class Area {
 public:
  explicit Area(uint64_t most) : most_(most) {}

  uint64_t place(uint32_t bytes) {
    const uint64_t stride = buffer_stride(bytes);
    if (next_ + stride > most_) next_ = 0;
    const uint64_t at = next_;
    next_ += stride;
    end_ = std::max(end_, next_);
    return at;
  }
  uint64_t end() const { return end_; }

 private:
  uint64_t most_, next_ = 0, end_ = 0;
};

}  // namespace

WorkList::WorkList(const WorkListParams& params, const Side& own, const Side& peer)
    : params_(params), own_(own), peer_(peer), cpu_(params.cpu, own.host.clock), qps_(params.qps.size()) {
  lay_out();
  for (Qp& q : qps_) q.last_post = own.host.clock.edge(params.start);
  own.host.device.on_completion(own.send_cq, [this](hw::Cycles cycle) { waker.at(cycle); });
  if (bytes_ == 0) return;
  constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  own.host.device.reg_mr(params.own_address, bytes_, IBV_ACCESS_LOCAL_WRITE);
  rkey_ = peer.host.device.reg_mr(params.peer_address, bytes_, kAll).rkey;
  fill(own.host.memory, params.own_address, pushed_bytes_, params.seed);
  fill(peer.host.memory, params.peer_address + pushed_bytes_, bytes_ - pushed_bytes_, params.seed);
}

void WorkList::lay_out() {
  Area pushed(kAreaBytes), read(kAreaBytes);
  for (size_t i = 0; i < qps_.size(); i++) {
    Qp& q = qps_[i];
    for (const WorkRequest& request : params_.qps[i]) {
      if (request.pushes()) q.pushes.push_back(q.messages.size());
      if (request.takes_receive()) q.arrivals.push_back(q.messages.size());
      q.messages.push_back({request, (request.pushes() ? pushed : read).place(request.bytes)});
    }
  }
  pushed_bytes_ = pushed.end();
  bytes_ = pushed_bytes_ + read.end();
  for (Qp& q : qps_)
    for (Message& m : q.messages)
      if (!m.request.pushes()) m.offset += pushed_bytes_;
}

// Of the message that is number `push` of its QP, from 1; it has bytes.
uint64_t WorkList::last_byte(size_t qp, uint64_t push) const {
  const Message& m = qps_[qp].messages[qps_[qp].pushes.at(push - 1)];
  return params_.peer_address + m.offset + m.request.bytes - 1;
}

void WorkList::listen_to(const WorkList& peer) {
  for (size_t i = 0; i < qps_.size(); i++)
    for (Message& m : qps_[i].messages) {
      if (m.request.received == 0) continue;
      own_.host.memory.watch(peer.last_byte(i, m.request.received), [this, &m](hw::Cycles cycle) {
        arriving_.push_back({cycle, &m});
        waker.at(cycle);
      });
    }
}

bool WorkList::needs_receiver() const {
  return std::any_of(qps_.begin(), qps_.end(), [](const Qp& q) { return !q.arrivals.empty(); });
}

ReceiverParams WorkList::receiver_params(unsigned depth, const CpuParams& cpu) const {
  ReceiverParams p;
  p.depth = depth;
  p.cpu = cpu;
  for (const Qp& q : qps_) p.messages.push_back(q.arrivals.size());
  p.expected = [this](size_t qp, uint64_t number) {
    const Message& m = qps_[qp].messages[qps_[qp].arrivals[number]];
    return models::Arrival{params_.peer_address + m.offset, m.request.bytes, m.request.immediate, m.request.imm_data};
  };
  return p;
}

void WorkList::step() {
  while (hw::world().now >= params_.start) {
    if (find_qp()) {
      if (!post()) return;
    } else if (!poll()) {
      return;
    }
  }
}

hw::Cycles WorkList::quiet() const {
  hw::Cycles next = std::min(cpu_.due(), hw::world().now < params_.start ? params_.start : hw::kForever);
  for (const Qp& q : qps_) {
    const hw::Cycles ready = ready_at(q);
    if (ready > hw::world().now) next = std::min(next, ready);
  }
  return quiet_until(next);
}

// When the QP's next request has thought; kForever while it waits for something else.
hw::Cycles WorkList::ready_at(const Qp& q) const {
  if (q.failed || q.posted == q.messages.size()) return hw::kForever;
  const uint64_t outstanding = q.posted - q.completed;
  const Message& m = q.messages[q.posted];
  const WorkRequest& request = m.request;
  if (outstanding >= params_.capacity || (request.depth != 0 && outstanding >= request.depth)) return hw::kForever;
  if (request.received != 0 && m.received == 0) return hw::kForever;
  if (request.think == 0) return 0;
  const bool has_waited = request.received != 0 || (request.depth != 0 && q.posted >= request.depth);
  hw::Picoseconds since = has_waited ? m.received : q.last_post;
  if (request.depth != 0 && q.posted >= request.depth)
    since = std::max(since, q.messages[q.posted - request.depth].completed);
  return own_.host.clock.edge_at_or_after(since + request.think);
}

bool WorkList::may_post(const Qp& q) const {
  return ready_at(q) <= hw::world().now;
}

// Moves next_ to the QP whose turn it is; false when none may post.
bool WorkList::find_qp() {
  for (size_t i = 0; i < qps_.size(); i++, next_ = (next_ + 1) % qps_.size())
    if (may_post(qps_[next_])) return true;
  return false;
}

bool WorkList::post() {
  if (!cpu_.post()) return false;
  Qp& q = qps_[next_];
  Message& m = q.messages[q.posted];
  SendWr wr;
  wr.wr_id = next_;
  wr.opcode = kOpcodes[int(m.request.transfer)][m.request.immediate];
  wr.local_address = params_.own_address + m.offset;
  wr.remote_addr = params_.peer_address + m.offset;
  wr.length = m.request.bytes;
  wr.rkey = rkey_;
  wr.imm_data = m.request.imm_data;
  if (own_.host.device.post_send(own_.qps[next_], wr) != 0)
    throw VerbsError("work list: the send queue refused a work request");
  m.post = cpu_.posted_from();
  q.last_post = m.post + params_.cpu.post_cost;
  posts_.push_back(m.post);
  outstanding_++;
  q.posted++;
  next_ = (next_ + 1) % qps_.size();
  return true;
}

bool WorkList::poll() {
  Device& device = own_.host.device;
  if ((!device.can_poll(own_.send_cq) && !arrived()) || !cpu_.poll()) return false;
  WorkCompletion wc;
  while (device.poll_cq(own_.send_cq, 1, &wc) == 1) complete(wc);
  for (; arrived(); arriving_.pop_front()) arriving_.front().waits->received = cpu_.now();
  return true;
}

void WorkList::complete(const WorkCompletion& wc) {
  Qp& q = qps_[wc.wr_id];
  Message& m = q.messages[q.completed++];
  m.completed = cpu_.now();
  completions_.push_back({uint32_t(wc.wr_id), m.request.bytes, m.post, m.completed});
  outstanding_--;
  if (wc.status == IBV_WC_SUCCESS) return;
  if (errors_++ == 0) first_error_ = wc.status;
  q.failed = true;
}

bool WorkList::done() const {
  return outstanding_ == 0 &&
         std::all_of(qps_.begin(), qps_.end(), [](const Qp& q) { return q.failed || q.posted == q.messages.size(); });
}

bool WorkList::verify() {
  if (!done() || errors_ != 0) return false;
  for (const Qp& q : qps_)
    for (const Message& m : q.messages)
      if (!equal(own_.host.memory, params_.own_address + m.offset, peer_.host.memory, params_.peer_address + m.offset,
                 m.request.bytes))
        return false;
  return true;
}

}  // namespace models
