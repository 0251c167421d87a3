#include "models/pcie_link.hpp"

#include <algorithm>

namespace models {

hw::Picoseconds Credits::spend(hw::Picoseconds from, uint64_t amount) {
  while (free_ < amount) {
    from = std::max(from, returns_.front().time);
    taken_ = returns_.front().taken;
    free_ += returns_.front().amount;
    returns_.pop_front();
  }
  free_ -= amount;
  return from;
}

PcieWire::PcieWire(const PcieParams& p, const hw::Clock& clock)
    : clock_(clock),
      link_time_(p),
      host_time_(p.host_write_gbps),
      credit_latency_(p.credit_latency),
      unlimited_(p.unlimited),
      headers_(p.posted_headers),
      data_(p.posted_data) {
  check(p);
}

void PcieWire::send(const Tlp& tlp, Grant* grant) {
  if (tlp.ready < now()) hw::violation("TLP ready in the past", "PCIe");
  if (unlimited_)
    *grant = {tlp.ready, tlp.ready, tlp.ready, tlp.cause, tlp.cause};
  else
    waiting_.push({tlp, sent_++, grant});
}

void PcieWire::place_waiting() {
  for (const hw::Picoseconds until = now(); !waiting_.empty() && waiting_.top().tlp.ready < until; waiting_.pop())
    *waiting_.top().grant = place(waiting_.top().tlp);
}

Grant PcieWire::place(const Tlp& tlp) {
  const uint64_t credits = pieces(tlp.posted_bytes, kCreditBytes);
  Grant g;
  g.start = std::max(tlp.ready, free_);
  hw::EventId returned = 0;  // by the host, which has taken this
  if (credits != 0) {
    const hw::Picoseconds header = headers_.spend(g.start, 1);
    g.start = data_.spend(header, credits);
    returned = (g.start > header ? data_ : headers_).taken();
  }
  g.end = free_ = g.start + link_time_.of(tlp.link_bytes);
  g.taken = std::max(g.end, taken_);
  if (credits != 0) g.taken = taken_ = g.taken + host_time_.of(tlp.posted_bytes);
  if (hw::world().causes) explain(*hw::world().causes, tlp, returned, g);
  if (credits != 0) {
    headers_.give_back(taken_ + credit_latency_, 1, g.is_taken);
    data_.give_back(taken_ + credit_latency_, credits, g.is_taken);
  }
  return g;
}

// A TLP begins when it is ready, when the one before has left, or when the host gives the credits of an earlier one
// back. The host takes it when it is there, or after the posted one before.
void PcieWire::explain(hw::Causes& causes, const Tlp& tlp, hw::EventId returned, Grant& g) {
  const hw::Picoseconds free = std::max(tlp.ready, last_.end);
  if (g.start > free)
    g.begins = causes.later(tlp.tag, g.start, returned, {hw::Part::pcie, credit_latency_});
  else if (g.start > tlp.ready)
    g.begins = causes.later(tlp.tag, g.start, last_.begins, {hw::Part::pcie, g.start - last_.start});
  else
    g.begins = causes.later(tlp.tag, g.start, tlp.cause, {hw::Part::pcie, 0});
  const bool behind = last_posted_.taken > g.end;
  g.is_taken =
      behind ? causes.later(tlp.tag, g.taken, last_posted_.is_taken, {hw::Part::pcie, g.taken - last_posted_.taken})
             : causes.later(tlp.tag, g.taken, g.begins, {hw::Part::pcie, g.taken - g.start});
  last_ = g;
  if (tlp.posted_bytes != 0) last_posted_ = g;
}

}  // namespace models
