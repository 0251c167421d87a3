#include "models/write_bandwidth.hpp"

#include <algorithm>

namespace models {

namespace {

constexpr uint64_t kPage = HostMemory::kPageBytes;

// No buffer lies on more pages than it must.
uint64_t stride_of(uint64_t size) {
  if (size > kPage) return (size + kPage - 1) / kPage * kPage;
  uint64_t stride = 64;
  while (stride < size) stride *= 2;
  return stride;
}

uint64_t slots_of(const WriteBandwidthParams& params, uint64_t stride) {
  const uint64_t fit = WriteBandwidth::kBufferBytes / (stride * std::max(1u, params.qps));
  return std::max<uint64_t>(1, std::min({fit, uint64_t(params.tx_depth), params.iterations}));
}

}  // namespace

WriteBandwidth::WriteBandwidth(const WriteBandwidthParams& params, const Host& initiator, const Host& target)
    : params_(params),
      initiator_(initiator),
      target_(target),
      cpu_(params.cpu, initiator.clock),
      cq_(initiator.device.create_cq()),
      stride_(stride_of(params.size)),
      slots_(slots_of(params, stride_)) {
  const uint64_t bytes = stride_ * slots_ * params.qps;
  initiator.device.reg_mr(params.source_address, bytes, IBV_ACCESS_LOCAL_WRITE);
  rkey_ = target.device.reg_mr(params.target_address, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE).rkey;
  const Cq target_cq = target.device.create_cq();
  for (size_t i = 0; i < params.qps; i++) {
    const uint32_t number = initiator.device.create_qp(cq_, params.tx_depth);
    connect(initiator, number, target, target.device.create_qp(target_cq), params.attr);
    qps_.push_back(Qp{number});
  }
  fill(initiator.memory, params.source_address, bytes, params.seed);
  initiator.device.on_completion(cq_, [this](hw::Cycles cycle) { waker.at(cycle); });
}

void WriteBandwidth::step() {
  for (;;) {
    if (find_qp()) {
      if (!post()) return;
    } else if (!poll()) {
      return;
    }
  }
}

bool WriteBandwidth::may_post(const Qp& q) const {
  return !q.failed && q.posted < params_.iterations && q.posted - q.completed < params_.tx_depth;
}

// Moves next_ to the QP whose turn it is; false when none has room.
bool WriteBandwidth::find_qp() {
  if (outstanding_ == uint64_t(params_.tx_depth) * qps_.size()) return false;
  for (size_t i = 0; i < qps_.size(); i++, next_ = (next_ + 1) % qps_.size())
    if (may_post(qps_[next_])) return true;
  return false;
}

bool WriteBandwidth::post() {
  if (!cpu_.post()) return false;
  Qp& q = qps_[next_];
  const uint64_t offset = (next_ * slots_ + q.posted % slots_) * stride_;
  SendWr wr;
  wr.wr_id = next_;
  wr.local_address = params_.source_address + offset;
  wr.remote_addr = params_.target_address + offset;
  wr.length = params_.size;
  wr.rkey = rkey_;
  if (initiator_.device.post_send(q.number, wr) != 0)
    throw VerbsError("write_bandwidth: the send queue refused a write");
  posts_.push_back(cpu_.now());
  outstanding_++;
  q.posted++;
  next_ = (next_ + 1) % qps_.size();
  return true;
}

bool WriteBandwidth::poll() {
  if (!initiator_.device.can_poll(cq_) || !cpu_.poll()) return false;
  WorkCompletion wc;
  while (initiator_.device.poll_cq(cq_, 1, &wc) == 1) {
    Qp& q = qps_[wc.wr_id];
    q.completed++;
    outstanding_--;
    completions_.push_back(cpu_.now());
    if (wc.status == IBV_WC_SUCCESS) continue;
    if (errors_++ == 0) first_error_ = wc.status;
    q.failed = true;
  }
  return true;
}

bool WriteBandwidth::done() const {
  return outstanding_ == 0 && std::all_of(qps_.begin(), qps_.end(),
                                          [this](const Qp& q) { return q.failed || q.posted == params_.iterations; });
}

bool WriteBandwidth::verify() {
  if (!done() || errors_ != 0) return false;
  for (uint64_t slot = 0; slot < slots_ * qps_.size() && params_.iterations != 0; slot++)
    if (!equal(initiator_.memory, params_.source_address + slot * stride_, target_.memory,
               params_.target_address + slot * stride_, params_.size))
      return false;
  return true;
}

double WriteBandwidth::steady_gbps() const {
  if (completions_.size() < params_.warm_up + 10) return 0;
  const size_t counted = completions_.size() - params_.warm_up;
  const size_t from = params_.warm_up + counted / 10, to = params_.warm_up + counted * 9 / 10;
  const hw::Picoseconds time = completions_[to] - completions_[from];
  return time == 0 ? 0 : double(to - from) * params_.size * 8000 / double(time);
}

}  // namespace models
