#include "sim/trace/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "traces/opcode.hpp"
#include "traces/roce.hpp"
#include "traces/roce_line.hpp"

namespace sim {

namespace {

constexpr size_t kWidth = 64;  // of an arrow

std::string text_of(const models::Frame& frame) {
  const traces::RocePacket p = traces::decode_frame(frame.bytes);
  if (!p.has_bth) return fmt::format("{} {} bytes", traces::name_of(p.kind), frame.bytes.size());
  std::string text = fmt::format("{} qp {} psn {}", traces::opcode_name(p.bth.opcode), p.bth.dest_qp, p.bth.psn);
  if (p.aeth) text += fmt::format(" {} msn {}", traces::syndrome_text(p.aeth->syndrome), p.aeth->msn);
  if (p.payload_length > 0) text += fmt::format(" len {}", p.payload_length);
  if (p.bth.ack_request) text += " ackreq";
  return text;
}

std::string arrow(const std::string& what, bool to_the_right, bool lost) {
  std::string line = "-- " + what + " ";
  line += std::string(kWidth > line.size() ? kWidth - line.size() : 1, '-');
  if (lost)
    return to_the_right ? line.substr(0, std::max<size_t>(line.size(), 6) - 6) + "X lost" : "lost X" + line.substr(6);
  return to_the_right ? line + ">" : "<" + line;
}

}  // namespace

Ladder::Key Ladder::key_of(hw::Picoseconds start, const models::Frame& frame) {
  return {start, std::string(frame.bytes.begin() + 6, frame.bytes.begin() + 12)};
}

void Ladder::sent(const std::string& node, const models::Frame& frame) {
  if (!window_.holds(frame.start)) return;
  full_ = full_ || rungs_.size() == kMostPackets;
  if (full_) return;
  under_way_[key_of(frame.start, frame)] = rungs_.size();
  rungs_.push_back({frame.start, node, text_of(frame), "", 0});
}

void Ladder::received(const std::string& node, const models::Frame& frame) {
  const auto found = under_way_.find(key_of(frame.start - frame.delay, frame));
  if (found == under_way_.end()) return;
  rungs_[found->second].to = node;
  rungs_[found->second].arrival = frame.start;
  under_way_.erase(found);
}

std::string Ladder::text() const {
  std::vector<const Rung*> order;
  std::string left = "~", right;
  for (const Rung& r : rungs_) {
    order.push_back(&r);
    left = std::min(left, r.from);
    right = std::max({right, r.from, r.to});
  }
  std::stable_sort(order.begin(), order.end(), [](const Rung* a, const Rung* b) {
    return std::tie(a->start, a->from) < std::tie(b->start, b->from);
  });
  std::string text;
  for (const Rung* r : order) {
    const bool lost = r->to.empty();
    const bool to_the_right = lost ? r->from != right : r->from < r->to;
    const std::string sent = microseconds(r->start), arrived = lost ? "" : microseconds(r->arrival);
    const std::string other = lost ? (to_the_right ? right : left) : r->to;
    if (to_the_right)
      text += fmt::format("{:>16} {} |{}| {} {:>16}\n", sent, r->from, arrow(r->what, true, lost), other, arrived);
    else
      text += fmt::format("{:>16} {} |{}| {} {:>16}\n", arrived, other, arrow(r->what, false, lost), r->from, sent);
  }
  if (full_)
    text += fmt::format("and more: {} packets are shown; --trace-from and --trace-to choose others\n", kMostPackets);
  return text;
}

}  // namespace sim
