// Whose place the NIC takes: --as IP, a prefix of addresses, or a MAC.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "traces/address_pairs.hpp"
#include "traces/roce.hpp"

namespace sim {

class EndpointFilter {
 public:
  // "10.0.0.1", "fd77::1", "10.0.0.0/24", "02:00:00:00:00:01". Throws InputError for any other text.
  explicit EndpointFilter(const std::string& text);

  enum class Side : uint8_t { kUnknown, kTowards, kFrom, kBoth, kNeither };
  // Where a packet goes, for the endpoint. All packets of one pair of addresses take the answer for its first one.
  Side side_of(uint32_t addresses, const traces::RocePacket& packet);
  // The same of a packet without addresses that the tracker knows.
  Side side_of(const traces::RocePacket& packet) const;

 private:
  bool holds(const traces::IpAddress& address, const traces::MacAddress& mac) const;

  std::optional<traces::MacAddress> mac_;
  traces::IpAddress address_;
  unsigned prefix_bits_ = 0;
  std::vector<Side> known_;  // by pair of addresses
};

}  // namespace sim
