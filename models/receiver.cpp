#include "models/receiver.hpp"

#include <algorithm>

namespace models {

Receiver::Receiver(const ReceiverParams& params, const Side& side)
    : params_(params), side_(side), cpu_(params.cpu, side.host.clock), qps_(side.qps.size()) {
  for (size_t i = 0; i < qps_.size(); i++)
    while (qps_[i].posted < std::min<uint64_t>(params_.depth, params_.messages[i])) post(i);
  side_.host.device.on_completion(side_.recv_cq, [this](hw::Cycles cycle) { waker.at(cycle); });
}

void Receiver::step() {
  while (next_owed_ < owed_.size() ? repost() : poll()) {
  }
}

void Receiver::post(size_t i) {
  const Arrival arrival = params_.expected(i, qps_[i].posted++);
  RecvWr wr;
  wr.wr_id = i;
  wr.address = arrival.address;
  wr.length = arrival.bytes;
  if (side_.host.device.post_recv(side_.qps[i], wr) != 0)
    throw VerbsError("receiver: the receive queue refused a work request");
}

bool Receiver::repost() {
  if (!cpu_.post()) return false;
  post(owed_[next_owed_++]);
  if (next_owed_ == owed_.size()) {
    owed_.clear();
    next_owed_ = 0;
  }
  return true;
}

bool Receiver::poll() {
  Device& device = side_.host.device;
  if (!device.can_poll(side_.recv_cq) || !cpu_.poll()) return false;
  WorkCompletion wc;
  while (device.poll_cq(side_.recv_cq, 1, &wc) == 1) {
    const size_t i = wc.wr_id;
    check(i, wc);
    received_++;
    if (++qps_[i].received + params_.depth <= params_.messages[i] && wc.status == IBV_WC_SUCCESS) owed_.push_back(i);
  }
  return true;
}

void Receiver::check(size_t i, const WorkCompletion& wc) {
  const Arrival arrival = params_.expected(i, qps_[i].received);
  const bool immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
  const bool right = wc.status == IBV_WC_SUCCESS && wc.byte_len == arrival.bytes && immediate == arrival.immediate &&
                     (!immediate || wc.imm_data == arrival.imm_data);
  errors_ += !right;
}

bool Receiver::done() const {
  for (size_t i = 0; i < qps_.size(); i++)
    if (qps_[i].received < params_.messages[i]) return false;
  return true;
}

}  // namespace models
