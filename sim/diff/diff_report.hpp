// Prints what differs between two runs: a text for people, JSON for programs.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "sim/diff/run_diff.hpp"

namespace sim {

/// Of the account only averages; the rest is in diff_json().
std::string diff_text(const RunDiff& diff);

/// Every change as {path, a, b, percent}; null where a run does not have the value, and where there is no percentage.
nlohmann::ordered_json diff_json(const RunDiff& diff);

}  // namespace sim
