#include "models/write_latency.hpp"

namespace models {

PingPong::PingPong(const WriteLatencyParams& params, const Host& host, bool starts)
    : params_(params), host_(host), starts_(starts), cpu_(params.cpu, host.clock), cq_(host.device.create_cq()) {
  if (params.size == 0) throw VerbsError("write_latency: size = 0: allowed are 1 .. 2147483648");
  qp_ = host.device.create_qp(cq_, 1);
  host.device.reg_mr(params.send_address, params.size, IBV_ACCESS_LOCAL_WRITE);
  mr_ = host.device.reg_mr(params.receive_address, params.size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  fill(host.memory, params.send_address, params.size, params.seed);
  host.memory.watch(last_byte(params.receive_address), [this](hw::Cycles cycle) { waker.at(cycle); });
  host.device.on_completion(cq_, [this](hw::Cycles cycle) { waker.at(cycle); });
}

void PingPong::step() {
  while (!done()) {
    if (wait_ == Wait::message && !receive()) return;
    if (wait_ == Wait::post && !send()) return;
    if (wait_ == Wait::completion && !complete()) return;
  }
}

bool PingPong::receive() {
  const bool first = starts_ && sent_ == 0;
  if (received_ < params_.iterations && !first) {
    const uint8_t expected = uint8_t(received_ + 1);
    if (host_.memory.read_byte(last_byte(params_.receive_address)) != expected || !cpu_.poll()) return false;
    received_++;
  }
  wait_ = sent_ < params_.iterations ? Wait::post : Wait::message;
  return true;
}

bool PingPong::send() {
  if (posts_.size() == sent_) posts_.push_back(cpu_.now());
  if (!cpu_.post()) return false;
  const uint8_t count = uint8_t(++sent_);
  host_.memory.write(last_byte(params_.send_address), &count, 1);
  SendWr wr;
  wr.wr_id = sent_;
  wr.local_address = params_.send_address;
  wr.remote_addr = params_.receive_address;
  wr.length = params_.size;
  wr.rkey = peer_key_;
  if (host_.device.post_send(qp_, wr) != 0) throw VerbsError("write_latency: the send queue refused a write");
  wait_ = Wait::completion;
  return true;
}

bool PingPong::complete() {
  if (!host_.device.can_poll(cq_) || !cpu_.poll()) return false;
  WorkCompletion wc;
  host_.device.poll_cq(cq_, 1, &wc);
  if (wc.status != IBV_WC_SUCCESS) errors_++;
  completed_++;
  wait_ = Wait::message;
  return true;
}

WriteLatency::WriteLatency(const WriteLatencyParams& params, const Host& a, const Host& b)
    : client(params, a, true), server(params, b, false), params_(params), memory_a_(a.memory), memory_b_(b.memory) {
  connect(a, client.qp(), b, server.qp(), params.attr);
  client.set_peer_key(server.rkey());
  server.set_peer_key(client.rkey());
}

bool WriteLatency::verify() {
  return done() && client.errors() + server.errors() == 0 &&
         equal(memory_a_, params_.send_address, memory_b_, params_.receive_address, params_.size) &&
         equal(memory_b_, params_.send_address, memory_a_, params_.receive_address, params_.size);
}

std::vector<hw::Picoseconds> WriteLatency::samples() const {
  const std::vector<hw::Picoseconds>& posts = client.posts();
  std::vector<hw::Picoseconds> half;
  for (size_t i = 1; i < posts.size(); i++) half.push_back((posts[i] - posts[i - 1]) / 2);
  return half;
}

}  // namespace models
