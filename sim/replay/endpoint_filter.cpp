#include "sim/replay/endpoint_filter.hpp"

#include <cstdio>

#include "sim/config/error.hpp"

namespace sim {
namespace {

std::optional<traces::MacAddress> parse_mac(const std::string& text) {
  unsigned b[6];
  int end = 0;
  if (std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end) != 6)
    return std::nullopt;
  if (size_t(end) != text.size()) return std::nullopt;
  traces::MacAddress mac{};
  for (size_t i = 0; i < mac.size(); i++) mac[i] = uint8_t(b[i]);
  return mac;
}

// Of "/24" and the like; nothing when the text is no number up to `most`.
std::optional<unsigned> parse_bits(const std::string& text, unsigned most) {
  if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const unsigned long bits = std::stoul(text);
  if (bits > most) return std::nullopt;
  return unsigned(bits);
}

}  // namespace

EndpointFilter::EndpointFilter(const std::string& text) {
  mac_ = parse_mac(text);
  if (mac_) return;
  const size_t slash = text.find('/');
  const auto address = traces::parse_ip(text.substr(0, slash));
  const unsigned most = address && address->version == 6 ? 128 : 32;
  const auto bits =
      slash == std::string::npos ? std::optional<unsigned>(most) : parse_bits(text.substr(slash + 1), most);
  if (!address || !bits)
    throw InputError("--as: \"" + text +
                     "\" is no endpoint; allowed is an IPv4 or IPv6 address, one with a prefix such as 10.0.0.0/24, or "
                     "a MAC such as 02:00:00:00:00:01");
  address_ = *address;
  prefix_bits_ = *bits;
}

EndpointFilter::Side EndpointFilter::side_of(uint32_t addresses, const traces::RocePacket& packet) {
  if (addresses >= known_.size()) known_.resize(addresses + 1, Side::kUnknown);
  Side& side = known_[addresses];
  if (side == Side::kUnknown) side = side_of(packet);
  return side;
}

EndpointFilter::Side EndpointFilter::side_of(const traces::RocePacket& packet) const {
  const bool towards = holds(packet.destination, packet.destination_mac);
  const bool from = holds(packet.source, packet.source_mac);
  if (towards) return from ? Side::kBoth : Side::kTowards;
  return from ? Side::kFrom : Side::kNeither;
}

bool EndpointFilter::holds(const traces::IpAddress& address, const traces::MacAddress& mac) const {
  if (mac_) return mac == *mac_;
  if (address.version != address_.version) return false;
  for (unsigned bit = 0; bit < prefix_bits_; bit += 8) {
    const unsigned left = prefix_bits_ - bit;
    const uint8_t mask = left >= 8 ? 0xff : uint8_t(0xff << (8 - left));
    if (((address.bytes[bit / 8] ^ address_.bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace sim
