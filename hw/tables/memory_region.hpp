// Owner of the table of memory regions: may the peer write or read where a message's RETH says, and where is that in
// the host?
//
// Asked once a message, for a packet that carries a RETH and asks for bytes: a message of no bytes is neither checked
// for its key nor for its range (docs/protocol.md D rows 21, 22). The packet must be in order, or a READ that is
// executed again (D.2), and not refused before. The region must be valid and grant the right, its whole key equal, and
// [va, va + dma_length) inside it in exact arithmetic; else Remote Access Error (rows 27, 28, 29). The whole message is
// checked before its first byte moves: nothing of a message that runs past its region is written or read.
//
// A packet is taken in c and judged in c + 1. A row holds what leaves one comparison for either end and one addition
// for the address. Control writes a row at once, in any cycle; a packet taken in the same cycle still sees the row as
// it was.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tables {

struct MemoryRegion {
  Counter access_errors;
  HW_COUNTERS(access_errors)

  void step(hls::stream<RxChecked>& in, hls::stream<RegionControl>& control, hls::stream<RxChecked>& out) {
    count();
    if (!control.empty()) configure(control.read());
    if (bool(busy_)) {
      if (out.full()) return;
      out.write(judged(rows_.data()));
    }
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    checked_ = in.read();
    range_.va = checked_.packet.va;
    range_.end = checked_.packet.va + checked_.packet.dma_length.to<64>();
    rows_.request(row_of_key(checked_.packet.rkey));
  }

 private:
  // Addresses from `va` to that before `end`, which is modulo 2^64: before `va` where they go past the last one.
  struct Range {
    Bits<64> va, end;
    bool wraps() const { return end.ult(va); }
  };
  struct Row {
    Bits<32> rkey;
    Bits<1> valid, remote_write, remote_read;
    Range range;
    Bits<64> displacement;  // from an address inside the region to that in the host
  };
  struct Findings {
    Bits<1> asks, granted, begins_inside, ends_inside;
    bool refused() const { return bool(asks & ~(granted & begins_inside & ends_inside)); }
  };
  Ram<Row, kMaxRegions> rows_;
  RxChecked checked_;
  Range range_;  // of its message
  Bits<1> busy_;
  Findings findings_;  // on the packet that the last step gave

  // The low byte of a key is the consumer's, to tell successive uses of one region apart (IBTA 10.6.3.3).
  static RegionRow row_of_key(const Bits<32>& rkey) { return rkey.get<8, clog2(kMaxRegions)>(); }
  static bool ends_inside(const Range& message, const Range& region) {
    const bool past = message.wraps(), reaches_past = region.wraps();
    return past == reaches_past ? !region.end.ult(message.end) : reaches_past;
  }

  void configure(const RegionControl& c) {
    Row row;
    row.rkey = c.rkey;
    row.valid = c.valid;
    row.remote_write = c.remote_write;
    row.remote_read = c.remote_read;
    row.range.va = c.va;
    row.range.end = c.va + c.length;
    row.displacement = c.address - c.va;
    rows_.write(row_of_key(c.rkey), row);
  }

  static bool asks(const RxChecked& checked) {
    const RxTransport& packet = checked.packet;
    const bool again = checked.sequence == Bits<2>(kDuplicate) && wire::is(packet.opcode, wire::kReadRequest);
    return (checked.sequence == Bits<2>(kInOrder) || again) && !bool(checked.nak) && wire::has_reth(packet.opcode) &&
           bool(packet.dma_length);
  }

  RxChecked judged(const Row& row) {
    const RxTransport& packet = checked_.packet;
    const bool right = bool(wire::is(packet.opcode, wire::kReadRequest) ? row.remote_read : row.remote_write);
    findings_.asks = Bits<1>(asks(checked_));
    findings_.granted = Bits<1>(bool(row.valid) && right && row.rkey == packet.rkey);
    findings_.begins_inside = Bits<1>(!packet.va.ult(row.range.va));
    findings_.ends_inside = Bits<1>(ends_inside(range_, row.range));
    RxChecked result = checked_;
    if (bool(findings_.asks)) result.address = packet.va + row.displacement;
    if (findings_.refused()) result.nak = Bits<8>(wire::aeth::kNakRemoteAccess);
    return result;
  }

  // Counts what the last step found, which keeps the counter out of its path.
  void count() {
    if (findings_.refused()) access_errors.inc();
    findings_.asks = Bits<1>(0);
  }
};

}  // namespace tables
}  // namespace hw
