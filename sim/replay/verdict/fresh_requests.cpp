#include "sim/replay/verdict/fresh_requests.hpp"

#include <algorithm>
#include <utility>

#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr size_t kMaxWaiting = 65536, kMaxHoles = 16;
// How far behind the last request a retry may still fill a gap of the capture.
constexpr int32_t kFillWindow = 4096;

bool is_read(const TransportPacket& packet) {
  return traces::operation_of(packet.opcode).verb == traces::Verb::kReadRequest;
}

// What an exact comparison finds first; null where all agrees. AckReq is free.
const char* difference(const TransportPacket& a, const TransportPacket& b) {
  if (a.opcode != b.opcode) return "other opcode";
  if (a.virtual_address != b.virtual_address) return "other address";
  if (a.remote_key != b.remote_key) return "other rkey";
  if (a.dma_length != b.dma_length) return "other DMALen";
  if (a.payload_bytes != b.payload_bytes) return "other payload length";
  if (a.immediate != b.immediate) return "other immediate data";
  if (a.solicited != b.solicited) return "other solicited bit";
  return nullptr;
}

}  // namespace

void FreshRequests::add(Side side, const Sighting& request, uint32_t psns, VerdictCounts& counts) {
  const uint32_t psn = request.packet.psn;
  if (side == kCaptured && has_settled_ && distance24(psn, settled_) < 0)
    return counts.give(Verdict::kNotComparable, &request, nullptr, "fills a gap too late");
  Piece piece;
  piece.request = request;
  piece.psns = psns;
  if (meet(side, piece, counts)) wait(side, piece, counts);
  if (side == kCaptured) settle((psn - kFillWindow) & traces::kPsnMask, counts);
}

// No retry brings what the capture lacks before `psn`.
void FreshRequests::settle(uint32_t psn, VerdictCounts& counts) {
  Fifo<Piece>& waiting = waiting_[kSimulated];
  for (; !waiting.empty() && distance24(waiting.front().request.packet.psn, psn) < 0; waiting.drop_front(1)) {
    if (waiting.front().is_judged) continue;
    counts.give(Verdict::kUnseen, nullptr, &waiting.front().request, "the capture goes on behind it");
    settled_ = (waiting.front().request.packet.psn + waiting.front().psns) & traces::kPsnMask;
    has_settled_ = true;
  }
}

void FreshRequests::wait(Side side, const Piece& piece, VerdictCounts& counts) {
  Fifo<Piece>& waiting = waiting_[side];
  if (waiting.size() == kMaxWaiting) {
    const Sighting& oldest = waiting.front().request;
    if (side == kCaptured) {
      counts.give(Verdict::kMissing, &oldest, nullptr, "the NIC falls far behind");
    } else {
      counts.give(Verdict::kNotComparable, nullptr, &oldest, "the endpoint falls far behind");
      settled_ = (oldest.packet.psn + waiting.front().psns) & traces::kPsnMask;
      has_settled_ = true;
    }
    waiting.drop_front(1);
  }
  auto at = waiting.end();
  while (at != waiting.begin() && distance24((at - 1)->request.packet.psn, piece.request.packet.psn) >= 0) --at;
  waiting.insert(at, piece);
}

// Compares with what waits of the other side. True when (the rest of) the piece has to wait itself.
bool FreshRequests::meet(Side side, Piece& piece, VerdictCounts& counts) {
  Fifo<Piece>& waiting = waiting_[other(side)];
  for (;;) {
    const uint32_t psn = piece.request.packet.psn;
    auto at = std::partition_point(waiting.begin(), waiting.end(), [psn](const Piece& p) {
      return distance24(psn, p.request.packet.psn) >= int32_t(p.psns);
    });
    while (at != waiting.end() && at->is_judged) ++at;
    const int32_t apart = at == waiting.end() ? 1 : distance24(at->request.packet.psn, psn);
    if (apart >= int32_t(piece.psns) || at == waiting.end()) {
      if (side == kCaptured || !is_in_hole(psn)) return true;
      counts.give(Verdict::kUnseen, nullptr, &piece.request, "a hole of the tap");
      return false;
    }
    Piece& captured = side == kCaptured ? piece : *at;
    Piece& simulated = side == kCaptured ? *at : piece;
    if (apart == 0 && captured.psns != simulated.psns && is_read(captured.request.packet) &&
        is_read(simulated.request.packet)) {
      const bool goes_on = compare_cut(captured, simulated, counts);
      if (!goes_on || at->psns == 0) take(waiting, *at);
      if (!goes_on || piece.psns == 0) return false;
      continue;
    }
    if (apart == 0)
      compare(captured, simulated, counts);
    else
      counts.give(Verdict::kDifferent, &captured.request, &simulated.request, "other PSNs");
    take(waiting, *at);
    return false;
  }
}

void FreshRequests::take(Fifo<Piece>& waiting, Piece& piece) {
  piece.is_judged = true;
  while (!waiting.empty() && waiting.front().is_judged) waiting.drop_front(1);
}

// Two READs from the same PSN on, one longer: takes the shorter one out of the longer. False when they contradict.
bool FreshRequests::compare_cut(Piece& captured, Piece& simulated, VerdictCounts& counts) {
  Piece& longer = captured.psns > simulated.psns ? captured : simulated;
  Piece& shorter = captured.psns > simulated.psns ? simulated : captured;
  TransportPacket& l = longer.request.packet;
  const TransportPacket& s = shorter.request.packet;
  if (l.virtual_address != s.virtual_address || l.remote_key != s.remote_key || l.dma_length <= s.dma_length) {
    counts.give(Verdict::kDifferent, &captured.request, &simulated.request, "a READ of other memory");
    return false;
  }
  l.psn = (l.psn + shorter.psns) & traces::kPsnMask;
  l.virtual_address += s.dma_length;
  l.dma_length -= s.dma_length;
  longer.psns -= shorter.psns;
  longer.is_cut = true;
  shorter.psns = 0;
  return true;
}

void FreshRequests::compare(const Piece& captured, const Piece& simulated, VerdictCounts& counts) {
  const TransportPacket &c = captured.request.packet, &s = simulated.request.packet;
  const char* found = captured.psns != simulated.psns ? "another number of PSNs" : difference(c, s);
  if (found != nullptr)
    counts.give(Verdict::kDifferent, &captured.request, &simulated.request, found);
  else if (captured.is_cut || simulated.is_cut)
    counts.give(Verdict::kEquivalent, &captured.request, &simulated.request, "a READ in other pieces");
  else if (c.ack_request != s.ack_request)
    counts.give(Verdict::kEquivalent, &captured.request, &simulated.request, "AckReq placed otherwise");
  else
    counts.give(Verdict::kMatch, &captured.request, &simulated.request, "the same");
}

bool FreshRequests::is_in_hole(uint32_t psn) const {
  return std::any_of(holes_.begin(), holes_.end(), [psn](const Hole& h) {
    const int32_t offset = distance24(psn, h.psn);
    return offset >= 0 && uint32_t(offset) < h.count;
  });
}

void FreshRequests::hole(uint32_t psn, uint32_t count, VerdictCounts& counts) {
  if (holes_.size() == kMaxHoles) holes_.erase(holes_.begin());
  holes_.push_back({psn, count});
  Fifo<Piece> left;
  for (const Piece& p : waiting_[kSimulated]) {
    if (p.is_judged) continue;
    if (is_in_hole(p.request.packet.psn))
      counts.give(Verdict::kUnseen, nullptr, &p.request, "a hole of the tap");
    else
      left.push_back(p);
  }
  waiting_[kSimulated] = std::move(left);
}

void FreshRequests::reset() {
  waiting_[kCaptured].clear();
  waiting_[kSimulated].clear();
  holes_ = {};
  has_settled_ = false;
}

void FreshRequests::give_up(VerdictCounts& counts, const char* reason) {
  for (const Piece& p : waiting_[kCaptured])
    if (!p.is_judged) counts.give(Verdict::kNotComparable, &p.request, nullptr, reason);
  for (const Piece& p : waiting_[kSimulated])
    if (!p.is_judged) counts.give(Verdict::kNotComparable, nullptr, &p.request, reason);
  reset();
}

void FreshRequests::finish(uint32_t captured_end, VerdictCounts& counts) {
  for (const Piece& p : waiting_[kCaptured])
    if (!p.is_judged) counts.give(Verdict::kMissing, &p.request, nullptr, "the NIC sent no such request");
  for (const Piece& p : waiting_[kSimulated]) {
    if (p.is_judged) continue;
    const bool is_past = distance24(p.request.packet.psn, captured_end) >= 0;
    counts.give(is_past ? Verdict::kNotComparable : Verdict::kUnseen, nullptr, &p.request,
                is_past ? "the capture ends" : "the capture goes on behind it");
  }
  reset();
}

}  // namespace sim
