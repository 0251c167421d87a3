// Owner of the table of memory regions: may the peer write or read where a message's RETH says, and where is that in
// the host?
//
// Asked once a message, for a packet that carries a RETH and asks for bytes: a message of no bytes is neither checked
// for its key nor for its range (docs/protocol.md D rows 21, 22). The packet must be in order, or a READ that is
// executed again (D.2), and not refused before. The region must be valid and grant the right, its whole key equal, and
// [va, va + dma_length) inside it in exact arithmetic; else Remote Access Error (rows 27, 28, 29). The whole message is
// checked before its first byte moves: nothing of a message that runs past its region is written or read.
//
// A packet is taken in c, its distances inside the region are taken in c + 1 and compared in c + 2: two carry chains, a
// cycle each. Control writes a row at once, in any cycle; a packet taken in the same cycle still sees the row as it
// was.
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
    if (!control.empty()) {
      const RegionControl& region = control.read();
      rows_.write(row_of_key(region.rkey), region);
    }
    if (bool(measured_.valid)) {
      if (out.full()) return;
      out.write(judged(measured_));
    }
    measured_.valid = busy_;
    if (bool(busy_)) measure(checked_, rows_.data());
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    checked_ = in.read();
    rows_.request(row_of_key(checked_.packet.rkey));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  Cycles quiet() const {
    return bool(busy_) || bool(measured_.valid) ? 0 : kForever;
  }
#endif

 private:
  struct Measured {
    Bits<1> valid;
    RxChecked checked;
    Bits<1> asks, granted, begins_inside, fits;
    Bits<64> address;  // of the region in the host
    Bits<64> offset;   // of the message in the region
    Bits<64> room;     // the largest offset that leaves room for the message
  };
  Ram<RegionControl, kMaxRegions> rows_;
  RxChecked checked_;
  Bits<1> busy_;
  Measured measured_;

  // The low byte of a key is the consumer's, to tell successive uses of one region apart (IBTA 10.6.3.3).
  static RegionRow row_of_key(const Bits<32>& rkey) {
    return rkey.get<8, clog2(kMaxRegions)>();
  }

  static bool asks(const RxChecked& checked) {
    const RxTransport& packet = checked.packet;
    const bool again = checked.sequence == Bits<2>(kDuplicate) && wire::is(packet.opcode, wire::kReadRequest);
    return (checked.sequence == Bits<2>(kInOrder) || again) && !bool(checked.nak) && wire::has_reth(packet.opcode) &&
           bool(packet.dma_length);
  }

  void measure(const RxChecked& checked, const RegionControl& region) {
    const RxTransport& packet = checked.packet;
    const Bits<64> bytes = packet.dma_length.to<64>();
    const bool read = wire::is(packet.opcode, wire::kReadRequest);
    const bool right = bool(read ? region.remote_read : region.remote_write);
    measured_.checked = checked;
    measured_.asks = Bits<1>(asks(checked));
    measured_.granted = Bits<1>(bool(region.valid) && right && region.rkey == packet.rkey);
    measured_.begins_inside = Bits<1>(!packet.va.ult(region.va));
    measured_.fits = Bits<1>(!region.length.ult(bytes));
    measured_.offset = packet.va - region.va;
    measured_.room = region.length - bytes;
    measured_.address = region.address;
  }

  RxChecked judged(const Measured& m) {
    RxChecked result = m.checked;
    if (!bool(m.asks)) return result;
    result.address = m.address + m.offset;
    if (!bool(m.granted) || !bool(m.begins_inside) || !bool(m.fits) || m.room.ult(m.offset)) {
      result.nak = Bits<8>(wire::aeth::kNakRemoteAccess);
      access_errors.inc();
    }
    return result;
  }
};

}  // namespace tables
}  // namespace hw
