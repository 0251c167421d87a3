#include "traces/link_layer.hpp"

namespace traces {

std::string link_type_text(int link_type) {
  struct Name {
    int link_type;
    const char* name;
  };
  constexpr Name kNames[] = {
      {kLinkNull, "BSD loopback"},       {kLinkEthernet, "Ethernet"}, {kLinkRawOld, "raw IP"},
      {kLinkRawBsd, "raw IP"},           {kLinkRaw, "raw IP"},        {kLinkLoop, "OpenBSD loopback"},
      {kLinkCooked, "Linux cooked"},     {kLinkIpv4, "raw IPv4"},     {kLinkIpv6, "raw IPv6"},
      {kLinkCooked2, "Linux cooked v2"},
  };
  const std::string number = std::to_string(link_type);
  for (const Name& known : kNames) {
    if (known.link_type == link_type) return number + " (" + known.name + ")";
  }
  return number;
}

}  // namespace traces
