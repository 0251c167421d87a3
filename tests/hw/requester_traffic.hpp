// What a requester under test is given to do, and what must come of it.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "requester_peer.hpp"

namespace test {

struct Scenario {
  uint64_t seed = 1;
  bool every_cycle = true;
  unsigned qps = 1, messages = 40;                   // messages per QP
  std::array<unsigned, 3> operations = {{1, 0, 0}};  // weights of WRITE, SEND, READ
  uint64_t longest = 6 * kPmtu;                      // bytes
  uint32_t window = 16, entries = 64, ack_interval = 4, read_psns = 16;
  unsigned max_reads = 16;
  unsigned depth = 2;
  unsigned retry_count = 7;
  // The channel. Percentages; delays in cycles.
  unsigned packet_loss = 0, answer_loss = 0, answer_double = 0, out_room = 100, cqe_room = 100;
  hw::Cycles packet_delay = 10, answer_delay = 10, answer_jitter = 0;
  // The first `broken` QPs have a peer that breaks (see Peer).
  unsigned broken = 0;
  uint64_t break_at = 0, syndrome = 0;
};

// One QP as the test knows it: its messages, what they must become, and what was seen of it.
struct Qp {
  uint64_t first_psn;
  std::vector<hw::Wqe> messages;
  std::vector<hw::TxPacket> psns;  // of each PSN the packet that begins there, of a READ what asks for it and the rest
  std::vector<uint64_t> ends;      // PSNs up to the end of each message
  std::vector<bool> answered;      // of each PSN: its READ response was taken
  std::unique_ptr<Peer> peer;
  AwaitedReads reads;
  uint64_t sent = 0, released = 0, credited = 0;  // PSNs
  std::deque<uint64_t> to_issue;                  // PSNs of READs that were sent and not issued yet
  std::vector<uint64_t> statuses;                 // of the completions, in order
  hw::Cycles last_response = 0;
};

inline bool is_read(const hw::TxPacket& p) {
  return hw::wire::is(p.opcode, hw::wire::kReadRequest);
}

// Appends `w` and its packets to `qp`.
inline void cut(Qp& qp, const hw::Wqe& w, uint64_t read_psns) {
  const uint64_t length = w.length.u64(), operation = w.operation.u64(), imm = w.has_immediate.u64();
  const bool read = operation == hw::kOpRead, send = operation == hw::kOpSend;
  for (uint64_t at = 0; at == 0 || at < length; at += kPmtu) {
    const bool first = at == 0, last = length - at <= kPmtu;
    const uint64_t write = first ? (last ? 0x0a + imm : 0x06) : (last ? 0x08 + imm : 0x07);
    const uint64_t request = at / (kPmtu * read_psns), end = std::min(length, (request + 1) * read_psns * kPmtu);
    hw::TxPacket p;
    p.opcode = hw::Bits<8>(read ? 0x0c : send ? write - 6 : write);
    p.qpn = w.qpn;
    p.psn = hw::Psn((qp.first_psn + qp.psns.size()) & kPsnMask);
    p.local_address = hw::Bits<64>(w.local_address.u64() + at);
    p.remote_address = hw::Bits<64>(w.remote_address.u64() + (read ? at : 0));
    p.rkey = w.rkey;
    p.dma_length = hw::Bits<32>(read ? end - at : length);
    p.immediate = w.immediate;
    p.solicited = hw::Bits<1>(last && bool(w.solicited));
    p.payload = hw::PacketBytes(read ? 0 : last ? length - at : kPmtu);
    p.pmtu = hw::PmtuCode(1);
    p.psns = hw::Bits<5>(read ? std::max<uint64_t>(1, (end - at + kPmtu - 1) / kPmtu) : 1);
    p.last = hw::Bits<1>(read ? end == length : last);
    p.index = w.index;
    qp.psns.push_back(p);
  }
  qp.messages.push_back(w);
  qp.ends.push_back(qp.psns.size());
}

}  // namespace test
