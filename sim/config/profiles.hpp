#pragma once

#include <string>
#include <vector>

namespace sim {

/// A named set of all parameters but those of `sim` and `workload`, which are the run's own.
struct Profile {
  std::string name;
  std::string toml;
};

/// The profiles that are built in, from sim/config/profiles/*.toml.
const std::vector<Profile>& profiles();

/// Throws InputError that lists the names there are.
const Profile& find_profile(const std::string& name);

}  // namespace sim
