// Compile-time ceilings of every table. In simulation they are far above what is configured and cost nothing (rows
// are allocated when touched); a synthesis build sets them with -D to the size that is to be built.
// All are powers of two: a row number is the low bits of its key.
#pragma once
#include "bus/bits.hpp"

#ifndef HW_MAX_QPS
#define HW_MAX_QPS 16384
#endif
#ifndef HW_MAX_REGIONS
#define HW_MAX_REGIONS 4096
#endif
#ifndef HW_LIST_ENTRIES
#define HW_LIST_ENTRIES 65536
#endif
#ifndef HW_SEND_WQES
#define HW_SEND_WQES 1024
#endif
#ifndef HW_RECEIVE_WQES
#define HW_RECEIVE_WQES 1024
#endif
#ifndef HW_MAX_READS
#define HW_MAX_READS 16
#endif
#ifndef HW_STORE_BYTES
#define HW_STORE_BYTES 65536
#endif
#ifndef HW_REPLY_BYTES
#define HW_REPLY_BYTES 16384
#endif

namespace hw {

constexpr int kMaxQps = HW_MAX_QPS;
constexpr int kMaxRegions = HW_MAX_REGIONS;
constexpr int kListEntries = HW_LIST_ENTRIES;  // retransmit entries, one more per QP included
constexpr int kSendWqes = HW_SEND_WQES;        // work requests per QP that the NIC holds, sent ones not counted
constexpr int kReceiveWqes = HW_RECEIVE_WQES;  // receive work requests per QP
constexpr int kMaxReads = HW_MAX_READS;        // READ requests per QP under way, in each direction
constexpr int kStoreBytes = HW_STORE_BYTES;    // of the receive packet store, in whole beats
constexpr int kReplyBytes = HW_REPLY_BYTES;    // of the store of ARP and ICMP replies: at least a jumbo frame

typedef Bits<24> Qpn;
typedef Bits<clog2(kMaxQps)> QpRow;
typedef Bits<clog2(kMaxRegions)> RegionRow;
typedef Bits<clog2(kListEntries)> EntryRow;
typedef Bits<clog2(kSendWqes)> SendSlot;
typedef Bits<clog2(kReceiveWqes)> ReceiveSlot;
typedef Bits<clog2(kMaxReads)> ReadSlot;

// The table row of a QP is the low part of its number; rows keep the full number where a stranger could name it.
inline QpRow row_of(const Qpn& qpn) {
  return qpn.get<0, clog2(kMaxQps)>();
}
// The row of a QP's `slot`, where each QP has as many as a slot's number can tell apart.
template <int SLOT_BITS>
Bits<clog2(kMaxQps) + SLOT_BITS> row_of(const QpRow& qp, const Bits<SLOT_BITS>& slot) {
  return cat(qp, slot);
}

}  // namespace hw
