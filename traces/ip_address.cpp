#include "traces/ip_address.hpp"

#include <arpa/inet.h>

namespace traces {

std::optional<IpAddress> parse_ipv4(const std::string& text) {
  IpAddress address;
  address.version = 4;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::optional<IpAddress> parse_ip(const std::string& text) {
  if (const std::optional<IpAddress> ipv4 = parse_ipv4(text)) return ipv4;
  IpAddress address;
  address.version = 6;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string to_string(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(address.version == 6 ? AF_INET6 : AF_INET, address.bytes.data(), text, sizeof text);
  return text;
}

}  // namespace traces
