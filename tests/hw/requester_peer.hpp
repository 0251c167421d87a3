// The other side of a requester and the receive side of its own, in plain integers.
#pragma once
#include <deque>
#include <functional>
#include <vector>

#include "bench.hpp"
#include "hw/tokens.hpp"

namespace test {

constexpr uint64_t kPsnMask = 0xffffff, kPmtu = 256;

// How far `psn` lies ahead of `o`; behind it: negative.
inline int64_t ahead_of(uint64_t psn, uint64_t o) {
  const int64_t d = int64_t((psn - o) & kPsnMask);
  return d < 0x800000 ? d : d - 0x1000000;
}

// An acknowledgement, or a READ response, whose syndrome is that of an ACK.
struct Answer {
  uint64_t qpn, psn, syndrome;
  bool response;
};

// A responder by the rules of IBTA 9.7.5.1. It answers the packet with the `break_at`-th PSN by NAK `syndrome`, or by
// silence (0), and everything after it by silence.
class Peer {
 public:
  Peer(uint64_t first_psn, uint64_t break_at, uint64_t syndrome)
      : expected_(first_psn), break_at_(break_at), syndrome_(syndrome) {}

  std::vector<Answer> receive(const hw::TxPacket& p) {
    const bool read = hw::wire::is(p.opcode, hw::wire::kReadRequest);
    const uint64_t psn = p.psn.v.u64(), psns = read ? responses(p) : 1;
    const int64_t ahead = ahead_of(psn, expected_);
    if (broken_) return {};
    EXPECT_TRUE(ahead >= 0 || ahead + int64_t(psns) <= 0) << "again, and more than it was";
    if (ahead < 0) return read ? answer_read(p, psns) : reply(p, expected_ - 1, hw::wire::aeth::kAck);
    if (ahead > 0) {
      if (nak_sent_) return {};
      nak_sent_ = true;
      return reply(p, expected_, hw::wire::aeth::kNakSequence);
    }
    if (break_at_ < accepted_ + psns) {
      broken_ = true;
      return syndrome_ != 0 ? reply(p, expected_, syndrome_) : std::vector<Answer>();
    }
    accepted_ += psns;
    expected_ = (expected_ + psns) & kPsnMask;
    nak_sent_ = false;
    if (read) return answer_read(p, psns);
    return bool(p.ack_request) ? reply(p, expected_ - 1, hw::wire::aeth::kAck) : std::vector<Answer>();
  }
  uint64_t accepted() const { return accepted_; }  // PSNs

 private:
  static uint64_t responses(const hw::TxPacket& p) {
    return p.dma_length.u64() == 0 ? 1 : (p.dma_length.u64() + kPmtu - 1) / kPmtu;
  }
  static std::vector<Answer> reply(const hw::TxPacket& p, uint64_t psn, uint64_t syndrome) {
    return {{p.qpn.u64(), psn & kPsnMask, syndrome, false}};
  }
  static std::vector<Answer> answer_read(const hw::TxPacket& p, uint64_t psns) {
    std::vector<Answer> answers;
    for (uint64_t i = 0; i < psns; i++)
      answers.push_back({p.qpn.u64(), (p.psn.v.u64() + i) & kPsnMask, hw::wire::aeth::kAck, true});
    return answers;
  }

  uint64_t expected_, break_at_, syndrome_;
  bool nak_sent_ = false, broken_ = false;
  uint64_t accepted_ = 0;
};

// The READs of a QP whose responses are awaited: what of the answers the requester gets to see (docs/protocol.md D rows
// 7 and 8).
class AwaitedReads {
 public:
  void issue(const hw::ReadIssued& r, uint64_t psns) { reads_.push_back({r.psn.v.u64(), psns}); }

  // True when `a`, perhaps changed into an implied NAK, goes to the requester. `answered` is called for the PSN of each
  // response that is taken, `done` at the end of each READ.
  bool judge(Answer& a, const std::function<void(uint64_t)>& answered, const std::function<void()>& done) {
    if (reads_.empty()) return !a.response;
    Read& oldest = reads_.front();
    const int64_t ahead = ahead_of(a.psn, oldest.expected);
    const bool is_nak = a.syndrome >= hw::wire::aeth::kNakSequence;
    if (a.response && ahead == 0) {
      answered(a.psn);
      implied_ = false;
      oldest.expected = (oldest.expected + 1) & kPsnMask;
      if (--oldest.left == 0) reads_.pop_front(), done();
      return true;
    }
    if (ahead < 0 || (ahead == 0 && is_nak)) return !a.response;
    if (implied_) return false;
    implied_ = true;
    a = {a.qpn, oldest.expected, hw::wire::aeth::kNakSequence, false};
    return true;
  }

 private:
  struct Read {
    uint64_t expected, left;  // PSN of the next response, responses to come
  };
  std::deque<Read> reads_;
  bool implied_ = false;  // since the last response
};

}  // namespace test
