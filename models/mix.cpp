#include "models/mix.hpp"

#include <algorithm>
#include <random>

namespace models {

namespace {

bool takes_receive(ibv_wr_opcode opcode) {
  return opcode != IBV_WR_RDMA_WRITE && opcode != IBV_WR_RDMA_READ;
}
bool has_immediate(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_RDMA_WRITE_WITH_IMM || opcode == IBV_WR_SEND_WITH_IMM;
}

// As many small messages as large ones, on a scale of powers of two; and the sizes at which packets are cut.
uint32_t random_size(std::mt19937_64& random, uint32_t largest) {
  if (random() % 4 == 0) {
    const uint32_t pmtu = 256u << random() % 5;
    return std::min<uint32_t>(largest, uint32_t(pmtu * (1 + random() % 3) - 1 + random() % 3));
  }
  uint32_t scale = 1;
  while (scale < largest && random() % 24 != 0) scale *= 2;
  return uint32_t(random() % (uint64_t(std::min(scale, largest)) + 1));
}

// A seed for each memory, so that no byte is right by chance.
uint64_t own_seed(const MixParams& p) {
  return p.seed * 2;
}
uint64_t peer_seed(const MixParams& p) {
  return p.seed * 2 + 1;
}

}  // namespace

Mix::Mix(const MixParams& params, const Side& own, const Side& peer)
    : params_(params), own_(own), peer_(peer), cpu_(params.cpu, own.host.clock), qps_(own.qps.size()) {
  plan();
  constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  own.host.device.reg_mr(params.own_address, bytes_, IBV_ACCESS_LOCAL_WRITE);
  rkey_ = peer.host.device.reg_mr(params.peer_address, bytes_, kAll).rkey;
  fill(own.host.memory, params.own_address, bytes_, own_seed(params));
  fill(peer.host.memory, params.peer_address, bytes_, peer_seed(params));
  own.host.device.on_completion(own.send_cq, [this](hw::Cycles cycle) { waker.at(cycle); });
}

void Mix::plan() {
  std::mt19937_64 random(params_.seed);
  for (Qp& q : qps_)
    for (uint64_t n = 0; n < params_.iterations; n++) {
      ibv_wr_opcode opcode;
      do opcode = ibv_wr_opcode(random() % 5);
      while (opcode == IBV_WR_RDMA_READ && !params_.reads);
      bytes_ += random() % 64;
      q.messages.push_back({opcode, random_size(random, params_.largest), bytes_, 0});
      bytes_ += q.messages.back().bytes;
      if (takes_receive(opcode)) q.arrivals.push_back(n);
    }
  bytes_ += 64;
}

ReceiverParams Mix::receiver_params(unsigned depth, const CpuParams& cpu) const {
  ReceiverParams p;
  p.depth = depth;
  p.cpu = cpu;
  for (const Qp& q : qps_) p.messages.push_back(q.arrivals.size());
  p.expected = [this](size_t qp, uint64_t number) {
    const size_t n = qps_[qp].arrivals[number];
    const Message& m = qps_[qp].messages[n];
    return Arrival{params_.peer_address + m.offset, m.bytes, has_immediate(m.opcode), uint32_t(n)};
  };
  return p;
}

hw::Cycles Mix::quiet() const {
  return quiet_until(std::min(cpu_.due(), hw::world().now < params_.start ? params_.start : hw::kForever));
}

void Mix::step() {
  while (hw::world().now >= params_.start) {
    if (find_qp()) {
      if (!post()) return;
    } else if (!poll()) {
      return;
    }
  }
}

bool Mix::find_qp() {
  for (size_t i = 0; i < qps_.size(); i++, next_ = (next_ + 1) % qps_.size()) {
    const Qp& q = qps_[next_];
    if (!q.failed && q.posted < q.messages.size() && q.posted - q.completed < params_.tx_depth) return true;
  }
  return false;
}

bool Mix::post() {
  if (!cpu_.post()) return false;
  Qp& q = qps_[next_];
  Message& m = q.messages[q.posted];
  SendWr wr;
  wr.wr_id = q.posted * qps_.size() + next_;
  wr.opcode = m.opcode;
  wr.local_address = params_.own_address + m.offset;
  wr.remote_addr = params_.peer_address + m.offset;
  wr.length = m.bytes;
  wr.rkey = rkey_;
  wr.imm_data = uint32_t(q.posted);
  if (own_.host.device.post_send(own_.qps[next_], wr) != 0)
    throw VerbsError("mix: the send queue refused a work request");
  m.post = cpu_.posted_from();
  posts_.push_back(m.post);
  outstanding_++;
  q.posted++;
  next_ = (next_ + 1) % qps_.size();
  return true;
}

bool Mix::poll() {
  Device& device = own_.host.device;
  if (!device.can_poll(own_.send_cq) || !cpu_.poll()) return false;
  WorkCompletion wc;
  while (device.poll_cq(own_.send_cq, 1, &wc) == 1) complete(wc);
  return true;
}

void Mix::complete(const WorkCompletion& wc) {
  const size_t i = wc.wr_id % qps_.size();
  Qp& q = qps_[i];
  const uint64_t n = q.completed++;
  completions_.push_back({uint32_t(i), q.messages[n].bytes, q.messages[n].post, cpu_.now()});
  outstanding_--;
  if (wc.status == IBV_WC_SUCCESS && wc.wr_id / qps_.size() == n) return;
  if (errors_++ == 0) first_error_ = wc.status;
  q.failed = true;
}

bool Mix::done() const {
  return outstanding_ == 0 &&
         std::all_of(qps_.begin(), qps_.end(), [](const Qp& q) { return q.failed || q.posted == q.messages.size(); });
}

bool Mix::verify() {
  if (!done() || errors_ != 0) return false;
  for (const Qp& q : qps_)
    for (const Message& m : q.messages)
      if (!equal(own_.host.memory, params_.own_address + m.offset, peer_.host.memory, params_.peer_address + m.offset,
                 m.bytes))
        return false;
  return untouched(own_.host.memory, params_.own_address, own_seed(params_)) &&
         untouched(peer_.host.memory, params_.peer_address, peer_seed(params_));
}

// The gaps between the messages hold what they were filled with.
bool Mix::untouched(HostMemory& memory, uint64_t address, uint64_t seed) {
  HostMemory filled;
  fill(filled, address, bytes_, seed);
  uint64_t end = 0;
  const auto gap_is_equal = [&](uint64_t next) {
    return equal(memory, address + end, filled, address + end, next - end);
  };
  for (const Qp& q : qps_)
    for (const Message& m : q.messages) {
      if (!gap_is_equal(m.offset)) return false;
      end = m.offset + m.bytes;
    }
  return gap_is_equal(bytes_);
}

}  // namespace models
