// Owner of the message sequence number and of the place where the running message of a QP stands: decides what becomes
// of each packet's payload and what the peer is told (IBTA 9.7.4, 9.7.5; docs/protocol.md D rows 3, 11, 21, 24 to 29).
//
// Every token yields a Placement, dropped or not, since payloads and verdicts pair by order (rule 6). A packet that
// breaks the rules of a message is refused with Invalid Request. A refused QP is dead: what comes later is dropped
// without an answer, until control sets the row again.
//
// A packet is taken in c and answered in c + 1, one a cycle, also of one QP. A row's numbers move on without waiting
// for the verdict, which keeps the comparisons out of its recurrence: a refusal only sets `dead`, and the numbers of a
// dead row mean nothing.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"
#include "intake.hpp"

namespace hw {
namespace tables {

struct Msn {
  struct Params {
    uint32_t ack_every_packet = 0;  // 1: acknowledge each packet, not only those that ask for it
  } params;

  Counter rx_write_requests;  // WRITE messages begun that the QP's rights and the opcode sequence allow
  Counter messages, packets;  // completed, accepted
  Counter invalid_request;    // NAKs of that kind given
  Counter dead_drops;         // packets for a QP that is dead
  HW_COUNTERS(rx_write_requests, messages, packets, invalid_request, dead_drops)

  void step(hls::stream<RxChecked>& in, hls::stream<MsnControl>& control, hls::stream<Placement>& placement,
            hls::stream<AckToSend>& ack) {
    count();
    if (bool(intake_.has_packet)) {
      if (placement.full() || ack.full()) return;
      answer(intake_.packet, rows_.data(), placement, ack);
    }
    if (bool(intake_.has_control)) configure(intake_.control);
    intake_.take(in, control);
    if (bool(intake_.has_packet)) rows_.request(row_of(intake_.packet.request.qpn));
  }

 private:
  struct Message {
    Bits<64> end;        // host address behind it
    Bits<32> remaining;  // bytes of it still to come: the next one goes to end - remaining
  };
  struct Row {
    Bits<24> msn;
    PmtuCode pmtu;
    Message message;  // that is running, else of no meaning
    Bits<1> in_message, dead;
  };
  // A packet and what shows without its row. `adds_up`: its bytes to those of the message that it starts.
  struct Taken : RxChecked {
    Bits<1> starts{1}, ends, writes;
    Bits<1> adds_up;
    PmtuCode smallest_pmtu;  // that holds its payload
    Bits<1> full;            // and is filled by it

    Taken() = default;
    explicit Taken(const RxChecked& packet) : RxChecked(packet) {
      starts = Bits<1>(wire::starts_message(request.opcode));
      ends = Bits<1>(wire::ends_message(request.opcode));
      writes = Bits<1>(wire::is_write(request.opcode));
      adds_up = Bits<1>(Msn::adds_up(request.payload, request.dma_length, bool(ends)));
      for (uint64_t code = 0; code < 5; code++)
        if (pmtu_bytes(PmtuCode(code)).ult(request.payload)) smallest_pmtu = PmtuCode(code + 1);
      full = Bits<1>(request.payload == pmtu_bytes(smallest_pmtu));
    }
  };
  RamForward<Row, kMaxQps> rows_;
  Intake<Taken, MsnControl, RxChecked> intake_;

  struct Outcome {
    Bits<1> answered, alive, shaped, starts, ends;
    Bits<2> sequence;
    Bits<8> nak;
  } outcome_;

  // A packet that ends its message must bring all that remains, one that does not must leave something.
  static bool adds_up(const PacketBytes& bytes, const Bits<32>& remaining, bool ends) {
    const bool large = bool(remaining.get<13, 19>());  // more than any packet brings
    const PacketBytes small = remaining.get<0, 13>();
    return ends ? !large && bytes == small : large || bytes.ult(small);
  }

  void answer(const Taken& packet, const Row& row, hls::stream<Placement>& placement, hls::stream<AckToSend>& ack) {
    const RxRequest& request = packet.request;
    const bool alive = !bool(row.dead);
    const bool in_order = packet.sequence == Bits<2>(kInOrder);
    const Row next = advanced(row, bool(packet.ends));
    const bool shaped = well_shaped(packet, row);
    const Bits<8> nak = bool(packet.nak) ? packet.nak : Bits<8>(shaped ? 0 : wire::aeth::kNakInvalidRequest);
    const bool keep = alive && in_order && !bool(packet.nak) && shaped;

    placement.write(placed(packet, row, keep));
    const bool asked = bool(request.ack_request) || params.ack_every_packet != 0;
    const bool answered = in_order ? bool(nak) || asked : packet.sequence != Bits<2>(kIgnore);
    if (alive && answered) ack.write(acknowledgement(packet, row, next, nak));
    if (in_order) {
      Row written = next;
      written.dead = Bits<1>(!keep);
      rows_.write(row_of(request.qpn), written);
    }
    outcome_.answered = Bits<1>(1);
    outcome_.alive = Bits<1>(alive);
    outcome_.shaped = Bits<1>(shaped);
    outcome_.starts = packet.starts;
    outcome_.ends = packet.ends;
    outcome_.sequence = packet.sequence;
    outcome_.nak = packet.nak;
  }

  Row advanced(const Row& row, bool ends) {
    Row next = row;
    next.msn = row.msn + Bits<24>(ends);
    next.message = message_behind();
    next.in_message = Bits<1>(!ends);
    return next;
  }

  // Where the message stands behind the packet. The same for control, so that it needs no choice of what to write.
  Message message_behind() {
    const Taken& packet = intake_.packet;
    const bool starts = bool(packet.starts);
    const Bits<32> before = starts ? packet.request.dma_length : rows_.data().message.remaining;
    Message next;
    next.end = starts ? packet.address + packet.request.dma_length.to<64>() : rows_.data().message.end;
    next.remaining = before - packet.request.payload.to<32>();
    return next;
  }

  // Opcode sequence (row 26), payload against PMTU (24), payloads against the RETH's length (25).
  static bool well_shaped(const Taken& packet, const Row& row) {
    const bool starts = bool(packet.starts), ends = bool(packet.ends);
    const bool sequence = bool(packet.writes) && packet.starts != row.in_message;
    const bool size =
        ends ? !row.pmtu.ult(packet.smallest_pmtu) : bool(packet.full) && row.pmtu == packet.smallest_pmtu;
    const bool sum = starts ? bool(packet.adds_up) : adds_up(packet.request.payload, row.message.remaining, ends);
    return sequence && size && sum;
  }

  static Placement placed(const Taken& packet, const Row& row, bool keep) {
    Placement p;
    p.keep = Bits<1>(keep);
    p.body = packet.request.body;
    p.address = bool(packet.starts) ? packet.address : row.message.end - row.message.remaining.to<64>();
    p.bytes = packet.request.payload;
    p.tag = packet.request.tag;
    return p;
  }

  // A duplicate is acknowledged with the PSN completed last, not with its own (D.2 row 3).
  static AckToSend acknowledgement(const RxChecked& packet, const Row& row, const Row& next, const Bits<8>& nak) {
    const bool in_order = packet.sequence == Bits<2>(kInOrder), gap = packet.sequence == Bits<2>(kGap);
    AckToSend a;
    a.qpn = packet.request.qpn;
    a.psn = in_order ? packet.request.psn : gap ? packet.expected : packet.expected.previous();
    a.syndrome = gap ? Bits<8>(wire::aeth::kNakSequence) : in_order && bool(nak) ? nak : Bits<8>(wire::aeth::kAck);
    a.msn = in_order && !bool(nak) ? next.msn : row.msn;
    a.tag = packet.request.tag;
    return a;
  }

  // Counts what the last step decided, which keeps the counters out of its path.
  void count() {
    const Outcome o = outcome_;
    outcome_.answered = Bits<1>(0);
    if (!bool(o.answered)) return;
    if (!bool(o.alive)) {
      if (o.sequence != Bits<2>(kIgnore)) dead_drops.inc();
      return;
    }
    if (o.sequence != Bits<2>(kInOrder)) return;
    const bool refused = bool(o.nak) ? o.nak == Bits<8>(wire::aeth::kNakInvalidRequest) : !bool(o.shaped);
    if (refused) invalid_request.inc();
    if (!refused && bool(o.starts)) rx_write_requests.inc();
    if (bool(o.nak) || !bool(o.shaped)) return;
    packets.inc();
    if (bool(o.ends)) messages.inc();
  }

  void configure(const MsnControl& c) {
    Row row;
    row.msn = c.msn;
    row.pmtu = c.pmtu;
    row.message = message_behind();
    rows_.write(row_of(c.qpn), row);
  }
};

}  // namespace tables
}  // namespace hw
