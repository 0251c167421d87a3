#include "models/transfer.hpp"

namespace models {

namespace {

QpAttr apart(QpAttr attr, unsigned i) {
  attr.sq_psn = psn_apart(attr.sq_psn, i);
  attr.rq_psn = psn_apart(attr.rq_psn, i);
  return attr;
}

}  // namespace

uint32_t psn_apart(uint32_t first, size_t i) {
  constexpr uint32_t kPsns = 1 << 24, kApart = 1 << 16;
  return uint32_t((first + i * kApart) % kPsns);
}

uint64_t buffer_stride(uint64_t size) {
  constexpr uint64_t kPage = HostMemory::kPageBytes;
  if (size > kPage) return (size + kPage - 1) / kPage * kPage;
  uint64_t stride = 64;
  while (stride < size) stride *= 2;
  return stride;
}

Sides make_sides(const Host& a, const Host& b) {
  const auto side = [](const Host& host) { return Side{host, host.device.create_cq(), host.device.create_cq(), {}}; };
  return {side(a), side(b)};
}

void connect_more(Sides& sides, const Queues& queues, const QpAttr& attr) {
  for (unsigned i = 0; i < queues.qps; i++) {
    for (Side* s : {&sides.a, &sides.b})
      s->qps.push_back(s->host.device.create_qp(s->send_cq, s->recv_cq, queues.max_send_wr, queues.max_recv_wr));
    connect(sides.a.host, sides.a.qps.back(), sides.b.host, sides.b.qps.back(), apart(attr, i));
  }
}

Sides connect_sides(const Host& a, const Host& b, const Queues& queues, const QpAttr& attr) {
  Sides sides = make_sides(a, b);
  connect_more(sides, queues, attr);
  return sides;
}

}  // namespace models
