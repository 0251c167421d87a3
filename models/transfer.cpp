#include "models/transfer.hpp"

namespace models {

Sides connect_sides(const Host& a, const Host& b, const Queues& queues, const QpAttr& attr) {
  const auto side = [](const Host& host) { return Side{host, host.device.create_cq(), host.device.create_cq(), {}}; };
  Sides sides{side(a), side(b)};
  for (unsigned i = 0; i < queues.qps; i++) {
    for (Side* s : {&sides.a, &sides.b})
      s->qps.push_back(s->host.device.create_qp(s->send_cq, s->recv_cq, queues.max_send_wr, queues.max_recv_wr));
    connect(a, sides.a.qps.back(), b, sides.b.qps.back(), attr);
  }
  return sides;
}

}  // namespace models
