#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace traces {

/// An IPv4 address (version 4, first four bytes, the rest zero) or an IPv6 address (version 6, all bytes).
struct IpAddress {
  int version = 0;
  std::array<uint8_t, 16> bytes{};

  friend bool operator==(const IpAddress& a, const IpAddress& b) {
    return a.version == b.version && a.bytes == b.bytes;
  }
  friend bool operator!=(const IpAddress& a, const IpAddress& b) { return !(a == b); }
  friend bool operator<(const IpAddress& a, const IpAddress& b) {
    return std::tie(a.version, a.bytes) < std::tie(b.version, b.bytes);
  }
};

/// "10.77.0.1"; nothing when `text` is no dotted IPv4 address.
std::optional<IpAddress> parse_ipv4(const std::string& text);

/// "10.77.0.1" or "fd77::1"; nothing when `text` is neither.
std::optional<IpAddress> parse_ip(const std::string& text);

std::string to_string(const IpAddress& address);

}  // namespace traces
