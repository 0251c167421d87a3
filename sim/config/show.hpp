// Prints parameters: their values as TOML that loads back, and their declarations as a table or as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/config/parameters.hpp"

namespace sim {

/// Every parameter with its present value, unit and sentence, in the order of declaration.
std::string to_toml(const Schema& schema);
std::string to_toml(Config config);

/// One line a parameter: key, default, allowed values, unit, sentence.
std::string schema_table(const Schema& schema);

/// An array of {key, type, default, min, max, choices, unit, sentence}; members that do not apply are absent.
nlohmann::ordered_json schema_json(const Schema& schema);

}  // namespace sim
