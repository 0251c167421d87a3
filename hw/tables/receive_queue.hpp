// Owner of the receive queues: gives the message that takes a receive work request the oldest one of its QP.
//
// Each QP has a ring of kReceiveWqes work requests; the host never has more without completion. A packet in order that
// is not refused takes the head of the ring where its opcode says so; qp_state has seen to it that there is one. The
// other packets of a SEND use the one taken last: its slot is not given again before its message is complete.
//
// A packet, a work request or control is taken in c, its row is there in c + 1; a packet's work request is fetched then
// and goes out with it in c + 2: one packet a cycle, also of one QP. `posted` is told when a work request is taken in,
// only where there is room to tell it: no packet waits for that. What is counted there is in the ring before any packet
// behind it is taken.
#pragma once
#include "../bus/ram.hpp"
#include "../tokens.hpp"
#include "intake.hpp"

namespace hw {
namespace tables {

struct ReceiveQueue {
  void step(hls::stream<RxChecked>& in, hls::stream<ReceiveWqe>& wqes, hls::stream<ReceiveQueueControl>& control,
            hls::stream<RxChecked>& out, hls::stream<ReceivePosted>& posted) {
    if (bool(fetching_)) {
      if (out.full()) return;
      out.write(needs_wqe(packet_) ? filled(packet_, wqe_.data()) : packet_);
    }
    fetching_ = intake_.has_packet;
    if (bool(intake_.has_packet)) fetch(intake_.packet, rows_.data());
    if (bool(intake_.has_event)) append(intake_.event, rows_.data());
    if (bool(intake_.has_control)) rows_.write(row_of(intake_.control.qpn), Row());
    intake_.take(in, control, wqes, !posted.full());
    if (bool(intake_.has_packet)) rows_.request(row_of(intake_.packet.packet.qpn));
    if (bool(intake_.has_event)) {
      rows_.request(row_of(intake_.event.qpn));
      posted.write(told(intake_.event));
    }
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  Cycles quiet() const {
    return bool(fetching_) ? 0 : kForever;
  }
#endif

 private:
  struct Row {
    ReceiveSlot head, tail;
  };
  struct Entry {
    Bits<64> address;
    Bits<32> length;
    Bits<16> index;
  };
  RamForward<Row, kMaxQps> rows_;
  Ram<Entry, kMaxQps * kReceiveWqes> wqe_;
  Intake<RxChecked, ReceiveQueueControl, RxChecked, ReceiveWqe> intake_;
  RxChecked packet_;  // its work request is on the way
  Bits<1> fetching_;

  static bool accepted(const RxChecked& checked) {
    return checked.sequence == Bits<2>(kInOrder) && !bool(checked.nak);
  }
  static bool takes(const RxChecked& checked) {
    return accepted(checked) && wire::takes_receive(checked.packet.opcode);
  }

  void fetch(const RxChecked& checked, const Row& row) {
    const bool takes_head = takes(checked);
    const QpRow qp = row_of(checked.packet.qpn);
    packet_ = checked;
    if (needs_wqe(checked)) wqe_.request(row_of(qp, takes_head ? row.head : row.head - ReceiveSlot(1)));
    if (!takes_head) return;
    Row next = row;
    next.head = row.head + ReceiveSlot(1);
    rows_.write(qp, next);
  }

  void append(const ReceiveWqe& wqe, const Row& row) {
    const QpRow qp = row_of(wqe.qpn);
    Entry entry;
    entry.address = wqe.address;
    entry.length = wqe.length;
    entry.index = wqe.index;
    wqe_.write(row_of(qp, row.tail), entry);
    Row next = row;
    next.tail = row.tail + ReceiveSlot(1);
    rows_.write(qp, next);
  }

  // Later packets of a SEND need the one that its first packet has taken.
  static bool needs_wqe(const RxChecked& checked) {
    return accepted(checked) && (wire::takes_receive(checked.packet.opcode) || wire::is_send(checked.packet.opcode));
  }

  static RxChecked filled(const RxChecked& checked, const Entry& entry) {
    RxChecked result = checked;
    result.receive = entry.index;
    if (wire::is_send(checked.packet.opcode) && takes(checked)) {
      result.address = entry.address;
      result.room = entry.length;
    }
    return result;
  }

  static ReceivePosted told(const ReceiveWqe& wqe) {
    ReceivePosted p;
    p.qpn = wqe.qpn;
    return p;
  }
};

}  // namespace tables
}  // namespace hw
