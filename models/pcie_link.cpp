#include "models/pcie_link.hpp"

#include <algorithm>

namespace models {

hw::Picoseconds Credits::spend(hw::Picoseconds from, uint64_t amount) {
  while (free_ < amount) {
    from = std::max(from, returns_.front().time);
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
    *grant = {tlp.ready, tlp.ready, tlp.ready};
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
  if (credits != 0) g.start = data_.spend(headers_.spend(g.start, 1), credits);
  g.end = free_ = g.start + link_time_.of(tlp.link_bytes);
  g.taken = std::max(g.end, taken_);
  if (credits != 0) {
    g.taken = taken_ = g.taken + host_time_.of(tlp.posted_bytes);
    headers_.give_back(taken_ + credit_latency_, 1);
    data_.give_back(taken_ + credit_latency_, credits);
  }
  return g;
}

}  // namespace models
