// What two hosts did, as a capture shows it: messages, when each was seen and completed, and what was lost.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/ip_address.hpp"

namespace sim {

enum class MessageKind : uint8_t { kWrite, kSend, kRead };

struct ObservedMessage {
  MessageKind kind = MessageKind::kWrite;
  uint32_t psn = 0, psns = 1;  // first, and how many: of a READ one for each response
  uint32_t bytes = 0;
  std::optional<uint32_t> immediate;
  int64_t begun_ns = 0;                 // when its first packet was seen first
  int64_t sent_ns = 0;                  // when its last packet was seen last before that
  std::optional<int64_t> completed_ns;  // when the answer that completes it was seen
  bool follows_idle_line = false;       // its host's line was, since the message before it
};

enum class LostKind : uint8_t { kRequest, kResponse, kAck };

// A transmission that was lost on the wire. `ahead`: behind another loss, so that the receiver did not miss it.
struct ObservedLoss {
  LostKind kind = LostKind::kRequest;
  unsigned requester = 0;  // host whose request it is, or is answered
  uint32_t psn = 0;
  bool ahead = false;
  uint32_t copy = 1;  // of its transmissions of that kind
};

// A connection between host 0 and host 1.
struct ObservedConnection {
  std::array<uint32_t, 2> qpn{};                         // of each host
  std::array<std::optional<uint32_t>, 2> first_psn;      // of each host's requests
  uint32_t path_mtu = 1024;                              // bytes
  std::optional<uint32_t> timeout, retry_count;          // where CM says
  std::array<std::vector<ObservedMessage>, 2> messages;  // of each host, in the order of PSNs
  std::vector<ObservedLoss> losses;
};

struct Observed {
  std::array<traces::IpAddress, 2> hosts;
  int64_t first_ns = 0;  // begin of the first message
  std::vector<ObservedConnection> connections;
  std::vector<std::string> notes;  // what cannot be carried over, and what is assumed
};

struct ObserveRun {
  std::vector<std::string> files;
  std::optional<std::array<traces::IpAddress, 2>> hosts;  // nothing: the only pair there is
  uint32_t path_mtu = 0;                                  // bytes; 0: inferred
  std::optional<uint32_t> qpn;
  std::optional<double> from_s, to_s;
};

// Throws InputError and traces::InputError for captures that cannot be read, and for hosts that are not there or not
// chosen.
Observed observe(const ObserveRun& run);

}  // namespace sim
