// The rows of the NIC's tables that replay sets, in the order in which the NIC must learn them.
#pragma once
#include <vector>

#include "models/verbs.hpp"
#include "sim/config/parameters.hpp"
#include "sim/replay/replay_nic.hpp"

namespace sim {

// A responder's new life; its connection's row stays.
std::vector<models::Control> responder_rows(const NicConfig& config, uint32_t qpn, const ResponderState& state);
// A requester's new life. Its time-outs never run out: a capture's answers come when they come.
std::vector<models::Control> requester_rows(const NicConfig& config, uint32_t qpn, const RequesterState& state);
// Lets a QP that only asks take answers.
models::Control receiving_row(const NicConfig& config, uint32_t qpn, const ResponderState& state);
models::Control region_row(const OpenRegion& region);
// `index` counts the QP's work requests modulo 2^16.
models::Control work_row(uint32_t qpn, const WorkRequest& work, uint64_t local_address, uint16_t index);
models::Control receive_row(uint32_t qpn, uint64_t address, uint32_t length_bytes, uint16_t index);

}  // namespace sim
