// Words of triage for people.
#pragma once
#include <string>
#include <vector>

#include "sim/triage/triage.hpp"

namespace sim {

// "10.0.0.2 0x11 > 10.0.0.1 0x12", and the life where the QPN has had several.
std::string who(const TriageRow& row);

std::string bytes_text(uint64_t bytes);       // "480 kB"
std::string time_text(uint64_t ns);           // "57.1 us"
std::string rate_text(const TriageRow& row);  // payload of both directions in Gb/s; "-" of a single packet

std::string table_text(const std::vector<const TriageRow*>& rows);

}  // namespace sim
