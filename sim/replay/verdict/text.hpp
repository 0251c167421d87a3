// The verdicts told: lines for a person, JSON for a program.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/replay/verdict/counts.hpp"

namespace sim {

const char* name_of(Verdict verdict);

// "packet 27 at 1.000012345 s: captured RC_ACK PSN 9 0x1f MSN 5; simulated RC_ACK PSN 9 0x1f MSN 6 (other MSN)"
std::string to_string(const VerdictCase& verdict_case);

// "answers: 27 match, 2 equivalent, 0 different, 0 missing, 0 extra", then a line for each named departure that was
// seen and for each example of a failure.
std::vector<std::string> lines(const char* what, const VerdictCounts& counts);

// The same for every part in which something was judged.
std::vector<std::string> lines(const Verdicts& verdicts);

nlohmann::ordered_json to_json(const VerdictCounts& counts);
nlohmann::ordered_json to_json(const Verdicts& verdicts);

}  // namespace sim
