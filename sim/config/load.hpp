// Reads values for the parameters of a schema from TOML files and from settings K=V.
#pragma once

#include <toml++/toml.h>

#include <set>
#include <string>

#include "sim/config/error.hpp"
#include "sim/config/schema.hpp"

namespace sim {

/// Parses TOML. Errors read `NAME:LINE:COLUMN: what is wrong`; throws InputError.
toml::table parse_toml(const std::string& text, const std::string& name);
toml::table parse_toml_file(const std::string& file);

/// Stores every value of `table` into its parameter. An unknown key, or a value that is not allowed, throws
/// InputError with its place. Entries of the root named in `other_sections` belong to somebody else.
void apply_table(const Schema& schema, const toml::table& table, const std::set<std::string>& other_sections = {});

/// Stores one "KEY=VALUE", as --set takes it. The value is TOML; text may come without its quotes.
void apply_setting(const Schema& schema, const std::string& setting);

}  // namespace sim
