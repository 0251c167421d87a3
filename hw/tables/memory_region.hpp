// Owner of the table of memory regions: may the peer write where a message's RETH says, and where is that in the host?
//
// Asked once a message, for a packet in order that carries a RETH and asks for bytes: a message of no bytes is neither
// checked for its key nor for its range (facts/protocol.md D row 21). The region must be valid and writable, its whole
// key equal, and [va, va + dma_length) inside it in exact arithmetic; else Remote Access Error (rows 27, 28, 29). The
// whole message is checked before its first byte is placed: nothing of a message that runs past its region is written.
//
// A packet is taken in c, its verdict given in c + 1. Control writes a row at once, in any cycle; a packet taken in the
// same cycle still sees the row as it was.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tables {

struct MemoryRegion {
  Counter access_errors;

  void step(hls::stream<RxChecked>& in, hls::stream<RegionControl>& control, hls::stream<RxChecked>& out) {
    if (!control.empty()) {
      const RegionControl& region = control.read();
      rows_.write(row_of_key(region.rkey), region);
    }
    if (bool(busy_)) {
      if (out.full()) return;
      out.write(checked(packet_, rows_.data()));
    }
    busy_ = Bits<1>(!in.empty());
    if (!bool(busy_)) return;
    packet_ = in.read();
    rows_.request(row_of_key(packet_.request.rkey));
  }

 private:
  Ram<RegionControl, kMaxRegions> rows_;
  RxChecked packet_;
  Bits<1> busy_;

  // The low byte of a key is the consumer's, to tell successive uses of one region apart (IBTA 10.6.3.3).
  static RegionRow row_of_key(const Bits<32>& rkey) { return rkey.get<8, clog2(kMaxRegions)>(); }

  RxChecked checked(const RxChecked& packet, const RegionControl& region) {
    RxChecked result = packet;
    const RxRequest& request = packet.request;
    const bool names_memory = packet.sequence == Bits<2>(kInOrder) && !bool(packet.nak) &&
                              wire::starts_message(request.opcode) && bool(request.dma_length);
    if (!names_memory) return result;
    const Bits<64> offset = request.va - region.va;
    result.address = region.address + offset;
    if (!may_write(request, region, offset)) {
      result.nak = Bits<8>(wire::aeth::kNakRemoteAccess);
      access_errors.inc();
    }
    return result;
  }

  static bool may_write(const RxRequest& request, const RegionControl& region, const Bits<64>& offset) {
    const Bits<64> bytes = request.dma_length.to<64>();
    const Bits<64> room = region.length - bytes;  // offsets up to this one leave room for the message
    const bool inside = !request.va.ult(region.va) && !region.length.ult(bytes) && !room.ult(offset);
    return bool(region.valid) && bool(region.remote_write) && region.rkey == request.rkey && inside;
  }
};

}  // namespace tables
}  // namespace hw
