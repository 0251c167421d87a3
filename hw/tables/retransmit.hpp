// tables/retransmit: remembers every packet until it is acknowledged, in one linked list per QP out of shared entries.
// There is one entry a PSN: a READ request has one for each response, so that what is left of it can be asked for
// again (docs/protocol.md D row 5).
//
// A list begins with an entry of a PSN that is gone, so inserting touches only the tail and releasing only the head;
// each lives in a Ram of its own, and sends go on while a walk releases. A link carries what a walk must know of the
// successor, so releasing never reads entries. Packets leave in the order of the commands: while a replay runs no new
// packet passes, and a replay starts behind every packet sent before.
#pragma once
#include "../bus/counter.hpp"
#include "../bus/ram.hpp"
#include "../tokens.hpp"

namespace hw {
namespace tables {

// A command takes one cycle, the send of a READ one for each of its PSNs; a release, replay or abort of n PSNs occupies
// the one walker for n + 1 (a replay for one more). Each command is executed in order, except that sends do not wait
// for a release or an abort.
//
// Free entries: those once used come from a FIFO, fresh ones from above a high-water mark. work_queue
// counts PSNs and never has more than kListEntries less one per QP under way; a send that finds no entry waits for a
// release that is under way.
struct Retransmit {
  Counter sent, released;  // PSNs
  Counter retransmitted;   // packets
  HW_COUNTERS(sent, retransmitted, released)

  void step(hls::stream<ListCommand>& commands, hls::stream<TxPacket>& out, hls::stream<Completion>& completions) {
    const bool walking = bool(walking_), replaying = walking && walk_op_ == Bits<3>(kListReplay);
    const bool refill = free_in_ != free_out_;  // before this step's release: a row written now cannot be fetched now
    if (replaying) replay(out);
    if (walking && !replaying) release(completions);
    if (bool(have_)) {
      if (command_.op == Bits<3>(kListSend)) {
        if (!replaying && has_entry() && (bool(continues_) || !out.full())) send(out);
      } else if (!walking) {
        execute(completions);
      }
    }
    if (!bool(have_) && !commands.empty()) {
      command_ = commands.read();
      have_ = Bits<1>(1);
      head_.request(row_of(command_.packet.qpn));
      tail_.request(row_of(command_.packet.qpn));
    }
    if (refill && !bool(spare_)) {
      free_.request(free_out_);
      free_out_ = free_out_ + EntryRow(1);
      spare_ = Bits<1>(1);
    }
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A send waits for a stream, except when it waits for an entry, goes on, or waited for a replay that ended with a PSN
  // passed over; anything else may wait for the walker.
  Cycles quiet() const {
    const bool for_stream =
        command_.op == Bits<3>(kListSend) && high_water_ != HighWater(kListEntries) && !bool(asked_);
    const bool busy = bool(walking_) || bool(continues_) || (bool(have_) && !for_stream);
    return busy || (!bool(spare_) && free_in_ != free_out_) ? 0 : kForever;
  }
  void skip(Cycles) {}

  // For end-of-run checks: entries that no list holds. An open QP keeps one.
  uint64_t free_entries() const {
    return kListEntries - high_water_.u64() + (free_in_ - free_out_).u64() + spare_.u64();
  }
  // PSNs that are not acknowledged yet.
  uint64_t held() const {
    return (sent.v - released.v).u64();
  }
#endif

 private:
  typedef Bits<clog2(kListEntries) + 1> HighWater;
  typedef Bits<clog2(kListEntries) + 1> Count;

  // `status` is that of the next completion: success, then of the error that ended the QP, then flushed.
  struct Head {
    EntryRow entry;
    Bits<4> status;
    Bits<1> open;
  };
  // The entry behind this one: whether it ends the message `index`, and whether it is within a READ whose request
  // stands before it.
  struct Link {
    EntryRow entry;
    Bits<1> last, continuation;
    Bits<16> index;
    Tag tag;
  };
  // PSNs that a walk has to go, and whether they are one or none, to have it early in the cycle.
  struct Left {
    Count psns;
    Bits<1> one, none;
    void start(const Count& n) {
      psns = n;
      one = Bits<1>(n == Count(1));
      none = Bits<1>(0);
    }
    void step() {
      none = one;
      one = Bits<1>(psns == Count(2));
      psns = psns - Count(1);
    }
  };
  // A packet without what the list knows already: QP and PSN.
  struct Entry {
    Bits<8> opcode;
    Bits<1> ack_request, solicited;
    Bits<64> local_address, remote_address;
    Bits<32> rkey, dma_length, immediate;
    PacketBytes payload;
    PmtuCode pmtu;
    Bits<5> psns;
    Bits<1> last;
    Bits<16> index;
    Tag tag;
  };

  bool has_entry() const {
    return bool(spare_) || !bool(high_water_.get<clog2(kListEntries), 1>());
  }
  EntryRow take_entry() {
    const EntryRow e = bool(spare_) ? EntryRow(free_.data()) : high_water_.to<clog2(kListEntries)>();
    if (!bool(spare_)) high_water_ = high_water_ + HighWater(1);
    spare_ = Bits<1>(0);
    return e;
  }

  // One PSN of the command's packet, which itself leaves with the first.
  void send(hls::stream<TxPacket>& out) {
    const TxPacket p = command_.packet;
    const bool ends = p.psns == Bits<5>(1);
    const EntryRow e = take_entry();
    Link link;
    link.entry = e;
    link.last = p.last & Bits<1>(ends);
    link.continuation = continues_;
    link.index = p.index;
    link.tag = p.tag;
    link_.write(tail_.data(), link);
    entry_.write(e, entry_of(p));
    tail_.write(row_of(p.qpn), e);
    if (!bool(continues_)) out.write(p);
    sent.inc();
    advance(command_.packet);
    continues_ = Bits<1>(!ends);
    have_ = continues_;
  }
  // To the request for what a READ asks for beyond its next PSN.
  static void advance(TxPacket& read) {
    const PacketBytes pmtu = pmtu_bytes(read.pmtu);
    read.local_address = read.local_address + pmtu.to<64>();
    read.remote_address = read.remote_address + pmtu.to<64>();
    read.dma_length = read.dma_length - pmtu.to<32>();
    read.psns = read.psns - Bits<5>(1);
  }

  void execute(hls::stream<Completion>& completions) {
    if (command_.op == Bits<3>(kListOpen))
      open();
    else if (command_.op == Bits<3>(kListFlush))
      flush(completions);
    else
      start_walk();
  }

  // A QP that is opened again keeps its first entry.
  void open() {
    Head head = head_.data();
    if (!bool(head.open)) {
      if (!has_entry()) return;
      head.entry = take_entry();
      tail_.write(row_of(command_.packet.qpn), head.entry);
    }
    head.open = Bits<1>(1);
    head.status = Bits<4>(kSuccess);
    head_.write(row_of(command_.packet.qpn), head);
    have_ = Bits<1>(0);
  }

  void flush(hls::stream<Completion>& completions) {
    if (completions.full()) return;
    Head head = head_.data();
    if (bool(command_.packet.last)) {
      if (head.status == Bits<4>(kSuccess)) head.status = Bits<4>(kFlushed);  // never opened
      completions.write(completion(command_.packet.qpn, command_.packet.index, head.status, command_.packet.tag));
      head.status = Bits<4>(kFlushed);
      head_.write(row_of(command_.packet.qpn), head);
    }
    have_ = Bits<1>(0);
  }

  void start_walk() {
    const Head head = head_.data();
    walking_ = Bits<1>(1);
    walk_op_ = command_.op;
    walk_qpn_ = command_.packet.qpn;
    walk_psn_ = command_.packet.psn;
    left_.start(command_.count.to<clog2(kListEntries) + 1>());
    walk_status_ = command_.op == Bits<3>(kListAbort) ? command_.status : head.status;
    cursor_ = head.entry;
    link_.request(head.entry);
    have_ = Bits<1>(0);
  }

  void release(hls::stream<Completion>& completions) {
    if (completions.full()) return;
    const Link link = link_.data();
    free_.write(free_in_, cursor_);
    free_in_ = free_in_ + EntryRow(1);
    released.inc();
    if (bool(link.last)) {
      completions.write(completion(walk_qpn_, link.index, walk_status_, link.tag));
      if (walk_status_ != Bits<4>(kSuccess)) walk_status_ = Bits<4>(kFlushed);
    }
    cursor_ = link.entry;
    if (!bool(left_.one)) {
      link_.request(link.entry);
    } else {
      Head head;
      head.entry = link.entry;
      head.status = walk_status_;
      head.open = Bits<1>(1);
      head_.write(row_of(walk_qpn_), head);
      walking_ = Bits<1>(0);
    }
    left_.step();
  }

  // Fetches one entry a cycle and sends the one fetched before, unless the request sent last asks for it too.
  void replay(hls::stream<TxPacket>& out) {
    if (bool(fetched_) && !bool(asked_)) {
      if (out.full()) return;
      out.write(rebuild(entry_.data()));
      retransmitted.inc();
    }
    if (bool(fetched_)) walk_psn_ = walk_psn_.next();
    const bool more = !bool(left_.none), first = !bool(fetched_);
    fetched_ = Bits<1>(more);
    walking_ = Bits<1>(more);
    if (!more) return;
    const Link link = link_.data();
    entry_.request(link.entry);
    link_.request(link.entry);
    asked_ = Bits<1>(!first && bool(link.continuation));
    left_.step();
  }

  static Entry entry_of(const TxPacket& p) {
    Entry e;
    e.opcode = p.opcode;
    e.ack_request = p.ack_request;
    e.solicited = p.solicited;
    e.local_address = p.local_address;
    e.remote_address = p.remote_address;
    e.rkey = p.rkey;
    e.dma_length = p.dma_length;
    e.immediate = p.immediate;
    e.payload = p.payload;
    e.pmtu = p.pmtu;
    e.psns = p.psns;
    e.last = p.last;
    e.index = p.index;
    e.tag = p.tag;
    return e;
  }
  // The last packet of a replay asks for an acknowledgement, whatever it asked for at first, unless it is a READ of
  // several PSNs: its responses acknowledge.
  TxPacket rebuild(const Entry& e) const {
    TxPacket p;
    p.opcode = e.opcode;
    p.qpn = walk_qpn_;
    p.psn = walk_psn_;
    p.ack_request = e.ack_request | left_.none;
    p.solicited = e.solicited;
    p.local_address = e.local_address;
    p.remote_address = e.remote_address;
    p.rkey = e.rkey;
    p.dma_length = e.dma_length;
    p.immediate = e.immediate;
    p.payload = e.payload;
    p.pmtu = e.pmtu;
    p.psns = e.psns;
    p.last = e.last;
    p.index = e.index;
    p.tag = e.tag;
    return p;
  }
  static Completion completion(const Qpn& qpn, const Bits<16>& index, const Bits<4>& status, const Tag& tag) {
    Completion c;
    c.qpn = qpn;
    c.index = index;
    c.status = status;
    c.tag = tag;
    return c;
  }

  RamForward<Head, kMaxQps> head_;
  RamForward<EntryRow, kMaxQps> tail_;
  Ram<Link, kListEntries> link_;
  Ram<Entry, kListEntries> entry_;
  Ram<EntryRow, kListEntries> free_;

  Bits<1> have_;
  ListCommand command_;  // its QP's head and tail are fetched
  Bits<1> continues_;    // it is a READ of which the first PSNs are remembered already

  EntryRow free_in_, free_out_;  // the FIFO never holds all entries: the QPs own some
  Bits<1> spare_;                // free_.data() is a free entry
  HighWater high_water_;         // entries from here on were never used

  Bits<1> walking_;
  Bits<1> fetched_, asked_;  // of a replay: an entry has come, the request sent last asks for it
  Bits<3> walk_op_;
  Qpn walk_qpn_;
  Psn walk_psn_;
  Left left_;
  Bits<4> walk_status_;
  EntryRow cursor_;  // the head while a release walks
};

}  // namespace tables
}  // namespace hw
