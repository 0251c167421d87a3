// From what a user names on the command line to the configuration of a run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/config/parameters.hpp"

namespace sim {

struct ConfigSource {
  std::string profile;                   // empty: the file's `profile`, else kDefaultProfile
  std::string file;                      // TOML; empty: none
  std::vector<std::string> settings;     // KEY=VALUE
  std::set<std::string> other_sections;  // sections of the file that hold no parameters, such as a workload
  std::vector<std::string> defaults{};   // KEY=VALUE that the command has in place of the profile's
};

constexpr const char* kDefaultProfile = "roce";

/// The profile, then the command's defaults, then the file, then the settings: later ones win. Throws InputError, also
/// for a key that is set to two values.
Config resolve(const ConfigSource& source);

}  // namespace sim
