// Owner of the table of memory regions: may the peer write where a message's RETH says, and where is that in the host?
//
// Asked once a message, for a packet in order that carries a RETH and asks for bytes: a message of no bytes is neither
// checked for its key nor for its range (docs/protocol.md D row 21). The region must be valid and writable, its whole
// key equal, and [va, va + dma_length) inside it in exact arithmetic; else Remote Access Error (rows 27, 28, 29). The
// whole message is checked before its first byte is placed: nothing of a message that runs past its region is written.
//
// A packet is taken in c, its distances inside the region are taken in c + 1 and compared in c + 2: two carry chains, a
// cycle each. Control writes a row at once, in any cycle; a packet taken in the
// same cycle still sees the row as it was.
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
    if (bool(busy_)) measure(packet_, rows_.data());
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    packet_ = in.read();
    rows_.request(row_of_key(packet_.request.rkey));
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  Cycles quiet() const {
    return bool(busy_) || bool(measured_.valid) ? 0 : kForever;
  }
#endif

 private:
  struct Measured {
    Bits<1> valid;
    RxChecked packet;
    Bits<1> names_memory, permitted;
    Bits<64> address;  // of the region in the host
    Bits<64> offset;   // of the message in the region
    Bits<64> room;     // the largest offset that leaves room for the message
  };
  Ram<RegionControl, kMaxRegions> rows_;
  RxChecked packet_;
  Bits<1> busy_;
  Measured measured_;

  // The low byte of a key is the consumer's, to tell successive uses of one region apart (IBTA 10.6.3.3).
  static RegionRow row_of_key(const Bits<32>& rkey) {
    return rkey.get<8, clog2(kMaxRegions)>();
  }

  void measure(const RxChecked& packet, const RegionControl& region) {
    const RxRequest& request = packet.request;
    const Bits<64> bytes = request.dma_length.to<64>();
    const bool key = bool(region.valid) && bool(region.remote_write) && region.rkey == request.rkey;
    const bool not_outside = !request.va.ult(region.va) && !region.length.ult(bytes);
    measured_.packet = packet;
    measured_.names_memory = Bits<1>(packet.sequence == Bits<2>(kInOrder) && !bool(packet.nak) &&
                                     wire::starts_message(request.opcode) && bool(request.dma_length));
    measured_.permitted = Bits<1>(key && not_outside);
    measured_.offset = request.va - region.va;
    measured_.room = region.length - bytes;
    measured_.address = region.address;
  }

  RxChecked judged(const Measured& m) {
    RxChecked result = m.packet;
    if (!bool(m.names_memory)) return result;
    result.address = m.address + m.offset;
    if (!bool(m.permitted) || m.room.ult(m.offset)) {
      result.nak = Bits<8>(wire::aeth::kNakRemoteAccess);
      access_errors.inc();
    }
    return result;
  }
};

}  // namespace tables
}  // namespace hw
