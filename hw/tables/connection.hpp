// Owner of the table of connections: gives a packet its peer's QPN and the addresses of the way there.
//
// A packet is taken in c and put out in c + 1. Control writes a row at once, in any cycle; a packet taken in the same
// cycle still sees the row as it was.
#pragma once
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tables {

struct Connection {
  void step(hls::stream<TxPacket>& in, hls::stream<ConnectionControl>& control, hls::stream<TxRouted>& out) {
    if (!control.empty()) configure(control.read());
    if (bool(busy_)) {
      if (out.full()) return;
      out.write(routed(packet_, rows_.data()));
    }
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    packet_ = in.read();
    rows_.request(row_of(packet_.qpn));
  }

 private:
  struct Row {
    Qpn remote_qpn;
    Route route;
  };
  Ram<Row, kMaxQps> rows_;
  TxPacket packet_;
  Bits<1> busy_;

  void configure(const ConnectionControl& c) {
    Row row;
    row.remote_qpn = c.remote_qpn;
    row.route = c.route;
    rows_.write(row_of(c.qpn), row);
  }

  static TxRouted routed(const TxPacket& packet, const Row& row) {
    TxRouted r;
    r.packet = packet;
    r.packet.qpn = row.remote_qpn;
    r.route = row.route;
    return r;
  }
};

}  // namespace tables
}  // namespace hw
