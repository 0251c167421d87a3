#include "models/bandwidth.hpp"

#include <algorithm>

namespace models {

namespace {

constexpr ibv_wr_opcode kOpcodes[][2] = {{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM},
                                         {IBV_WR_RDMA_READ, IBV_WR_RDMA_READ},
                                         {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM}};

}  // namespace

Bandwidth::Bandwidth(const BandwidthParams& params, const Side& own, const Side& peer)
    : params_(params), own_(own), peer_(peer), cpu_(params.cpu, own.host.clock) {
  lay_out(own);
  uint64_t bytes = 0;
  for (const Qp& q : qps_) bytes += q.own.bytes();
  if (bytes == 0) return;
  constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  own.host.device.reg_mr(params.own_address, bytes, IBV_ACCESS_LOCAL_WRITE);
  rkey_ = peer.host.device.reg_mr(params.peer_address, bytes, kAll).rkey;
  const bool reads = params.transfer == Transfer::read;
  fill(reads ? peer.host.memory : own.host.memory, reads ? params.peer_address : params.own_address, bytes,
       params.seed);
  own.host.device.on_completion(own.send_cq, [this](hw::Cycles cycle) { waker.at(cycle); });
}

// One QP's buffers behind the other's, in the same place at both sides.
void Bandwidth::lay_out(const Side& own) {
  const uint32_t largest = *std::max_element(params_.sizes.begin(), params_.sizes.end());
  uint64_t offset = 0;
  for (size_t i = 0; i < own.qps.size(); i++) {
    Qp q{};
    q.number = own.qps[i];
    q.own.size = params_.sizes[std::min(i, params_.sizes.size() - 1)];
    q.iterations = params_.iterations * std::max(1u, largest) / std::max(1u, q.own.size);
    q.own.stride = buffer_stride(q.own.size);
    const uint64_t fit = kBufferBytes / own.qps.size() / q.own.stride;
    q.own.slots = std::max<uint64_t>(1, std::min({fit, uint64_t(params_.tx_depth), q.iterations}));
    q.peer = q.own;
    q.own.address = params_.own_address + offset;
    q.peer.address = params_.peer_address + offset;
    offset += q.own.bytes();
    q.post_times.resize(params_.tx_depth);
    qps_.push_back(std::move(q));
  }
}

// A send's buffers lie with the receiver; a write with immediate data brings its own address.
ReceiverParams Bandwidth::receiver_params(unsigned depth, const CpuParams& cpu) const {
  ReceiverParams p;
  p.depth = depth;
  p.cpu = cpu;
  std::vector<BufferRing> buffers;
  for (const Qp& q : qps_) {
    buffers.push_back(q.peer);
    p.messages.push_back(q.iterations);
  }
  p.expected = [buffers, immediate = params_.immediate](size_t qp, uint64_t n) {
    return Arrival{buffers[qp].at(n), buffers[qp].size, immediate, uint32_t(n)};
  };
  return p;
}

void Bandwidth::step() {
  while (hw::world().now >= params_.start) {
    if (find_qp()) {
      if (!post()) return;
    } else if (!poll()) {
      return;
    }
  }
}

hw::Cycles Bandwidth::quiet() const {
  hw::Cycles next = std::min(cpu_.due(), hw::world().now < params_.start ? params_.start : hw::kForever);
  if (params_.think != 0)
    for (const Qp& q : qps_)
      if (q.ready > hw::world().now) next = std::min(next, q.ready);
  return quiet_until(next);
}

bool Bandwidth::may_post(const Qp& q) const {
  return !q.failed && q.posted < q.iterations && q.posted - q.completed < params_.tx_depth &&
         q.ready <= hw::world().now;
}

// Moves next_ to the QP whose turn it is; false when none has room.
bool Bandwidth::find_qp() {
  if (outstanding_ == uint64_t(params_.tx_depth) * qps_.size()) return false;
  for (size_t i = 0; i < qps_.size(); i++, next_ = (next_ + 1) % qps_.size())
    if (may_post(qps_[next_])) return true;
  return false;
}

bool Bandwidth::post() {
  if (!cpu_.post()) return false;
  Qp& q = qps_[next_];
  if (own_.host.device.post_send(q.number, work_request(q)) != 0)
    throw VerbsError("bandwidth: the send queue refused a work request");
  posts_.push_back(cpu_.posted_from());
  q.post_times[q.posted % params_.tx_depth] = cpu_.posted_from();
  outstanding_++;
  q.posted++;
  next_ = (next_ + 1) % qps_.size();
  return true;
}

SendWr Bandwidth::work_request(const Qp& q) const {
  SendWr wr;
  wr.wr_id = next_;
  wr.opcode = kOpcodes[int(params_.transfer)][params_.immediate];
  wr.local_address = q.own.at(q.posted);
  wr.remote_addr = q.peer.at(q.posted);
  wr.length = q.own.size;
  wr.rkey = rkey_;
  wr.imm_data = uint32_t(q.posted);
  return wr;
}

bool Bandwidth::poll() {
  Device& device = own_.host.device;
  if (!device.can_poll(own_.send_cq) || !cpu_.poll()) return false;
  WorkCompletion wc;
  while (device.poll_cq(own_.send_cq, 1, &wc) == 1) complete(wc);
  return true;
}

void Bandwidth::complete(const WorkCompletion& wc) {
  Qp& q = qps_[wc.wr_id];
  const hw::Picoseconds now = cpu_.now();
  completions_.push_back({uint32_t(wc.wr_id), q.own.size, q.post_times[q.completed++ % params_.tx_depth], now});
  outstanding_--;
  if (params_.think != 0) q.ready = own_.host.clock.edge_at_or_after(now + params_.think);
  if (wc.status == IBV_WC_SUCCESS) return;
  if (errors_++ == 0) first_error_ = wc.status;
  q.failed = true;
}

bool Bandwidth::done() const {
  return outstanding_ == 0 &&
         std::all_of(qps_.begin(), qps_.end(), [](const Qp& q) { return q.failed || q.posted == q.iterations; });
}

bool Bandwidth::verify() {
  if (!done() || errors_ != 0) return false;
  for (const Qp& q : qps_)
    for (uint64_t slot = 0; slot < q.own.slots && q.iterations != 0; slot++)
      if (!equal(own_.host.memory, q.own.at(slot), peer_.host.memory, q.peer.at(slot), q.own.size)) return false;
  return true;
}

}  // namespace models
