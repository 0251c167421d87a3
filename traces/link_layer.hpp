#pragma once

#include <string>

namespace traces {

/// Link types that decode() understands, as pcap and pcapng files number them (LINKTYPE_*).
enum LinkType : int {
  kLinkNull = 0,
  kLinkEthernet = 1,
  kLinkRawOld = 12,
  kLinkRawBsd = 14,
  kLinkRaw = 101,
  kLinkLoop = 108,
  kLinkCooked = 113,
  kLinkIpv4 = 228,
  kLinkIpv6 = 229,
  kLinkCooked2 = 276,
};

/// "1 (Ethernet)", "147".
std::string link_type_text(int link_type);

}  // namespace traces
