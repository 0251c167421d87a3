#include "models/transfer.hpp"

namespace models {

namespace {

// PSNs of QP number `i`: far from those of the others, as where programs choose them at random, so that a capture tells
// whose answers are whose.
QpAttr apart(QpAttr attr, unsigned i) {
  constexpr uint32_t kPsns = 1 << 24, kApart = 1 << 16;
  attr.sq_psn = (attr.sq_psn + i * kApart) % kPsns;
  attr.rq_psn = (attr.rq_psn + i * kApart) % kPsns;
  return attr;
}

}  // namespace

Sides connect_sides(const Host& a, const Host& b, const Queues& queues, const QpAttr& attr) {
  const auto side = [](const Host& host) { return Side{host, host.device.create_cq(), host.device.create_cq(), {}}; };
  Sides sides{side(a), side(b)};
  for (unsigned i = 0; i < queues.qps; i++) {
    for (Side* s : {&sides.a, &sides.b})
      s->qps.push_back(s->host.device.create_qp(s->send_cq, s->recv_cq, queues.max_send_wr, queues.max_recv_wr));
    connect(a, sides.a.qps.back(), b, sides.b.qps.back(), apart(attr, i));
  }
  return sides;
}

}  // namespace models
