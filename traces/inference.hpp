#pragma once

#include "traces/flows.hpp"

namespace traces {

/// Fills in what the packets towards us tell: first PSN, path MTU, counts. Needs flow.packets with at least one trusted
/// request.
void infer_from_requests(ReplayFlow& flow);

/// Fills in what needs both directions: memory regions and starting MSN. Needs flow.packets and flow.responses.
void infer_from_responses(ReplayFlow& flow);

/// PSNs that the request of `packet` uses up: the number of response packets for a READ, else 1.
uint32_t psn_count(const RocePacket& packet, uint32_t path_mtu);

}  // namespace traces
