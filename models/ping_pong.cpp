#include "models/ping_pong.hpp"

#include <algorithm>

namespace models {

PingPongSide::PingPongSide(const PingPongParams& params, const Side& side, bool starts)
    : params_(params), side_(side), starts_(starts), cpu_(params.cpu, side.host.clock) {
  if (params.size == 0 && !sends()) throw VerbsError("ping_pong: size = 0: allowed are 1 .. 2147483648 for a write");
  const Host& host = side_.host;
  const auto wake = [this](hw::Cycles cycle) { waker.at(cycle); };
  if (params.size != 0) {
    host.device.reg_mr(params.send_address, params.size, IBV_ACCESS_LOCAL_WRITE);
    mr_ = host.device.reg_mr(params.receive_address, params.size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    fill(host.memory, params.send_address, params.size, params.seed);
    if (!sends()) host.memory.watch(last_byte(params.receive_address), wake);
  }
  host.device.on_completion(side_.send_cq, wake);
  host.device.on_completion(side_.recv_cq, wake);
  while (sends() && receives_posted_ < std::min<uint64_t>(params.rx_depth, params.iterations)) post_receive();
}

hw::Cycles PingPongSide::quiet() const {
  return quiet_until(std::min(cpu_.due(), hw::world().now < params_.start ? params_.start : hw::kForever));
}

void PingPongSide::step() {
  if (hw::world().now < params_.start) return;
  while (!done()) {
    if (wait_ == Wait::message && !receive()) return;
    if (wait_ == Wait::post && !send()) return;
    if (wait_ == Wait::completion && !complete()) return;
  }
}

void PingPongSide::post_receive() {
  RecvWr wr;
  wr.wr_id = receives_posted_++;
  wr.address = params_.receive_address;
  wr.length = params_.size;
  if (side_.host.device.post_recv(side_.qps[0], wr) != 0)
    throw VerbsError("ping_pong: the receive queue refused a work request");
}

bool PingPongSide::has_message() {
  if (sends()) return side_.host.device.can_poll(side_.recv_cq);
  return side_.host.memory.read_byte(last_byte(params_.receive_address)) == uint8_t(received_ + 1);
}

bool PingPongSide::receive() {
  const bool first = starts_ && sent_ == 0;
  if (received_ < params_.iterations && !first) {
    if (!has_message() || !cpu_.poll()) return false;
    received_++;
    WorkCompletion wc;
    if (sends() && (side_.host.device.poll_cq(side_.recv_cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS ||
                    wc.byte_len != params_.size))
      errors_++;
    if (sends() && receives_posted_ < params_.iterations) post_receive();
  }
  wait_ = sent_ < params_.iterations ? Wait::post : Wait::message;
  return true;
}

bool PingPongSide::send() {
  if (posts_.size() == sent_) posts_.push_back(cpu_.now());
  if (!cpu_.post()) return false;
  const uint8_t count = uint8_t(++sent_);
  if (params_.size != 0) side_.host.memory.write(last_byte(params_.send_address), &count, 1);
  SendWr wr;
  wr.wr_id = sent_;
  wr.opcode = sends() ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
  wr.local_address = params_.send_address;
  wr.remote_addr = params_.receive_address;
  wr.length = params_.size;
  wr.rkey = peer_key_;
  if (side_.host.device.post_send(side_.qps[0], wr) != 0)
    throw VerbsError("ping_pong: the send queue refused a work request");
  wait_ = Wait::completion;
  return true;
}

bool PingPongSide::complete() {
  if (!side_.host.device.can_poll(side_.send_cq) || !cpu_.poll()) return false;
  WorkCompletion wc;
  side_.host.device.poll_cq(side_.send_cq, 1, &wc);
  if (wc.status != IBV_WC_SUCCESS) errors_++;
  completed_++;
  last_completion_ = cpu_.now();
  wait_ = Wait::message;
  return true;
}

PingPong::PingPong(const PingPongParams& params, const Sides& sides)
    : client(params, sides.a, true),
      server(params, sides.b, false),
      params_(params),
      memory_a_(sides.a.host.memory),
      memory_b_(sides.b.host.memory) {
  client.set_peer_key(server.rkey());
  server.set_peer_key(client.rkey());
}

bool PingPong::verify() {
  return done() && client.errors() + server.errors() == 0 &&
         equal(memory_a_, params_.send_address, memory_b_, params_.receive_address, params_.size) &&
         equal(memory_b_, params_.send_address, memory_a_, params_.receive_address, params_.size);
}

std::vector<hw::Picoseconds> PingPong::samples() const {
  const std::vector<hw::Picoseconds>& posts = client.posts();
  std::vector<hw::Picoseconds> half;
  for (size_t i = 1; i < posts.size(); i++) half.push_back((posts[i] - posts[i - 1]) / 2);
  return half;
}

}  // namespace models
