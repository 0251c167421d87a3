// tx/work_queue: cuts work requests into packets. A WRITE of at most one PMTU is an Only, a longer one is First,
// Middles of exactly one PMTU, Last (IBTA 9.7.2, 9.4.3); a WRITE of no bytes is an Only without payload. One packet a
// cycle, also when every work request is one packet.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tx {

// An acknowledgement is requested with the last packet of a message and with every `ack_interval`-th packet of a long
// one. PSNs are given later, by flow_control. The fields of the RETH are those of the whole message in each of its
// packets; First and Only take them to the wire.
struct WorkQueue {
  struct Params {
    uint32_t ack_interval = 16;  // packets, 1 .. 65535
  } params;
  Counter work_requests;
  HW_COUNTERS(work_requests)

  // A PMTU set in the cycle in which a work request of that QP is taken counts from the next one on.
  void step(hls::stream<Wqe>& in, hls::stream<WorkQueueControl>& control, hls::stream<TxPacket>& out) {
    if (!control.empty()) {
      const WorkQueueControl& c = control.read();
      pmtu_.write(row_of(c.qpn), c.pmtu);
    }
    if (bool(busy_)) {
      if (out.full()) return;
      const PacketBytes pmtu = pmtu_bytes(pmtu_.data());
      const bool last = !pmtu.to<32>().ult(remaining_);
      out.write(next_packet(pmtu, last));
      advance(pmtu, last);
      if (!last) return;
    }
    busy_ = Bits<1>(!in.empty());
    if (in.empty()) return;
    wqe_ = in.read();
    remaining_ = wqe_.length;
    sent_ = Bits<32>(0);
    first_ = Bits<1>(1);
    until_ack_ = Bits<16>(params.ack_interval);
    pmtu_.request(row_of(wqe_.qpn));
    work_requests.inc();
  }

 private:
  TxPacket next_packet(const PacketBytes& pmtu, bool last) const {
    const bool first = bool(first_);
    TxPacket p;
    p.opcode =
        Bits<8>(first ? (last ? wire::kWriteOnly : wire::kWriteFirst) : (last ? wire::kWriteLast : wire::kWriteMiddle));
    p.qpn = wqe_.qpn;
    p.ack_request = Bits<1>(last || until_ack_ == Bits<16>(1));
    p.local_address = wqe_.local_address + sent_.to<64>();
    p.remote_address = wqe_.remote_address;
    p.rkey = wqe_.rkey;
    p.dma_length = wqe_.length;
    p.payload = last ? remaining_.to<13>() : pmtu;
    p.last = Bits<1>(last);
    p.index = wqe_.index;
    return p;
  }
  void advance(const PacketBytes& pmtu, bool last) {
    if (last) return;
    first_ = Bits<1>(0);
    remaining_ = remaining_ - pmtu.to<32>();
    sent_ = sent_ + pmtu.to<32>();
    until_ack_ = until_ack_ == Bits<16>(1) ? Bits<16>(params.ack_interval) : until_ack_ - Bits<16>(1);
  }

  Ram<PmtuCode, kMaxQps> pmtu_;
  Bits<1> busy_, first_;
  Wqe wqe_;
  Bits<32> remaining_, sent_;  // bytes
  Bits<16> until_ack_;         // packets
};

}  // namespace tx
}  // namespace hw
