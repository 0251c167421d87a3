#include "sim/replay/verdict/fresh_requests.hpp"

#include <algorithm>

#include "traces/opcode.hpp"
#include "traces/psn.hpp"

namespace sim {

using traces::distance24;

namespace {

constexpr size_t kMaxWaiting = 1024, kMaxHoles = 16;

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
  Piece piece = {request, psns, false};
  if (!meet(side, piece, counts)) return;
  std::vector<Piece>& waiting = waiting_[side];
  if (waiting.size() == kMaxWaiting) {
    const Sighting& oldest = waiting.front().request;
    if (side == kCaptured)
      counts.give(Verdict::kMissing, &oldest, nullptr, "the NIC falls far behind");
    else
      counts.give(Verdict::kNotComparable, nullptr, &oldest, "the endpoint falls far behind");
    waiting.erase(waiting.begin());
  }
  const auto behind = std::find_if(waiting.rbegin(), waiting.rend(), [&](const Piece& p) {
    return distance24(p.request.packet.psn, piece.request.packet.psn) < 0;
  });
  waiting.insert(behind.base(), piece);
}

// Compares with what waits of the other side. True when (the rest of) the piece has to wait itself.
bool FreshRequests::meet(Side side, Piece& piece, VerdictCounts& counts) {
  std::vector<Piece>& waiting = waiting_[other(side)];
  for (;;) {
    const uint32_t psn = piece.request.packet.psn;
    const auto at = std::find_if(waiting.begin(), waiting.end(), [psn](const Piece& p) {
      return distance24(psn, p.request.packet.psn) < int32_t(p.psns);
    });
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
      if (!goes_on || at->psns == 0) waiting.erase(at);
      if (!goes_on || piece.psns == 0) return false;
      continue;
    }
    if (apart == 0)
      compare(captured, simulated, counts);
    else
      counts.give(Verdict::kDifferent, &captured.request, &simulated.request, "other PSNs");
    waiting.erase(at);
    return false;
  }
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
  std::vector<Piece>& waiting = waiting_[kSimulated];
  waiting.erase(std::remove_if(waiting.begin(), waiting.end(),
                               [&](const Piece& p) {
                                 if (!is_in_hole(p.request.packet.psn)) return false;
                                 counts.give(Verdict::kUnseen, nullptr, &p.request, "a hole of the tap");
                                 return true;
                               }),
                waiting.end());
}

void FreshRequests::give_up(VerdictCounts& counts, const char* reason) {
  for (const Piece& p : waiting_[kCaptured]) counts.give(Verdict::kNotComparable, &p.request, nullptr, reason);
  for (const Piece& p : waiting_[kSimulated]) counts.give(Verdict::kNotComparable, nullptr, &p.request, reason);
  waiting_[kCaptured] = {};
  waiting_[kSimulated] = {};
  holes_ = {};
}

void FreshRequests::finish(uint32_t captured_end, VerdictCounts& counts) {
  for (const Piece& p : waiting_[kCaptured])
    counts.give(Verdict::kMissing, &p.request, nullptr, "the NIC sent no such request");
  waiting_[kCaptured] = {};
  for (const Piece& p : waiting_[kSimulated]) {
    const bool is_past = distance24(p.request.packet.psn, captured_end) >= 0;
    counts.give(is_past ? Verdict::kNotComparable : Verdict::kUnseen, nullptr, &p.request,
                is_past ? "the capture ends" : "the capture goes on behind it");
  }
  waiting_[kSimulated] = {};
}

}  // namespace sim
